"""Users with losses f_i = E l(w; z), z drawn from p_i: gradients and Hessians at a point w, and estimates of them.

f is the average of the f_i. F_i(w) = f_i(w - alpha grad f_i(w)) has the gradient (I - alpha H_i) g_i for the symmetric
H_i = Hess f_i(w) and g_i = grad f_i(w - alpha grad f_i(w)). Estimates are those of the first user, whose index is left
out: with independent batches of D0, D1 and D2 points, ghat is the average of D1 gradients at w less alpha times the
average of D0 gradients there, Hhat that of D2 Hessians at w; e = ghat - g. Norms of matrices are spectral, |.| of a
vector is Euclidean. Nothing here needs a Hessian to be diagonal.

Not claimed: anything where f is a sum (`not total()`), a batch is used twice, or a bound holds on a part of space.
"""

from __future__ import annotations

from .theorem import theory

MEANINGS = {  # what proofs speak of although the claim does not; E is over the batches
    "mean2": "the average of |grad f_i|^2", "off_G": "|grad f_i - grad f| of user i", "off_H": "|H_i - H| of user i",
    "farthest": "the largest |H_i - H|", "one": "the largest |g_i(w) - g_i(u)|", "two": "the largest |H_i(w) - H_i(u)|",
    "r2": "the average of |g_i - g|^2, g = grad f(w - alpha grad f(w))", "E2": "the average of |H_i - H|^2",
    "off": "E|average of D0 gradients - grad f_1|", "mean_e": "|E e|", "e1": "E|e|", "e2": "E|e|^2",
    "second": "E|ghat|^2", "bent": "E|alpha (Hhat - H) ghat|^2", "tail": "|alpha H g|",
    "difference": "|c(g)/(2 delta) - H g|", "near": "E|ghat - g - alpha (chat(ghat) - c(g))/(2 delta)|^2",
    "points": "the larger E|batch gradient at w +- delta ghat - grad f(w +- delta g)|^2",
    "ahead": "|grad f_1(w + delta v) - grad f_1(w) - delta H v|",
    "behind": "|grad f_1(w - delta v) - grad f_1(w) + delta H v|",
}  # fmt: skip
_SAMPLES = "gradient_variance(sigma_G); smooth(L); 0 <= alpha"
META = theory(
    " ".join(MEANINGS),
    # --- similarity of users
    ("variance", "not total() |- spread_G <= mean2", "a variance is at most a mean square"),
    ("short", "bounded_gradients(B) |- mean2 <= B**2", "gradients of length at most B"),
    ("far_hessians", "smooth(L); not total() |- farthest <= 2*L", "H_i and their average have norm at most L"),
    ("largest", "not total() |- spread_H <= farthest**2", "an average is at most the largest"),
    ("average_G", "not total() |- spread_G == sum(k, 1, C, off_G(k)**2) / C", "what spread_G is"),
    ("average_H", "not total() |- spread_H == sum(k, 1, C, off_H(k)**2) / C", "what spread_H is"),
    (
        "variation_G",
        "point_gradients(B); not total() |- off_G(i) <= 2*B*tv(i)",
        "grad f_i - grad f = sum_z (p_i(z) - p(z)) grad l_z, and the sum of |p_i(z) - p(z)| is twice the distance",
    ),
    ("variation_H", "point_hessians(L); not total() |- off_H(i) <= 2*L*tv(i)", "the same of Hessians"),
    (
        "coupling_G",
        "metric(); lipschitz_in_z(L_Z); not total() |- off_G(i) <= L_Z * W1(i)",
        "grad f_i - grad f is the mean of grad l_x - grad l_y over any coupling of p_i and p, also over the cheapest",
    ),
    ("coupling_H", "metric(); hessian_lipschitz_in_z(rho_Z); not total() |- off_H(i) <= rho_Z * W1(i)", "the same"),
    # --- F_i is smooth
    (
        "product",
        "smooth(L); bounded_gradients(B); 0 <= alpha |- sqrt(moved2(i)) <= (1 + alpha*L)*one + alpha*B*two",
        "(I - alpha H(w)) g(w) - (I - alpha H(u)) g(u) = (I - alpha H(w)) (g(w) - g(u)) - alpha (H(w) - H(u)) g(u)",
    ),
    (
        "mean_product",
        "smooth(L); bounded_gradients(B); 0 <= alpha; not total() "
        "|- sqrt(mean_moved2) <= (1 + alpha*L)*one + alpha*B*two",
        "the norm of an average is at most the largest norm, each of which the product bounds",
    ),
    (
        "inner",
        "smooth(L); 0 <= alpha |- one <= L*(1 + alpha*L)*sqrt(apart2)",
        "w - alpha grad f_i(w) is (1 + alpha L)-Lipschitz in w, and grad f_i is L-Lipschitz",
    ),
    ("hessians", "lipschitz_hessian(rho) |- two <= rho*sqrt(apart2)", "the Hessian is rho-Lipschitz"),
    # --- F_i are similar
    (
        "similar_products",
        "smooth(L); bounded_gradients(B); 0 <= alpha; not total() "
        "|- spread_F <= 2*(1 + alpha*L)**2*r2 + 2*(alpha*B)**2*E2",
        "no point is closer to all grad F_i in the mean square than their average, also not (I - alpha H) g; and "
        "grad F_i less that is (I - alpha H) (g_i - g) - alpha (H_i - H) g_i, |H| <= L and |g_i| <= B",
    ),
    (
        "similar_inner",
        "smooth(L); similar_gradients(gamma_G); 0 <= alpha; not total() |- r2 <= 2*((alpha*L)**2 + 1)*gamma_G**2",
        "g_i - g = grad f_i at two points that are alpha (grad f_i - grad f)(w) apart, and grad f_i - grad f at one "
        "point",
    ),
    ("similar", "similar_hessians(gamma_H); not total() |- E2 <= gamma_H**2", "what the assumption says"),
    # --- estimates
    ("batch", "gradient_variance(sigma_G) |- off <= sigma_G/sqrt(D0)", "E|x| <= root of E|x|^2, which is variance/D0"),
    (
        "unbiased",
        "smooth(L); 0 <= alpha |- mean_e <= alpha*L*off",
        "the batch of ghat is fresh to its point, so that E e is that of a difference of grad f at two points",
    ),
    (
        "second_moment",
        f"{_SAMPLES} |- e2 <= sigma_G**2*(1/D1 + (alpha*L)**2/D0)",
        "e is the noise of a fresh batch, of mean zero given its point, and a difference of grad f at two points",
    ),
    (
        "first_moment",
        f"{_SAMPLES} |- e1 <= sigma_G/sqrt(D1) + alpha*L*sigma_G/sqrt(D0)",
        "the triangle inequality for both parts",
    ),
    (
        "independent",
        "smooth(L); 0 <= alpha |- sqrt(bias2) <= (1 + alpha*L)*mean_e",
        "Hhat is independent of ghat and has the mean H, so that E (I - alpha Hhat) ghat = (I - alpha H) E ghat",
    ),
    (
        "orthogonal",
        "smooth(L); 0 <= alpha |- mse <= (1 + alpha*L)**2*e2 + bent",
        "the estimate is off by (I - alpha H) e - alpha (Hhat - H) ghat; given ghat the second part has mean zero",
    ),
    (
        "hessian_noise",
        "hessian_variance(sigma_H) |- bent <= (alpha*sigma_H)**2/D2 * second",
        "given ghat, (Hhat - H) ghat is an average of D2 independent vectors of mean zero, each of mean square at most "
        "sigma_H^2 |ghat|^2",
    ),
    (
        "whole",
        "bounded_gradients(B); gradient_variance(sigma_G) |- second <= B**2 + sigma_G**2/D1",
        "given its point, ghat has the mean grad f there and the variance of an average",
    ),
    # --- without the Hessian
    ("tail", "smooth(L); bounded_gradients(B); 0 <= alpha |- tail <= alpha*L*B", "|H| <= L and |g| <= B"),
    ("first_bias", "|- sqrt(bias2_FO) <= mean_e + tail", "E ghat - (I - alpha H) g = E e + alpha H g"),
    ("first_square", "|- mse_FO <= 2*e2 + 2*tail**2", "|x + y|^2 <= 2 |x|^2 + 2 |y|^2"),
    # --- with differences c(v) = grad f(w + delta v) - grad f(w - delta v); chat is c on the third batch
    (
        "gradient_difference",
        "lipschitz_hessian(rho); bounded_gradients(B); 0 < delta |- difference <= rho*delta*B**2/2",
        "each half of c(g) is off by rho (delta |g|)^2/2 at most, and |g| <= B",
    ),
    (
        "free_bias",
        "smooth(L); 0 <= alpha; 0 < delta |- sqrt(bias2_HF) <= mean_e + alpha*(L*e1 + difference)",
        "given ghat the third batch has the mean c(ghat), |c(ghat) - c(g)| <= 2 delta L |e|, and c(g)/(2 delta) is off "
        "H g by the difference",
    ),
    (
        "free_split",
        "|- mse_HF <= 2*near + 2*(alpha*difference)**2",
        "near is E|ghat - g - alpha (chat(ghat) - c(g))/(2 delta)|^2, and what is left alpha (c(g)/(2 delta) - H g)",
    ),
    (
        "free_parts",
        "0 < delta |- near <= 3*e2 + 3*alpha**2/(4*delta**2)*2*points",
        "|x + y + z|^2 <= 3 (...) for e and both points of the difference; points is the larger E|batch gradient at "
        "w +- delta ghat - grad f(w +- delta g)|^2",
    ),
    (
        "free_points",
        "smooth(L); gradient_variance(sigma_G); 0 < delta |- points <= sigma_G**2/D2 + delta**2*L**2*e2",
        "the third batch is fresh given ghat, and f is L-smooth",
    ),
    (
        "triangle",
        "0 < delta |- sqrt(sum(k, 1, D, (central(k)/(2*delta) - hv(k))**2)) <= (ahead + behind)/(2*delta)",
        "the triangle inequality: c(v) - 2 delta H v is the sum of both halves",
    ),
    (
        "ahead",
        "lipschitz_hessian(rho); 0 < delta |- ahead <= rho*delta**2/2 * sum(k, 1, D, v(k)**2)",
        "a gradient is linear up to its Hessian's change: the integral of rho s |delta v|^2 over s from 0 to 1",
    ),
    ("behind", "lipschitz_hessian(rho); 0 < delta |- behind <= rho*delta**2/2 * sum(k, 1, D, v(k)**2)", "likewise"),
)
