(** Divergences (book/chapters/divergences.md): Gibbs' inequality.

    A measure gives every value a number that is at least zero; a distribution
    is a measure of sum one. Zero cells are allowed throughout: a term with
    p = 0 is 0. Where q = 0 and p > 0 the book's divergence is infinite; here
    [dominated] excludes that. *)

From Proofs Require Export Sums.

Definition measure {A} (X : list A) (p : A -> R) :=
  forall x, In x X -> 0 <= p x.

Definition distribution {A} (X : list A) (p : A -> R) :=
  measure X p /\ ∑ x ∈ X, p x = 1.

Definition dominated {A} (X : list A) (p q : A -> R) :=
  forall x, In x X -> q x = 0 -> p x = 0.

Definition equal_on {A} (X : list A) (p q : A -> R) :=
  forall x, In x X -> p x = q x.

(** p log (p / q), and 0 log (0 / q) = 0 *)
Definition kl_term (p q : R) := if Req_EM_T p 0 then 0 else p * ln (p / q).

(** p log p, and 0 log 0 = 0 *)
Definition plogp (p : R) := if Req_EM_T p 0 then 0 else p * ln p.

Definition KL {A} (X : list A) (p q : A -> R) := ∑ x ∈ X, kl_term (p x) (q x).
Definition J {A} (X : list A) (p q : A -> R) := KL X p q + KL X q p.
Definition H {A} (X : list A) (p : A -> R) := - (∑ x ∈ X, plogp (p x)).

Lemma ln_tangent u : 0 < u -> ln u <= u - 1.
Proof. intros P; pose proof (exp_ineq1_le (ln u)); rewrite exp_ln in *; lra. Qed.

Lemma ln_tangent_eq u : 0 < u -> ln u = u - 1 -> u = 1.
Proof.
  intros P E; destruct (Req_dec (ln u) 0) as [Z|N]; [lra|].
  pose proof (exp_ineq1 _ N); rewrite exp_ln in *; lra.
Qed.

Lemma ln_div a b : 0 < a -> 0 < b -> ln (a / b) = ln a - ln b.
Proof.
  intros; unfold Rdiv; rewrite ln_mult, ln_Rinv; auto using Rinv_0_lt_compat.
Qed.

Lemma plogp_eq p : plogp p = p * ln p.
Proof. unfold plogp; destruct (Req_EM_T p 0) as [->|]; ring. Qed.

Lemma kl_term_zero q : kl_term 0 q = 0.
Proof. unfold kl_term; destruct (Req_EM_T 0 0); easy. Qed.

Lemma kl_term_eq p q :
  0 <= p -> 0 <= q -> (q = 0 -> p = 0) -> kl_term p q = p * (ln p - ln q).
Proof.
  intros Pp Pq D; unfold kl_term; destruct (Req_EM_T p 0) as [->|N]; [ring|].
  rewrite ln_div; [ring|lra|].
  destruct Pq; [trivial|exfalso; auto].
Qed.

Lemma kl_term_self p : 0 <= p -> kl_term p p = 0.
Proof. intros; rewrite kl_term_eq; auto; ring. Qed.

Lemma kl_term_gibbs p q :
  0 <= p -> 0 <= q -> (q = 0 -> p = 0) -> p - q <= kl_term p q.
Proof.
  intros Pp Pq D; unfold kl_term; destruct (Req_EM_T p 0) as [->|N]; [lra|].
  assert (0 < p) by lra.
  assert (0 < q) by (destruct Pq; [trivial|exfalso; auto]).
  assert (L : ln (q / p) <= q / p - 1)
    by (apply ln_tangent, Rdiv_lt_0_compat; trivial).
  rewrite ln_div in * by trivial.
  apply (Rmult_le_compat_l p) in L; [|lra].
  replace (p * (q / p - 1)) with (q - p) in L by (field; lra).
  lra.
Qed.

Lemma kl_term_gibbs_eq p q :
  0 <= p -> 0 <= q -> (q = 0 -> p = 0) -> p - q = kl_term p q -> p = q.
Proof.
  intros Pp Pq D E; unfold kl_term in E.
  destruct (Req_EM_T p 0) as [->|N]; [lra|].
  assert (0 < p) by lra.
  assert (0 < q) by (destruct Pq; [trivial|exfalso; auto]).
  assert (q / p = 1); [|apply (Rmult_eq_reg_r (/ p));
    [unfold Rdiv in *; rewrite Rinv_r|apply Rinv_neq_0_compat]; lra].
  apply ln_tangent_eq; [apply Rdiv_lt_0_compat; trivial|].
  apply (Rmult_eq_reg_l p); [|lra].
  replace (p * (q / p - 1)) with (q - p) by (field; lra).
  rewrite ln_div in * by trivial; lra.
Qed.

Section Gibbs.
Context {A : Type} (X : list A).
Implicit Types p q : A -> R.

(** Also for measures of any sum: every inequality that follows rests on it. *)
Lemma gibbs_measures p q :
  measure X p -> measure X q -> dominated X p q ->
  ∑ x ∈ X, p x - ∑ x ∈ X, q x <= KL X p q /\
  (∑ x ∈ X, p x - ∑ x ∈ X, q x = KL X p q -> equal_on X p q).
Proof.
  intros Pp Pq D; rewrite <- sum_sub; unfold KL; split.
  - apply sum_le; intros; apply kl_term_gibbs; auto.
  - intros E x I; apply kl_term_gibbs_eq; auto.
    revert x I; apply sum_le_eq; trivial.
    intros; apply kl_term_gibbs; auto.
Qed.

Lemma KL_eq p q :
  measure X p -> measure X q -> dominated X p q ->
  KL X p q = ∑ x ∈ X, p x * (ln (p x) - ln (q x)).
Proof. intros; apply sum_ext; intros; apply kl_term_eq; auto. Qed.

Lemma H_eq p : H X p = - (∑ x ∈ X, p x * ln (p x)).
Proof. unfold H; f_equal; apply sum_ext; intros; apply plogp_eq. Qed.

Lemma KL_equal p q : measure X p -> equal_on X p q -> KL X p q = 0.
Proof.
  intros P E; unfold KL; rewrite <- (sum_zero X); apply sum_ext; intros x I.
  rewrite <- (E x I); apply kl_term_self; auto.
Qed.

(* book: lem-dv-gibbs *)
Theorem gibbs p q :
  distribution X p -> distribution X q -> dominated X p q ->
  0 <= KL X p q /\ (KL X p q = 0 <-> equal_on X p q).
Proof.
  intros [Pp Sp] [Pq Sq] D.
  destruct (gibbs_measures p q) as [L E]; trivial.
  rewrite Sp, Sq in *; repeat split; [lra| |].
  - intros Z; apply E; lra.
  - apply KL_equal; trivial.
Qed.

(* book: lem-dv-gibbs *)
Theorem jeffreys_forms p q :
  measure X p -> measure X q -> dominated X p q -> dominated X q p ->
  J X p q = ∑ x ∈ X, (p x - q x) * ln (p x / q x).
Proof.
  intros Pp Pq D D'; unfold J, KL; rewrite <- sum_add; apply sum_ext.
  intros x I; rewrite !kl_term_eq; auto.
  destruct (Pp x I) as [P|P], (Pq x I) as [Q|Q].
  - rewrite ln_div; trivial; ring.
  - assert (p x = 0) by auto; lra.
  - assert (q x = 0) by auto; lra.
  - rewrite <- P, <- Q; ring.
Qed.

(* book: lem-dv-gibbs *)
Theorem jeffreys_positive p q :
  distribution X p -> distribution X q ->
  dominated X p q -> dominated X q p ->
  0 <= J X p q /\ (J X p q = 0 <-> equal_on X p q).
Proof.
  intros P Q D D'; unfold J.
  destruct (gibbs p q) as [L E]; trivial.
  destruct (gibbs q p) as [L' E']; trivial.
  split; [lra|]; split; intros Z.
  - apply E; lra.
  - assert (KL X p q = 0) by (apply E, Z).
    assert (KL X q p = 0); [|lra].
    apply E'; intros x I; symmetry; auto.
Qed.

End Gibbs.
