(* What exported statements speak of, and what their proofs use. Read the definitions; all else is proved from them.

   1. Spaces       real inner product spaces of any dimension, and their algebra
   2. Functions    gradients, smooth, convex, strongly and weakly convex, proximal points
   3. Atoms        the inequalities that these definitions give
   4. Numbers      elementary facts, and the steps of proofs
   5. Upper ends   a checker of worst cases at one point, proved correct
   6. The line     parabolas, of which counterexamples are made *)
Require Import Reals QArith Qreals Qabs List Lra Lia ZArith.
Import ListNotations.
Open Scope R_scope.

(* --- 1. Spaces -------------------------------------------------------------------------------------------------- *)

Record space := {
  vector :> Type;
  zero : vector;
  plus : vector -> vector -> vector;
  scale : R -> vector -> vector;
  inner : vector -> vector -> R;
  plus_comm : forall x y, plus x y = plus y x;
  plus_assoc : forall x y z, plus x (plus y z) = plus (plus x y) z;
  plus_zero : forall x, plus x zero = x;
  plus_opposite : forall x, plus x (scale (-1) x) = zero;
  inner_sym : forall x y, inner x y = inner y x;
  inner_plus : forall x y z, inner (plus x y) z = inner x z + inner y z;
  inner_scale : forall a x y, inner (scale a x) y = a * inner x y;
  inner_positive : forall x, 0 <= inner x x;
  inner_definite : forall x, inner x x = 0 -> x = zero }.
Arguments zero {_}. Arguments plus {_}. Arguments scale {_}. Arguments inner {_}.
Declare Scope vector_scope.
Delimit Scope vector_scope with V.
Bind Scope vector_scope with vector.
Infix "+" := plus : vector_scope.
Infix "*" := scale : vector_scope.
Definition minus {S : space} (x y : S) : S := (x + (-1) * y)%V.
Infix "-" := minus : vector_scope.
Notation "⟨ x , y ⟩" := (inner x%V y%V) (at level 0, x at level 60, y at level 60, format "⟨ x ,  y ⟩") : R_scope.
Definition norm2 {S : space} (x : S) : R := ⟨x, x⟩.
Notation "‖ x ‖²" := (norm2 x%V) (at level 0, x at level 60, format "‖ x ‖²") : R_scope.

Section Algebra.
Context {S : space}.
Implicit Types x y z : S.

Lemma inner_plus_r x y z : ⟨z, x + y⟩ = ⟨z, x⟩ + ⟨z, y⟩.
Proof. rewrite inner_sym, inner_plus, (inner_sym S x), (inner_sym S y). reflexivity. Qed.
Lemma inner_scale_r a x y : ⟨y, a * x⟩ = a * ⟨y, x⟩.
Proof. rewrite inner_sym, inner_scale, (inner_sym S x). reflexivity. Qed.
Lemma inner_zero x : ⟨zero, x⟩ = 0.
Proof. rewrite <- (plus_opposite S x), inner_plus, inner_scale. ring. Qed.
Lemma inner_zero_r x : ⟨x, zero⟩ = 0.
Proof. rewrite inner_sym. apply inner_zero. Qed.
Lemma minus_same x y : (x - y)%V = zero -> x = y.
Proof.
  intro E. rewrite <- (plus_zero S x), <- (plus_opposite S y), (plus_comm S y), plus_assoc.
  fold (minus x y). rewrite E, plus_comm. apply plus_zero.
Qed.
Lemma same x y : ‖x - y‖² = 0 -> x = y.
Proof. intro E. apply minus_same, inner_definite, E. Qed.
End Algebra.

Ltac expand := unfold norm2, minus in *;
  repeat (rewrite ?inner_plus, ?inner_plus_r, ?inner_scale, ?inner_scale_r, ?inner_zero, ?inner_zero_r).
Ltac expand_in H := unfold norm2, minus in H;
  repeat (rewrite ?inner_plus, ?inner_plus_r, ?inner_scale, ?inner_scale_r, ?inner_zero, ?inner_zero_r in H).
(* One name for ⟨x, y⟩ and ⟨y, x⟩. *)
Ltac symmetric := repeat match goal with
  | |- context [inner ?x ?y] => match goal with |- context [inner y x] =>
      tryif constr_eq x y then fail else rewrite (inner_sym _ y x) end end.
Ltac vectors := apply same; expand; symmetric; try ring; try field.

(* --- 2. Functions ----------------------------------------------------------------------------------------------- *)

Section Functions.
Context {S : space}.
Implicit Types (f : S -> R) (g : S -> S) (x y : S).

(* g is the gradient of f: along every line, the derivative of f is ⟨g, direction⟩. *)
Definition gradient f g := forall x v, derivable_pt_lim (fun t => f (x + t * v)%V) 0 ⟨g x, v⟩.

(* f(t x + (1 - t) y) <= t f(x) + (1 - t) f(y) - mu/2 t (1 - t) ‖x - y‖². *)
Definition strongly_convex mu f := forall x y t, 0 <= t <= 1 ->
  f (t * x + (1 - t) * y)%V <= t * f x + (1 - t) * f y - mu / 2 * t * (1 - t) * ‖x - y‖².
Definition convex f := forall x y t, 0 <= t <= 1 -> f (t * x + (1 - t) * y)%V <= t * f x + (1 - t) * f y.
Definition weakly_convex nu f := strongly_convex (- nu) f.

(* The gradient is L-Lipschitz. *)
Definition smooth L f g := gradient f g /\ 0 <= L /\ forall x y, ‖g x - g y‖² <= L ^ 2 * ‖x - y‖².

(* s is a subgradient of f at x, where f may curve downwards by mu < 0. *)
Definition subgradient mu f x (s : S) := forall y, f y >= f x + ⟨s, y - x⟩ + mu / 2 * ‖y - x‖².

Definition minimiser f x := forall y, f x <= f y.

(* p minimises f + ‖. - x‖² / (2 step). *)
Definition proximal f (step : R) x (p : S) := forall y, f p + / (2 * step) * ‖p - x‖² <= f y + / (2 * step) * ‖y - x‖².

(* --- 3. Atoms --------------------------------------------------------------------------------------------------- *)

Definition above mu f g := forall x y, f y >= f x + ⟨g x, y - x⟩ + mu / 2 * ‖y - x‖².
Definition below L f g := forall x y, f y <= f x + ⟨g x, y - x⟩ + L / 2 * ‖y - x‖².

Lemma square_nonnegative x : 0 <= ‖x‖².
Proof. apply inner_positive. Qed.

Lemma convex_strongly f : convex f <-> strongly_convex 0 f.
Proof. split; intros H x y t I; specialize (H x y t I); lra. Qed.

Lemma gradient_at f g x v t : gradient f g -> derivable_pt_lim (fun s => f (x + s * v)%V) t ⟨g (x + t * v)%V, v⟩.
Proof.
  intros G e P. destruct (G (x + t * v)%V v e P) as [d D]. exists d. intros h N B. specialize (D h N B).
  replace (x + (t + h) * v)%V with ((x + t * v) + (0 + h) * v)%V by vectors.
  replace (x + t * v)%V with (x + t * v + 0 * v)%V at 2 by vectors. exact D.
Qed.

(* Peter and Paul: c^2 ‖v‖² + ‖u‖² is at least 2 c ⟨u, v⟩. *)
Lemma peter_paul (u v : S) c : 2 * c * ⟨u, v⟩ <= ‖u‖² + c ^ 2 * ‖v‖².
Proof. pose proof (square_nonnegative (u - c * v)) as P. expand_in P. expand. rewrite (inner_sym _ v u) in P. lra. Qed.

Lemma cauchy_schwarz (u v : S) : ⟨u, v⟩ ^ 2 <= ‖u‖² * ‖v‖².
Proof.
  destruct (Req_dec ‖v‖² 0) as [Z | N].
  - apply inner_definite in Z. subst. unfold norm2. rewrite !inner_zero_r. lra.
  - pose proof (square_nonnegative v) as P. pose proof (square_nonnegative (‖v‖² * u - ⟨u, v⟩ * v)) as Q.
    expand_in Q. rewrite (inner_sym _ v u) in Q. fold (norm2 v) (norm2 u) in Q.
    apply Rmult_le_reg_l with ‖v‖²; [lra |]. nra.
Qed.

Theorem smooth_below L f g : smooth L f g -> below L f g.
Proof.
  intros (G & P & H) x y. set (v := (y - x)%V).
  set (h := fun t => f (x + t * v)%V - (⟨g x, v⟩ * t + L / 2 * ‖v‖² * t ^ 2)).
  destruct (MVT_cor2 h (fun t => ⟨g (x + t * v)%V, v⟩ - (⟨g x, v⟩ + L * t * ‖v‖²)) 0 1) as [c [E [C1 C2]]]; [lra | |].
  - intros t _. unfold h. apply derivable_pt_lim_minus.
    + apply gradient_at, G.
    + replace (⟨g x, v⟩ + L * t * ‖v‖²) with (⟨g x, v⟩ * 1 + L / 2 * ‖v‖² * (INR 2 * t ^ pred 2)) by (simpl; field).
      apply derivable_pt_lim_plus.
      * apply (derivable_pt_lim_scal (fun t => t)), derivable_pt_lim_id.
      * apply (derivable_pt_lim_scal (fun t => t ^ 2)), derivable_pt_lim_pow.
  - assert (D : ⟨g (x + c * v)%V, v⟩ - ⟨g x, v⟩ <= L * c * ‖v‖²).
    { pose proof (H (x + c * v)%V x) as Q. set (a := (g (x + c * v)%V - g x)%V) in Q.
      replace (⟨g (x + c * v)%V, v⟩ - ⟨g x, v⟩) with ⟨a, v⟩ by (unfold a; expand; ring).
      replace (x + c * v - x)%V with (c * v)%V in Q by vectors.
      replace ‖c * v‖² with (c ^ 2 * ‖v‖²) in Q by (expand; ring).
      destruct (Req_dec L 0) as [Z | N].
      - subst L. assert (a = zero) as ->.
        { apply inner_definite. pose proof (square_nonnegative a). unfold norm2 in *. lra. }
        rewrite inner_zero. lra.
      - assert (K : 0 < L * c) by (apply Rmult_lt_0_compat; lra). pose proof (peter_paul a v (L * c)).
        apply Rmult_le_reg_l with (2 * (L * c)); [lra | nra]. }
    unfold h in E. replace (x + 1 * v)%V with y in E by (unfold v; vectors).
    replace (x + 0 * v)%V with x in E by vectors. fold v. nra.
Qed.

Theorem smooth_above L f g : smooth L f g -> above (- L) f g.
Proof.
  intros (G & P & H) x y.
  assert (O : smooth L (fun x => - f x) (fun x => (-1) * g x)%V).
  { split; [| split; [exact P |]].
    - intros z v. rewrite inner_scale. replace (-1 * ⟨g z, v⟩) with (- ⟨g z, v⟩) by ring.
      apply (derivable_pt_lim_opp (fun t => f (z + t * v)%V)), G.
    - intros u z. specialize (H u z). expand_in H. expand. rewrite (inner_sym _ (g z)) in *. lra. }
  pose proof (smooth_below _ _ _ O x y) as B. simpl in B. rewrite inner_scale in B. lra.
Qed.

Theorem strongly_convex_above mu f g : gradient f g -> strongly_convex mu f -> above mu f g.
Proof.
  intros G C x y. set (v := (y - x)%V).
  destruct (Rle_or_lt (f x + ⟨g x, v⟩ + mu / 2 * ‖v‖²) (f y)) as [ok | no]; [lra | exfalso].
  set (gap := f x + ⟨g x, v⟩ + mu / 2 * ‖v‖² - f y). assert (P : 0 < gap / 2) by (unfold gap; lra).
  destruct (G x v (gap / 2) P) as [[d D0] D]. simpl in D.
  set (K := Rabs (mu / 2 * ‖v‖²) + 1). assert (K0 : 0 < K) by (unfold K; pose proof (Rabs_pos (mu / 2 * ‖v‖²)); lra).
  set (t := Rmin (d / 2) (Rmin 1 (gap / (4 * K)))).
  assert (Q : 0 < gap / (4 * K)) by (apply Rdiv_lt_0_compat; unfold gap in *; lra).
  assert (T0 : 0 < t) by (unfold t; repeat apply Rmin_pos; lra).
  assert (T1 : t <= d / 2) by apply Rmin_l.
  assert (T2 : t <= 1) by (eapply Rle_trans; [apply Rmin_r | apply Rmin_l]).
  assert (T3 : t <= gap / (4 * K)) by (eapply Rle_trans; [apply Rmin_r | apply Rmin_r]).
  specialize (D t ltac:(lra)). rewrite (Rabs_pos_eq t) in D by lra. specialize (D ltac:(lra)).
  apply Rabs_def2 in D. destruct D as [_ D].
  replace (x + (0 + t) * v)%V with (t * y + (1 - t) * x)%V in D by (unfold v; vectors).
  replace (x + 0 * v)%V with x in D by vectors.
  pose proof (C y x t ltac:(lra)) as H. fold v in H.
  assert (E : (f (t * y + (1 - t) * x)%V - f x) / t <= f y - f x - mu / 2 * ‖v‖² + mu / 2 * ‖v‖² * t).
  { apply Rmult_le_reg_r with t; [lra |]. unfold Rdiv at 1. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (F : mu / 2 * ‖v‖² * t <= gap / 4).
  { apply Rle_trans with (K * t). { apply Rmult_le_compat_r; [lra |]. unfold K. pose proof (Rle_abs (mu / 2 * ‖v‖²)). lra. }
    apply Rmult_le_reg_l with (/ K); [apply Rinv_0_lt_compat; lra |].
    rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by lra. replace (/ K * (gap / 4)) with (gap / (4 * K)) by (field; lra). exact T3. }
  unfold gap in *. lra.
Qed.

Theorem convex_above f g : gradient f g -> convex f -> above 0 f g.
Proof. intros G C. apply strongly_convex_above; [exact G | apply convex_strongly, C]. Qed.

(* f is above what its values and gradients at y and x say, for all functions of curvature from mu to L. *)
Theorem interpolation mu L f g : mu < L -> above mu f g -> below L f g ->
  forall x y, f x >= f y + ⟨g y, x - y⟩ + mu / 2 * ‖x - y‖² + / (2 * (L - mu)) * ‖g x - g y - mu * (x - y)‖².
Proof.
  intros M A B x y. set (d := (g x - g y - mu * (x - y))%V). set (s := / (L - mu)).
  pose proof (A y (x - s * d)%V) as Q. pose proof (B x (x - s * d)%V) as P.
  assert (E : s * (L - mu) = 1) by (unfold s; apply Rinv_l; lra).
  replace (/ (2 * (L - mu))) with (s / 2) by (unfold s; field; lra).
  replace (x - s * d - x)%V with ((- s) * d)%V in P by vectors.
  replace (x - s * d - y)%V with ((x - y) - s * d)%V in Q by vectors.
  assert (D : ⟨g x, d⟩ = ‖d‖² + ⟨g y, d⟩ + mu * ⟨x - y, d⟩).
  { replace ‖d‖² with ⟨g x - g y - mu * (x - y), d⟩ by reflexivity. unfold d. expand. ring. }
  replace ⟨g x, - s * d⟩ with (- s * ⟨g x, d⟩) in P by (expand; ring). rewrite D in P.
  replace ‖- s * d‖² with (s ^ 2 * ‖d‖²) in P by (expand; ring).
  replace ⟨g y, x - y - s * d⟩ with (⟨g y, x - y⟩ - s * ⟨g y, d⟩) in Q by (expand; ring).
  replace ‖x - y - s * d‖² with (‖x - y‖² - 2 * s * ⟨x - y, d⟩ + s ^ 2 * ‖d‖²) in Q
    by (expand; symmetric; ring).
  assert (F : s ^ 2 * (L - mu) * ‖d‖² = s * ‖d‖²) by (rewrite <- (Rmult_1_r s) at 2; rewrite <- E; ring).
  lra.
Qed.

Theorem cocoercive L f g : 0 < L -> above 0 f g -> below L f g ->
  forall x y, ‖g x - g y‖² <= L * ⟨g x - g y, x - y⟩.
Proof.
  intros P A B x y. pose proof (interpolation 0 L f g P A B x y) as I. pose proof (interpolation 0 L f g P A B y x) as J.
  replace (L - 0) with L in * by ring.
  replace (g x - g y - 0 * (x - y))%V with (g x - g y)%V in I by vectors.
  replace ‖g y - g x - 0 * (y - x)‖² with ‖g x - g y‖² in J by (expand; symmetric; ring).
  replace ⟨g y, x - y⟩ with (- ⟨g y, y - x⟩) in I by (expand; ring).
  apply Rmult_le_reg_l with (/ L); [apply Rinv_0_lt_compat; lra |].
  rewrite <- Rmult_assoc, Rinv_l, Rmult_1_l by lra.
  replace (/ (2 * L)) with (/ L / 2) in * by (field; lra).
  replace ⟨g x - g y, x - y⟩ with (- ⟨g x, y - x⟩ + ⟨g y, y - x⟩) by (expand; ring). lra.
Qed.

(* At a minimiser the gradient is 0. *)
Theorem minimiser_gradient f g x : gradient f g -> minimiser f x -> g x = zero.
Proof.
  intros G M. apply inner_definite. pose proof (inner_positive S (g x)) as P.
  destruct (Req_dec ⟨g x, g x⟩ 0) as [E | N]; [exact E | exfalso].
  destruct (G x ((-1) * g x)%V (⟨g x, g x⟩ / 2) ltac:(lra)) as [[d D0] D]. simpl in D.
  specialize (D (d / 2) ltac:(lra)). rewrite (Rabs_pos_eq (d / 2)) in D by lra. specialize (D ltac:(lra)).
  replace (x + 0 * ((-1) * g x))%V with x in D by vectors. rewrite inner_scale_r in D.
  apply Rabs_def2 in D. destruct D as [D _]. pose proof (M (x + (0 + d / 2) * ((-1) * g x))%V) as Q.
  assert (0 <= (f (x + (0 + d / 2) * ((-1) * g x))%V - f x) / (d / 2)).
  { unfold Rdiv. apply Rmult_le_pos; [lra | left; apply Rinv_0_lt_compat; lra]. }
  lra.
Qed.

(* A lower bound of an L-smooth function: f(x) - f* is at least ‖g(x)‖² / (2 L). *)
Theorem least_value L f g low : 0 < L -> below L f g -> (forall y, low <= f y) -> forall x, ‖g x‖² <= 2 * L * (f x - low).
Proof.
  intros P B M x. pose proof (B x (x - / L * g x)%V) as Q. pose proof (M (x - / L * g x)%V) as N.
  replace (x - / L * g x - x)%V with ((- / L) * g x)%V in Q by vectors.
  replace ⟨g x, - / L * g x⟩ with (- / L * ‖g x‖²) in Q by (expand; ring).
  replace (L / 2 * ‖- / L * g x‖²) with (/ L / 2 * ‖g x‖²) in Q by (expand; field; lra).
  apply Rmult_le_reg_l with (/ L / 2); [apply Rdiv_lt_0_compat; [apply Rinv_0_lt_compat |]; lra |].
  replace (/ L / 2 * (2 * L * (f x - low))) with (f x - low) by (field; lra). lra.
Qed.

(* (x - p)/step is a subgradient of h at p = prox(x), for nu-weakly convex h with nu step < 1 (convex: nu = 0). *)
Theorem proximal_subgradient nu h step x p : 0 < step -> weakly_convex nu h -> proximal h step x p ->
  subgradient (- nu) h p (/ step * (x - p))%V.
Proof.
  intros P W M y.
  destruct (Rle_or_lt (h p + ⟨/ step * (x - p), y - p⟩ + - nu / 2 * ‖y - p‖²) (h y)) as [ok | no]; [lra | exfalso].
  set (gap := h p + ⟨/ step * (x - p), y - p⟩ + - nu / 2 * ‖y - p‖² - h y) in *.
  assert (G : 0 < gap) by (unfold gap; lra).
  set (N := ‖y - p‖²) in *. assert (N0 : 0 <= N) by apply square_nonnegative.
  set (K := (Rabs nu + / step) * N + 1).
  assert (S0 : 0 < / step) by (apply Rinv_0_lt_compat, P).
  assert (K0 : 0 < K). { unfold K. pose proof (Rabs_pos nu). assert (0 <= (Rabs nu + / step) * N) by (apply Rmult_le_pos; lra). lra. }
  set (t := Rmin 1 (gap / K)).
  assert (T0 : 0 < t) by (apply Rmin_pos; [lra | apply Rdiv_lt_0_compat; lra]).
  assert (T1 : t <= 1) by apply Rmin_l. assert (T2 : t <= gap / K) by apply Rmin_r.
  pose proof (W y p t ltac:(lra)) as C. pose proof (M (t * y + (1 - t) * p)%V) as Q. fold N in C.
  replace ‖t * y + (1 - t) * p - x‖² with (‖p - x‖² - 2 * t * ⟨x - p, y - p⟩ + t ^ 2 * N) in Q
    by (unfold N; expand; symmetric; ring).
  replace (/ (2 * step)) with (/ step / 2) in Q by (field; lra).
  assert (I : ⟨/ step * (x - p), y - p⟩ = / step * ⟨x - p, y - p⟩) by apply inner_scale.
  assert (H : t * gap <= t * (t * ((/ step - nu) / 2 * N))).
  { unfold gap. rewrite I. lra. }
  apply Rmult_le_reg_l in H; [| exact T0].
  assert (B : t * ((/ step - nu) / 2 * N) <= t * K / 2).
  { unfold K. pose proof (Rle_abs (- nu)). rewrite Rabs_Ropp in *.
    assert ((/ step - nu) * N <= (Rabs nu + / step) * N) by (apply Rmult_le_compat_r; lra). nra. }
  assert (t * K <= gap). { apply Rmult_le_reg_r with (/ K); [apply Rinv_0_lt_compat, K0 |]. rewrite Rmult_assoc, Rinv_r, Rmult_1_r by lra. exact T2. }
  lra.
Qed.

End Functions.

(* --- 4. Numbers: the elementary facts that proofs cite ------------------------------------------------------------ *)

Definition root (q : nat) (x : R) : R := if Rle_dec x 0 then 0 else exp (ln x / INR q).

Lemma root_power (q : nat) x : (1 <= q)%nat -> 0 <= x -> root q x ^ q = x.
Proof.
  intros Q P. unfold root. destruct (Rle_dec x 0) as [N | N].
  - replace x with 0 by lra. apply pow_i. lia.
  - rewrite <- Rpower_pow by apply exp_pos. unfold Rpower. rewrite ln_exp.
    replace (INR q * (ln x / INR q)) with (ln x) by (field; apply not_0_INR; lia). apply exp_ln. lra.
Qed.
Lemma root_nonnegative (q : nat) x : 0 <= root q x.
Proof. unfold root. destruct (Rle_dec x 0); [lra | left; apply exp_pos]. Qed.
Lemma root_positive (q : nat) x : 0 < x -> 0 < root q x.
Proof. intro P. unfold root. destruct (Rle_dec x 0); [lra | apply exp_pos]. Qed.
Lemma young x y : x * y <= x ^ 2 * / 2 + y ^ 2 * / 2.
Proof. pose proof (pow2_ge_0 (x - y)). lra. Qed.
Lemma peter_paul_numbers x y z : 0 < z -> x * y <= x ^ 2 * / (2 * z) + z * y ^ 2 * / 2.
Proof.
  intro P. apply Rmult_le_reg_l with (2 * z); [lra |].
  replace (2 * z * (x ^ 2 * / (2 * z) + z * y ^ 2 * / 2)) with (x ^ 2 + (z * y) ^ 2) by (field; lra).
  pose proof (pow2_ge_0 (x - z * y)). lra.
Qed.
Lemma power_monotone x y n : 0 <= x -> x <= y -> x ^ n <= y ^ n.
Proof. intros P L. apply pow_incr. lra. Qed.
Lemma power_positive x n : 0 < x -> 0 < x ^ n.
Proof. apply pow_lt. Qed.
Lemma power_product x y n : (x * y) ^ n = x ^ n * y ^ n.
Proof. apply Rpow_mult_distr. Qed.
Lemma power_le_base x n : 0 <= x -> x <= 1 -> 1 <= INR n -> x ^ n <= x.
Proof.
  intros P L N. destruct n as [| n]; [simpl in N; lra |]. simpl.
  assert (B : x ^ n <= 1) by (rewrite <- (pow1 n); apply pow_incr; lra).
  pose proof (Rmult_le_compat_l x _ _ P B). lra.
Qed.
Lemma count_positive n : (1 <= n)%nat -> 0 < INR n.
Proof. intro P. apply lt_0_INR. lia. Qed.
Lemma count_at_least_one n : (1 <= n)%nat -> 1 <= INR n.
Proof. intro P. apply (le_INR 1 n P). Qed.

Lemma positive_by t s : t = s -> 0 < s -> 0 < t.
Proof. intros ->. trivial. Qed.
Lemma nonnegative_by t s : t = s -> 0 <= s -> 0 <= t.
Proof. intros ->. trivial. Qed.
Lemma zero_by t d s : t = d * s -> d = 0 -> t = 0.
Proof. intros -> ->. apply Rmult_0_l. Qed.
Lemma contradiction_by t : 0 < t -> t = 0 -> False.
Proof. lra. Qed.
Lemma by_atoms l r s : 0 <= s -> r - l = s -> l <= r.
Proof. lra. Qed.
Lemma minimiser_at {S : space} (f : S -> R) x y : minimiser f x -> f x <= f y.
Proof. intro M. apply M. Qed.
Lemma subgradient_atom {S : space} nu (f : S -> R) step x p y : 0 < step -> weakly_convex nu f -> proximal f step x p ->
  0 <= f y - f p - / step * ⟨x - p, y - p⟩ + nu / 2 * ‖y - p‖².
Proof.
  intros P W M. pose proof (proximal_subgradient nu f step x p P W M y) as H. rewrite inner_scale in H. lra.
Qed.

(* 0 < x, or 0 <= x, by the form of x. *)
Ltac strictly := try assumption; lazymatch goal with
  | |- 0 < ?a * ?b => apply Rmult_lt_0_compat; strictly
  | |- 0 < / ?a => apply Rinv_0_lt_compat; strictly
  | |- 0 < ?a ^ _ => apply pow_lt; strictly
  | |- 0 < root _ ?a => apply root_positive; strictly
  | |- 0 < exp _ => apply exp_pos
  | _ => first [assumption | lra | (apply Rplus_lt_le_0_compat; [strictly | weakly]) | (apply Rplus_le_lt_0_compat; [weakly | strictly]) |
      match goal with H : forall n : nat, 0 < _ n |- _ => apply H end]
  end
with weakly := try assumption; lazymatch goal with
  | |- 0 <= ?a * ?a => apply Rle_0_sqr
  | |- 0 <= ?a * ?b => apply Rmult_le_pos; weakly
  | |- 0 <= ?a + ?b => first [apply Rplus_le_le_0_compat; weakly | lra]
  | |- 0 <= / ?a => left; strictly
  | |- 0 <= root _ _ => apply root_nonnegative
  | |- 0 <= _ ^ 2 => apply pow2_ge_0
  | |- 0 <= ?a ^ _ => apply pow_le; weakly
  | _ => first [assumption | lra | (left; strictly)]
  end.
Ltac nonzero := repeat split; first [lra | (apply not_eq_sym, Rlt_not_eq; strictly)].
Ltac fractions := first [ring | (field; nonzero)].
(* The goal is a relation of the context, written in another way. *)
Ltac same_relation := match goal with
  | H : ?a <= ?b |- ?c <= ?d => apply (by_atoms c d (b - a)); [lra | fractions]
  | H : ?a >= ?b |- ?c <= ?d => apply (by_atoms c d (a - b)); [lra | fractions]
  | H : ?a < ?b |- ?c < ?d => apply Rminus_gt_0_lt; replace (d - c) with (b - a) by fractions; lra
  | H : ?a > ?b |- ?c < ?d => apply Rminus_gt_0_lt; replace (d - c) with (a - b) by fractions; lra
  | H : ?a = ?b |- ?c = ?d => apply Rminus_diag_uniq; replace (c - d) with (a - b) by fractions; lra
  | H : ?a = ?b |- ?c = ?d => apply Rminus_diag_uniq; replace (c - d) with (b - a) by fractions; lra
  end.
Ltac extreme := first [apply Rmin_l | apply Rmin_r | apply Rmax_l | apply Rmax_r |
  (eapply Rle_trans; [apply Rmin_l |]; extreme)].
(* An instance of a fact; what it requires is in the context, perhaps written in another way. *)
Ltac required := first [assumption | strictly | weakly | lra | same_relation].
Ltac apply_fact fact := apply fact; required.
Ltac weakly_rested := first [assumption | weakly].

(* --- 5. Upper ends ---------------------------------------------------------------------------------------------- *)

(* Vectors are rows over numbered leaves, numbers are forms: rational combinations of 1, of values and of products of
   leaves. Leaves and values are any at all; what is assumed of them stands in the statements. *)
Inductive atom := One | Val (n : positive) | Gram (i j : positive).
Definition form := list (atom * Q).
Definition row := list (positive * Q).
Record entry := { point : row; slope : row; value : positive }.  (* of one function: where, its gradient, its value *)

(* The sum of two numbers over their least common denominator: reducing long numbers would take most of the time. *)
Definition sum (x y : Q) : Q :=
  if Pos.eqb (Qden x) (Qden y) then Qmake (Qnum x + Qnum y) (Qden x)
  else let (a, b) := snd (Pos.ggcd (Qden x) (Qden y)) in Qmake (Qnum x * Zpos b + Qnum y * Zpos a) (Qden x * b).

(* Sums of forms, by the digits of their atoms. *)
Inductive trie := Tip | Node (l : trie) (q : Q) (r : trie).
Fixpoint enter (p : positive) (q : Q) (t : trie) : trie :=
  match p, t with
  | xH, Tip => Node Tip q Tip
  | xH, Node l x r => Node l (sum x q) r
  | xO p, Tip => Node (enter p q Tip) 0 Tip
  | xO p, Node l x r => Node (enter p q l) x r
  | xI p, Tip => Node Tip 0 (enter p q Tip)
  | xI p, Node l x r => Node l x (enter p q r)
  end.
Fixpoint empty (t : trie) : bool :=
  match t with Tip => true | Node l q r => Qeq_bool q 0 && empty l && empty r end.
Fixpoint join (i j : positive) : positive :=
  match i with xH => xI j | xO i => xO (xO (join i j)) | xI i => xO (xI (join i j)) end.
Definition key (a : atom) : positive :=
  match a with One => xH | Val n => xO n | Gram i j => xI (if Pos.leb i j then join i j else join j i) end.
Definition collect : form -> trie -> trie := fold_left (fun t p => enter (key (fst p)) (snd p) t).

Definition times (m : Q) (f : form) : form := map (fun p => (fst p, m * snd p)%Q) f.
Definition one_by (i : positive) (q : Q) (l : row) : form := map (fun p => (Gram i (fst p), q * snd p)%Q) l.
Fixpoint product (l m : row) : form := match l with nil => nil | (i, q) :: k => one_by i q m ++ product k m end.
Fixpoint put (i : positive) (q : Q) (l : row) : row :=
  match l with nil => [(i, q)] | (j, r) :: k => if Pos.eqb i j then (j, Qred (r + q)) :: k else (j, r) :: put i q k end.
Definition combined (m : Q) (l k : row) : row := fold_left (fun a p => put (fst p) (Qred (m * snd p)) a) l k.  (* m l + k *)

(* f(a) - f(b) - <g_b, a - b> - mu/2 |a - b|^2 - |g_a - g_b - mu (a - b)|^2 / (2 (L - mu)), the last where L is given. *)
Definition room (mu : Q) (L : option Q) (a b : entry) : form :=
  let dx := combined (-1 # 1) (point b) (point a) in
  [(Val (value a), 1 # 1); (Val (value b), -1 # 1)] ++ times (-1 # 1) (product (slope b) dx) ++ times (- mu / 2) (product dx dx) ++
  match L with
  | None => nil
  | Some L => let d := combined (- mu) dx (combined (-1 # 1) (slope b) (slope a)) in times (- / (2 * (L - mu))) (product d d)
  end.

Record function := { curve : Q; steep : option Q; entries : list entry }.  (* mu, L (None: not smooth), what is read *)

(* A certificate: a number by which both sides are multiplied, a number to spare, multipliers of rooms (function, a, b)
   and of forms that are given, weighted squares. *)
Record certificate := { scale_by : Q; spare : Q; rooms : list (Q * (nat * nat * nat)); others : list (Q * nat); squares : list (Q * row) }.

Definition no_entry := {| point := nil; slope := nil; value := 1 |}.
Definition no_function := {| curve := 0; steep := None; entries := nil |}.
Definition room_at (fs : list function) (k : nat * nat * nat) : form :=
  let f := nth (fst (fst k)) fs no_function in
  room (curve f) (steep f) (nth (snd (fst k)) (entries f) no_entry) (nth (snd k) (entries f) no_entry).
Definition inside (fs : list function) (k : nat * nat * nat) : bool :=
  let f := nth (fst (fst k)) fs no_function in
  Nat.ltb (fst (fst k)) (length fs) && Nat.ltb (snd (fst k)) (length (entries f)) && Nat.ltb (snd k) (length (entries f)).
Definition not_below {A : Type} (l : list (Q * A)) : bool := forallb (fun p => Qle_bool 0 (fst p)) l.

Definition check (fs : list function) (given : list form) (factor : Q) (lhs rhs : form) (c : certificate) : bool :=
  not_below (rooms c) && not_below (others c) && not_below (squares c) && forallb (fun p => inside fs (snd p)) (rooms c) &&
  Qle_bool 0 (spare c) && negb (Qle_bool (scale_by c) 0) &&
  empty (collect ((One, spare c) :: times (scale_by c) (times (- factor) rhs ++ lhs) ++
    flat_map (fun p => times (fst p) (room_at fs (snd p))) (rooms c) ++
    flat_map (fun p => times (fst p) (nth (snd p) given nil)) (others c) ++
    flat_map (fun p => times (fst p) (product (snd p) (snd p))) (squares c)) Tip).

Arguments Qred : simpl never. Arguments Qplus : simpl never. Arguments Qmult : simpl never. Arguments Q2R : simpl never.
Arguments Qdiv : simpl never. Arguments Qinv : simpl never. Arguments Qopp : simpl never. Arguments Qminus : simpl never.
Arguments combined : simpl never. Arguments times : simpl never. Arguments product : simpl nomatch.
Arguments room : simpl never. Arguments sum : simpl never.

Section Forms.
Context {S : space} (leaf : positive -> S) (val : positive -> R).

Definition atom_value (a : atom) : R := match a with One => 1 | Val n => val n | Gram i j => ⟨leaf i, leaf j⟩ end.
Fixpoint eval (f : form) : R := match f with nil => 0 | (a, q) :: g => Q2R q * atom_value a + eval g end.
Fixpoint vec (l : row) : S := match l with nil => zero | (i, q) :: k => (Q2R q * leaf i + vec k)%V end.

(* The entries of a function are what f and g are there. *)
Definition reads (f : S -> R) (g : S -> S) (l : list entry) : Prop :=
  Forall (fun e => g (vec (point e)) = vec (slope e) /\ f (vec (point e)) = val (value e)) l.
(* The same of a function without gradients: slopes are subgradients. *)
Definition reads_subgradients (mu : R) (f : S -> R) (l : list entry) : Prop :=
  Forall (fun e => subgradient mu f (vec (point e)) (vec (slope e)) /\ f (vec (point e)) = val (value e)) l.

Fixpoint look (p : positive) (k : positive -> positive) : R :=
  match p with
  | xI j => ⟨leaf (k xH), leaf j⟩
  | xO (xO p) => look p (fun i => k (xO i))
  | xO (xI p) => look p (fun i => k (xI i))
  | _ => 0
  end.
Definition key_value (p : positive) : R :=
  match p with xH => 1 | xO n => val n | xI p => look p (fun i => i) end.
Fixpoint trie_value (t : trie) (k : positive -> R) : R :=
  match t with Tip => 0 | Node l q r => Q2R q * k xH + trie_value l (fun p => k (xO p)) + trie_value r (fun p => k (xI p)) end.

Lemma sum_value x y : Q2R (sum x y) = Q2R x + Q2R y.
Proof.
  rewrite <- Q2R_plus. apply Qeq_eqR. unfold sum. destruct (Pos.eqb_spec (Qden x) (Qden y)) as [E | _].
  - destruct x as [p d], y as [q e]; simpl in *; subst.
    unfold Qeq, Qplus; cbn [Qnum Qden]. rewrite !Pos2Z.inj_mul. ring.
  - pose proof (Pos.ggcd_correct_divisors (Qden x) (Qden y)) as K.
    destruct (Pos.ggcd (Qden x) (Qden y)) as [g [a b]]. simpl in K. destruct K as [Ka Kb].
    destruct x as [p d], y as [q e]; simpl in *. subst.
    unfold Qeq, Qplus; cbn [Qnum Qden]. rewrite !Pos2Z.inj_mul. ring.
Qed.
Lemma reduced q : Q2R (Qred q) = Q2R q.
Proof. apply Qeq_eqR, Qred_correct. Qed.
Lemma zero_value : Q2R 0 = 0.
Proof. unfold Q2R; simpl; lra. Qed.
Lemma look_join i j : forall k, look (join i j) k = ⟨leaf (k i), leaf j⟩.
Proof. induction i; intros k; simpl; try reflexivity; rewrite IHi; reflexivity. Qed.
Lemma key_atom a : key_value (key a) = atom_value a.
Proof.
  destruct a as [| n | i j]; simpl; try reflexivity.
  destruct (Pos.leb i j); rewrite look_join; [reflexivity | apply inner_sym].
Qed.
Lemma enter_value p q : forall t k, trie_value (enter p q t) k = Q2R q * k p + trie_value t k.
Proof.
  induction p as [p IH | p IH |]; intros t k; destruct t as [| l x r]; cbn [enter trie_value];
    rewrite ?IH, ?sum_value, ?zero_value; simpl; ring.
Qed.
Lemma collect_value f : forall t, trie_value (collect f t) key_value = eval f + trie_value t key_value.
Proof.
  unfold collect. induction f as [| [a q] f IH]; intros t; simpl; [ring |].
  rewrite IH, enter_value, key_atom. simpl. ring.
Qed.
Lemma empty_value t : forall k, empty t = true -> trie_value t k = 0.
Proof.
  induction t as [| l IHl q r IHr]; intros k E; simpl in *; [reflexivity |].
  apply andb_prop in E. destruct E as [E R]. apply andb_prop in E. destruct E as [E L].
  apply Qeq_bool_eq, Qeq_eqR in E. rewrite E, zero_value, IHl, IHr by assumption. ring.
Qed.
Lemma app_value f g : eval (f ++ g) = eval f + eval g.
Proof. induction f as [| [a q] f IH]; simpl; [ring |]. rewrite IH. ring. Qed.
Lemma times_value m f : eval (times m f) = Q2R m * eval f.
Proof. unfold times. induction f as [| [a q] f IH]; simpl; [ring |]. rewrite IH, Q2R_mult. ring. Qed.
Lemma one_by_value l i q : eval (one_by i q l) = Q2R q * ⟨leaf i, vec l⟩.
Proof.
  induction l as [| [j r] k IH]; simpl; [rewrite inner_zero_r; ring |].
  rewrite IH, Q2R_mult, inner_plus_r, inner_scale_r. ring.
Qed.
Lemma product_value l m : eval (product l m) = ⟨vec l, vec m⟩.
Proof.
  induction l as [| [i q] k IH]; simpl; [rewrite inner_zero; ring |].
  rewrite app_value, one_by_value, IH, inner_plus, inner_scale. ring.
Qed.
Lemma put_vec i q l : vec (put i q l) = (Q2R q * leaf i + vec l)%V.
Proof.
  induction l as [| [j r] k IH]; simpl; [reflexivity |].
  destruct (Pos.eqb_spec i j) as [-> | N]; simpl; [rewrite reduced, Q2R_plus | rewrite IH]; vectors.
Qed.
Lemma combined_vec m l : forall k, vec (combined m l k) = (Q2R m * vec l + vec k)%V.
Proof.
  unfold combined. induction l as [| [i q] l IH]; intros k; simpl; [vectors |].
  rewrite IH, put_vec, reduced, Q2R_mult. vectors.
Qed.

Lemma whole_value n : Q2R (inject_Z n) = IZR n.
Proof. unfold Q2R; simpl. lra. Qed.

Lemma room_value mu L a b : (match L with Some L => Q2R mu < Q2R L | None => True end) ->
  eval (room mu L a b) = val (value a) - val (value b) - ⟨vec (slope b), vec (point a) - vec (point b)⟩
    - Q2R mu / 2 * ‖vec (point a) - vec (point b)‖²
    - match L with None => 0 | Some L => / (2 * (Q2R L - Q2R mu)) *
        ‖vec (slope a) - vec (slope b) - Q2R mu * (vec (point a) - vec (point b))‖² end.
Proof.
  intro H. unfold room. simpl. rewrite !app_value, !times_value, !product_value.
  assert (D : vec (combined (-1 # 1) (point b) (point a)) = (vec (point a) - vec (point b))%V).
  { rewrite combined_vec. replace (Q2R (-1 # 1)) with (-1) by (unfold Q2R; simpl; lra). vectors. }
  rewrite !D. replace (Q2R (1 # 1)) with 1 by (unfold Q2R; simpl; lra). replace (Q2R (-1 # 1)) with (-1) by (unfold Q2R; simpl; lra).
  replace (Q2R (- mu / 2)) with (- (Q2R mu / 2))
    by (unfold Qdiv; rewrite Q2R_mult, Q2R_opp; replace (Q2R (/ 2)) with (/ 2) by (unfold Q2R; simpl; lra); field).
  fold (norm2 (vec (point a) - vec (point b))).
  destruct L as [L |]; simpl; [| ring].
  rewrite times_value, product_value, !(combined_vec (- mu)), D, combined_vec.
  assert (N : ~ (2 * (L - mu) == 0)%Q).
  { intro Z. apply Qeq_eqR in Z. rewrite Q2R_mult, Q2R_minus, zero_value in Z.
    replace (Q2R 2) with 2 in Z by (unfold Q2R; simpl; lra). lra. }
  rewrite !Q2R_opp, Q2R_inv, Q2R_mult, Q2R_minus by exact N. replace (Q2R 2) with 2 by (unfold Q2R; simpl; lra).
  replace (Q2R (-1 # 1)) with (-1) by (unfold Q2R; simpl; lra).
  replace (- Q2R mu * (vec (point a) - vec (point b)) + (-1 * vec (slope b) + vec (slope a)))%V
    with (vec (slope a) - vec (slope b) - Q2R mu * (vec (point a) - vec (point b)))%V by vectors.
  unfold norm2. ring.
Qed.

(* What a function's entries have to satisfy, two by two. *)
Definition interpolated (f : function) : Prop :=
  forall a b, In a (entries f) -> In b (entries f) -> 0 <= eval (room (curve f) (steep f) a b).

Theorem interpolated_smooth mu L l f g : Q2R mu < Q2R L -> above (Q2R mu) f g -> below (Q2R L) f g -> reads f g l ->
  interpolated {| curve := mu; steep := Some L; entries := l |}.
Proof.
  intros H A B E a b Ia Ib. unfold reads in E. rewrite Forall_forall in E. cbn [curve steep entries] in *.
  destruct (E a Ia) as [Ga Fa]. destruct (E b Ib) as [Gb Fb]. rewrite room_value by exact H.
  rewrite <- Fa, <- Fb, <- Ga, <- Gb. pose proof (interpolation _ _ f g H A B (vec (point a)) (vec (point b))). lra.
Qed.
Theorem interpolated_convex mu l f : reads_subgradients (Q2R mu) f l ->
  interpolated {| curve := mu; steep := None; entries := l |}.
Proof.
  intros E a b Ia Ib. unfold reads_subgradients in E. rewrite Forall_forall in E. cbn [curve steep entries] in *.
  destruct (E a Ia) as [_ Fa]. destruct (E b Ib) as [Gb Fb]. rewrite room_value by exact I.
  rewrite <- Fa, <- Fb. pose proof (Gb (vec (point a))). lra.
Qed.

Lemma weighted {A : Type} (h : A -> form) l : not_below l = true -> (forall x, In x l -> 0 <= eval (h (snd x))) ->
  0 <= eval (flat_map (fun p : Q * A => times (fst p) (h (snd p))) l).
Proof.
  unfold not_below. induction l as [| [m x] l IH]; simpl; intros E H; [lra |].
  apply andb_prop in E. destruct E as [E F]. apply Qle_bool_iff, Qle_Rle in E. rewrite zero_value in E. simpl in E.
  rewrite app_value, times_value. simpl. pose proof (H (m, x) (or_introl eq_refl)) as P. simpl in P.
  pose proof (Rmult_le_pos _ _ E P). specialize (IH F (fun y I => H y (or_intror I))). lra.
Qed.

Theorem upper_end fs given factor lhs rhs c :
  check fs given factor lhs rhs c = true -> Forall interpolated fs -> Forall (fun f => 0 <= eval f) given ->
  eval lhs <= Q2R factor * eval rhs.
Proof.
  unfold check. intros E F G.
  repeat match goal with H : (_ && _)%bool = true |- _ => apply andb_prop in H; destruct H end.
  match goal with H : empty _ = true |- _ => apply (empty_value _ key_value) in H; rewrite collect_value in H; cbn [eval] in H; rewrite !app_value, !times_value, app_value, times_value, Q2R_opp in H end.
  match goal with H : Qle_bool 0 (spare c) = true |- _ => apply Qle_bool_iff, Qle_Rle in H; rewrite zero_value in H end.
  match goal with H : not_below (rooms c) = true, K : forallb _ (rooms c) = true |- _ => pose proof (weighted (room_at fs) _ H) as P1; rename K into I end.
  match goal with H : not_below (others c) = true |- _ => pose proof (weighted (fun n => nth n given nil) _ H) as P2 end.
  match goal with H : not_below (squares c) = true |- _ => pose proof (weighted (fun r => product r r) _ H) as P3 end.
  assert (Q1 : forall x, In x (rooms c) -> 0 <= eval (room_at fs (snd x))).
  { intros x X. rewrite forallb_forall in I. specialize (I x X). unfold inside in I.
    apply andb_prop in I. destruct I as [I Ib]. apply andb_prop in I. destruct I as [If Ia].
    apply Nat.ltb_lt in If, Ia, Ib. rewrite Forall_forall in F. apply F; apply nth_In; assumption. }
  assert (Q2 : forall x, In x (others c) -> 0 <= eval (nth (snd x) given nil)).
  { intros x _. destruct (nth_in_or_default (snd x) given nil) as [K | ->]; [| simpl; lra].
    rewrite Forall_forall in G. apply G, K. }
  assert (Q3 : forall x : Q * row, In x (squares c) -> 0 <= eval (product (snd x) (snd x))).
  { intros x _. rewrite product_value. apply inner_positive. }
  specialize (P1 Q1). specialize (P2 Q2). specialize (P3 Q3). simpl in *.
  match goal with H : negb _ = true |- _ => apply Bool.negb_true_iff in H; rename H into N end.
  assert (P : 0 < Q2R (scale_by c)).
  { apply Rnot_le_lt. intro K. rewrite <- zero_value in K. apply Rle_Qle, Qle_bool_iff in K. congruence. }
  apply Rmult_le_reg_l with (Q2R (scale_by c)); [exact P | lra].
Qed.
End Forms.

Lemma weakly_convex_above {S : space} a b (f : S -> R) g : b = - a -> gradient f g -> weakly_convex a f -> above b f g.
Proof. intros -> G C. apply strongly_convex_above; assumption. Qed.
Lemma smooth_above_at {S : space} L b (f : S -> R) g : b = - L -> smooth L f g -> above b f g.
Proof. intros ->. apply smooth_above. Qed.
Lemma convex_above_at {S : space} b (f : S -> R) g : b = 0 -> gradient f g -> convex f -> above b f g.
Proof. intros ->. apply convex_above. Qed.

Ltac numbers := unfold Q2R; simpl; lra.
(* A function of the class, as the hypotheses say, is interpolated by what is read of it. *)
Ltac in_class :=
  match goal with |- interpolated ?leaf ?val {| curve := ?mu; steep := Some ?L; entries := ?l |} =>
    match goal with R : reads leaf val ?f ?g l |- _ =>
      try (match goal with K : smooth _ f g |- _ => pose proof (proj1 K); pose proof (smooth_below _ _ _ K) end);
      apply (interpolated_smooth leaf val mu L l f g); [numbers | | assumption | assumption];
      first
        [ apply strongly_convex_above; assumption
        | apply convex_above_at; [numbers | assumption | assumption]
        | match goal with K : weakly_convex ?a f |- _ => apply (weakly_convex_above a); [numbers | assumption | assumption] end
        | match goal with K : smooth ?M f g |- _ => apply (smooth_above_at M); [numbers | assumption] end ]
    end
  end.

(* --- 6. The line ------------------------------------------------------------------------------------------------ *)

(* The real numbers as a space of one dimension, and parabolas on it: counterexamples are made of them. *)
Definition line : space.
Proof. refine {| vector := R; zero := 0; plus := Rplus; scale := Rmult; inner := Rmult |}; intros; try ring; nra. Defined.
Definition parabola (a b : R) : line -> R := fun x : R => a / 2 * x * x - b * x.
Definition slope_of (a b : R) : line -> line := fun x : R => a * x - b.

Lemma parabola_gradient a b : gradient (parabola a b) (slope_of a b).
Proof.
  intros x v. simpl in *. unfold parabola, slope_of. intros e P.
  set (c := a / 2 * v * v). assert (Q : 0 < Rabs c + 1) by (pose proof (Rabs_pos c); lra).
  assert (D : 0 < e / (Rabs c + 1)) by (apply Rdiv_lt_0_compat; assumption).
  exists (mkposreal _ D). intros h N B. simpl in B.
  replace ((a / 2 * (x + (0 + h) * v) * (x + (0 + h) * v) - b * (x + (0 + h) * v) -
    (a / 2 * (x + 0 * v) * (x + 0 * v) - b * (x + 0 * v))) / h - (a * x - b) * v) with (c * h) by (unfold c; field; exact N).
  rewrite Rabs_mult. apply Rle_lt_trans with (Rabs c * (e / (Rabs c + 1))).
  - apply Rmult_le_compat_l; [apply Rabs_pos | lra].
  - apply Rmult_lt_reg_r with (Rabs c + 1); [exact Q |].
    replace (Rabs c * (e / (Rabs c + 1)) * (Rabs c + 1)) with (Rabs c * e) by (field; lra). lra.
Qed.
Lemma parabola_strongly_convex mu a b : mu <= a -> strongly_convex mu (parabola a b).
Proof.
  intros L x y t I. unfold parabola, norm2, minus. simpl in *.
  assert (P : 0 <= (a - mu) / 2 * (t * (1 - t)) * ((x + -1 * y) * (x + -1 * y))).
  { apply Rmult_le_pos; [apply Rmult_le_pos; [lra | apply Rmult_le_pos; lra] | apply Rle_0_sqr]. }
  lra.
Qed.
Lemma parabola_convex a b : 0 <= a -> convex (parabola a b).
Proof. intro P. apply convex_strongly, parabola_strongly_convex, P. Qed.
Lemma parabola_smooth L a b : - L <= a <= L -> smooth L (parabola a b) (slope_of a b).
Proof.
  intros P. split; [apply parabola_gradient | split; [lra |]]. intros x y. unfold slope_of, norm2, minus. simpl in *.
  assert (Q : 0 <= (L - a) * (L + a) * ((x + -1 * y) * (x + -1 * y))).
  { apply Rmult_le_pos; [apply Rmult_le_pos; lra | apply Rle_0_sqr]. }
  lra.
Qed.
Lemma parabola_minimiser a b (x : line) : 0 <= a -> a * x = b -> minimiser (parabola a b) x.
Proof.
  intros P E y. unfold parabola. simpl in *. subst.
  assert (Q : 0 <= a / 2 * ((y - x) * (y - x))) by (apply Rmult_le_pos; [lra | apply Rle_0_sqr]). lra.
Qed.
(* What a counterexample on the line has to meet. *)
Ltac on_the_line := first [lra | apply parabola_gradient | (apply parabola_strongly_convex; lra) |
  (apply parabola_convex; lra) | (apply parabola_smooth; lra) | (apply parabola_minimiser; lra)].
Ltac fails_on_the_line H :=
  repeat lazymatch type of H with
    | ?P -> _ => let K := fresh in assert (K : P) by on_the_line; specialize (H K); clear K end;
  repeat match goal with K : _ /\ _ |- _ => destruct K end;
  unfold norm2, minus, parabola, slope_of in *; simpl in *; lra.
