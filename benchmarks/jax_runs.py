"""Contestant (b): the same runs in JAX, jit-compiled float64, each in two forms, of which the faster counts."""

from functools import partial

import jax
import jax.numpy as jnp

FORMS = ("einsum", "vmap")


@partial(jax.jit, static_argnames=("form", "E", "T"))
def run(form, A, b, p, w0, alpha, gamma, A_mean, w_star, E, T):
    """Gap after each round, (T, B)."""

    def gap(w):
        x = w - w_star
        return 0.5 * jnp.einsum("bi,bij,bj->b", x, A_mean, x)

    def client(A, b, start):
        def step(w, _):
            return w - gamma * (A @ w - b + alpha * (w - start)), None

        return jax.lax.scan(step, start, None, length=E)[0]

    def together(server):
        start = jnp.broadcast_to(server[:, None, :], b.shape)

        def step(w, _):
            return w - gamma * (jnp.einsum("bcij,bcj->bci", A, w) - b + alpha * (w - start)), None

        return jax.lax.scan(step, start, None, length=E)[0]

    every_client = jax.vmap(jax.vmap(client, (0, 0, None)), (0, 0, 0))

    def round_(server, _):
        w = together(server) if form == "einsum" else every_client(A, b, server)
        server = jnp.einsum("c,bcd->bd", p, w)
        return server, gap(server)

    return jax.lax.scan(round_, w0, None, length=T)[1]


@partial(jax.jit, static_argnames=("form", "E", "T"))
def bent(form, parts, p, w0, alpha, gamma, w_star, E, T):
    """Gap after each round, (T, B), of losses with piecewise-linear gradients; parts a, m, lo, hi, c (B, C, d) each."""

    def slope(a, m, lo, hi, c, w):
        return m * (w - c) + (a - m) * jnp.clip(w - c, -lo, hi)

    def value(a, m, lo, hi, c, w):
        x = w - c
        u = jnp.clip(x, -lo, hi)
        return jnp.sum(0.5 * m * x * x + (a - m) * u * (x - 0.5 * u), axis=-1)

    def local(parts, start):
        def step(w, _):
            return w - gamma * (slope(*parts, w) + alpha * (w - start)), None

        return jax.lax.scan(step, start, None, length=E)[0]

    every_client = jax.vmap(jax.vmap(local, (0, None)), (0, 0))
    least = value(*parts, w_star[:, None, :]) @ p

    def round_(server, _):
        # `scan` wants a carry of one shape throughout: adding zeros gives the start its clients.
        w = every_client(parts, server) if form == "vmap" else local(parts, server[:, None, :] + 0 * parts[0])
        server = jnp.einsum("c,bcd->bd", p, w)
        return server, value(*parts, server[:, None, :]) @ p - least

    return jax.lax.scan(round_, w0, None, length=T)[1]


@partial(jax.jit, static_argnames=("form", "seeds", "E", "T"))
def mean_gap(form, seeds, A, b, p, w0, alpha, gamma, A_mean, w_star, E, T):
    """Mean gap over seeds after each round, (T,); A (C, d, d), noise of one fair sign for each client."""
    C, d = b.shape
    key = jax.random.key(0, impl="rbg")  # the faster generator here

    def draw(key, *shape):
        return jax.random.rademacher(key, (*shape, C, 1), dtype=jnp.float64)

    def one(key):
        def round_(server, key):
            def step(w, xi):
                return w - gamma * (jnp.einsum("cij,cj->ci", A, w) - b + xi + alpha * (w - server)), None

            w = jax.lax.scan(step, jnp.broadcast_to(server, (C, d)), draw(key, E))[0]
            server = p @ w
            x = server - w_star
            return server, 0.5 * x @ A_mean @ x

        return jax.lax.scan(round_, w0, jax.random.split(key, T))[1]

    def round_(server, key):
        start = jnp.broadcast_to(server[:, None, :], (seeds, C, d))

        def step(w, key):
            g = jnp.einsum("cij,scj->sci", A, w) - b + draw(key, seeds)
            return w - gamma * (g + alpha * (w - start)), None

        w = jax.lax.scan(step, start, jax.random.split(key, E))[0]
        server = jnp.einsum("c,scd->sd", p, w)
        x = server - w_star
        return server, jnp.mean(0.5 * jnp.einsum("si,ij,sj->s", x, A_mean, x))

    if form == "vmap":
        return jnp.mean(jax.vmap(one)(jax.random.split(key, seeds)), axis=0)
    return jax.lax.scan(round_, jnp.broadcast_to(w0, (seeds, d)), jax.random.split(key, T))[1]


@partial(jax.jit, static_argnames=("E", "T"))
def sparse(ba, eta, eta_g, theta, E, T):
    """Composite federated learning on logistic losses ba (C, m, d): the squared proximal gradient step, (T + 1,)."""
    C, m, d = ba.shape
    local = eta / (eta_g * E)

    def shrunk(x, s):
        return jnp.sign(x) * jnp.maximum(jnp.abs(x) - s * theta, 0.0)

    def grad(z):
        margin = jnp.einsum("cmd,cd->cm", ba, z)
        return -jnp.einsum("cm,cmd->cd", jax.nn.sigmoid(-margin), ba) / m

    def step2(P):
        slope = jnp.mean(grad(jnp.broadcast_to(P, (C, d))), axis=0)
        return jnp.sum((shrunk(P - eta * slope, eta) - P) ** 2)

    def round_(carry, _):
        x, c = carry
        P = shrunk(x, eta)
        start = jnp.broadcast_to(P, (C, d))

        def step(state, k):
            zhat, z, total = state
            g = grad(z)
            zhat = zhat - local * (g + c)
            return (zhat, shrunk(zhat, (k + 1) * local), total + g), None

        (zhat, _, total), _ = jax.lax.scan(step, (start, start, jnp.zeros((C, d))), jnp.arange(E))
        onward = P + eta_g * (jnp.mean(zhat, axis=0) - P)
        return (onward, (P - onward) / eta - total / E), step2(P)

    (x, _), found = jax.lax.scan(round_, (jnp.zeros(d), jnp.zeros((C, d))), None, length=T)
    return jnp.append(found, step2(shrunk(x, eta)))
