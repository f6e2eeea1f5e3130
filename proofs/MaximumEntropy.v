(** Maximum entropy (book/chapters/maximum-entropy.md), and divergences within a
    family (book/chapters/divergences.md).

    Features j in Φ, with values φ j x; parameters λ j; means μ j. *)

From Proofs Require Export Gibbs.
Require Import FunctionalExtensionality.

Section Family.
Context {A F : Type} (X : list A) (Φ : list F) (φ : F -> A -> R).
Implicit Types (p : A -> R).

Definition dot (a b : F -> R) := ∑ j ∈ Φ, a j * b j.
Definition at_value (x : A) (j : F) := φ j x.
Definition mean p (j : F) := ∑ x ∈ X, p x * φ j x.
Definition has_means p μ := distribution X p /\ equal_on Φ (mean p) μ.

(** exp(-λ0 - λ.φ(x)) *)
Definition exponential λ0 λ x := exp (- λ0 - dot λ (at_value x)).

(** The sum of exp(-λ.φ), its logarithm, and the member p_λ of the family *)
Definition mass λ := ∑ x ∈ X, exp (- dot λ (at_value x)).
Definition ψ λ := ln (mass λ).
Definition member λ := exponential (ψ λ) λ.

Lemma dot_ext λ a b : equal_on Φ a b -> dot λ a = dot λ b.
Proof. intros E; apply sum_ext; intros j I; now rewrite (E j I). Qed.

Lemma dot_sub λ a b : dot λ (fun j => a j - b j) = dot λ a - dot λ b.
Proof. unfold dot; rewrite <- sum_sub; apply sum_ext; intros; ring. Qed.

Lemma dot_sub_l λ λ' a : dot (fun j => λ j - λ' j) a = dot λ a - dot λ' a.
Proof. unfold dot; rewrite <- sum_sub; apply sum_ext; intros; ring. Qed.

Lemma exponential_pos λ0 λ x : 0 < exponential λ0 λ x.
Proof. apply exp_pos. Qed.

Lemma exponential_measure λ0 λ : measure X (exponential λ0 λ).
Proof. intros x _; apply Rlt_le, exponential_pos. Qed.

Lemma exponential_dominates λ0 λ p : dominated X p (exponential λ0 λ).
Proof. intros x _ Z; pose proof (exponential_pos λ0 λ x); lra. Qed.

Lemma ln_exponential λ0 λ x :
  ln (exponential λ0 λ x) = - λ0 - dot λ (at_value x).
Proof. apply ln_exp. Qed.

Lemma mass_pos λ : X <> [] -> 0 < mass λ.
Proof. intros N; apply sum_pos; trivial; intros; apply exp_pos. Qed.

Lemma member_eq λ x : X <> [] ->
  member λ x = exp (- dot λ (at_value x)) * / mass λ.
Proof.
  intros N; unfold member, exponential, ψ, Rminus.
  rewrite exp_plus, exp_Ropp, exp_ln by (apply mass_pos, N); ring.
Qed.

Lemma member_distribution λ : X <> [] -> distribution X (member λ).
Proof.
  intros N; split; [apply exponential_measure|].
  rewrite (sum_ext X _ _ (fun x _ => member_eq λ x N)), sum_scale_r.
  pose proof (mass_pos λ N); unfold mass in *; field; lra.
Qed.

Lemma mean_dot p d : ∑ x ∈ X, p x * dot d (at_value x) = dot d (mean p).
Proof.
  unfold dot, mean, at_value.
  transitivity (∑ x ∈ X, ∑ j ∈ Φ, d j * (p x * φ j x)).
  - apply sum_ext; intros; rewrite <- sum_scale; apply sum_ext; intros; ring.
  - rewrite sum_swap; apply sum_ext; intros; apply sum_scale.
Qed.

(** The logarithm is linear in φ, so that only the means matter. *)
Lemma mean_log_exponential p λ0 λ :
  ∑ x ∈ X, p x = 1 ->
  ∑ x ∈ X, p x * ln (exponential λ0 λ x) = - λ0 - dot λ (mean p).
Proof.
  intros S.
  transitivity (∑ x ∈ X, (p x * - λ0 - p x * dot λ (at_value x))).
  - apply sum_ext; intros; rewrite ln_exponential; ring.
  - rewrite sum_sub, sum_scale_r, S, mean_dot; ring.
Qed.

Lemma KL_exponential p λ0 λ : distribution X p ->
  KL X p (exponential λ0 λ) = - H X p + λ0 + dot λ (mean p).
Proof.
  intros [P S]; rewrite KL_eq;
    auto using exponential_measure, exponential_dominates.
  transitivity (∑ x ∈ X, p x * ln (p x) -
    ∑ x ∈ X, p x * ln (exponential λ0 λ x)).
  - rewrite <- sum_sub; apply sum_ext; intros; ring.
  - rewrite mean_log_exponential, H_eq by trivial; ring.
Qed.

Lemma KL_exponentials λ0 λ λ0' λ' : distribution X (exponential λ0 λ) ->
  KL X (exponential λ0 λ) (exponential λ0' λ') =
  λ0' - λ0 + dot λ' (mean (exponential λ0 λ))
           - dot λ (mean (exponential λ0 λ)).
Proof.
  intros D; pose proof (KL_exponential _ λ0 λ D) as E.
  rewrite KL_equal in E; [|apply D|easy].
  rewrite KL_exponential by trivial; lra.
Qed.

(* book: thm-me-unique *)
Theorem largest_entropy λ0 λ μ : has_means (exponential λ0 λ) μ ->
  H X (exponential λ0 λ) = λ0 + dot λ μ /\
  forall p, has_means p μ ->
    H X p = H X (exponential λ0 λ) - KL X p (exponential λ0 λ) /\
    H X p <= H X (exponential λ0 λ) /\
    (H X p = H X (exponential λ0 λ) -> equal_on X p (exponential λ0 λ)).
Proof.
  intros [D M]; set (best := exponential λ0 λ) in *.
  assert (V : H X best = λ0 + dot λ μ).
  { pose proof (KL_exponential best λ0 λ D) as E.
    rewrite (dot_ext _ _ _ M), KL_equal in E; [lra|apply D|easy]. }
  split; [trivial|]; intros p [Dp Mp].
  pose proof (KL_exponential p λ0 λ Dp) as E.
  rewrite (dot_ext _ _ _ Mp) in E; fold best in E.
  destruct (gibbs X p best) as [L Q];
    auto using exponential_dominates; [apply exponential_dominates|].
  repeat split; [lra|lra|]; intros Same; apply Q; lra.
Qed.

(* book: thm-dv-remark *)
Theorem parameters_times_means λ1 λ2 : X <> [] ->
  KL X (member λ1) (member λ2) =
    ψ λ2 - ψ λ1 + dot (fun j => λ2 j - λ1 j) (mean (member λ1)) /\
  J X (member λ1) (member λ2) =
    dot (fun j => λ2 j - λ1 j)
        (fun j => mean (member λ1) j - mean (member λ2) j).
Proof.
  intros N; unfold member at 1 2 3 4 5 6 7.
  pose proof (member_distribution λ1 N); pose proof (member_distribution λ2 N).
  unfold J; rewrite !(KL_exponentials _ _ (ψ _)) by trivial.
  rewrite dot_sub, !dot_sub_l; split; ring.
Qed.

(** A sample: rows with values in X. Its log-likelihood is a sum over rows. *)
Definition sample_mean (rows : list A) j := (∑ x ∈ rows, φ j x) / size rows.
Definition likelihood (rows : list A) p := ∏ x ∈ rows, p x.

Lemma sum_log_exponential rows λ0 λ : rows <> [] ->
  ∑ x ∈ rows, ln (exponential λ0 λ x) =
  - size rows * (λ0 + dot λ (sample_mean rows)).
Proof.
  intros N; pose proof (size_pos rows N) as P.
  transitivity (∑ x ∈ rows, (- λ0 - ∑ j ∈ Φ, λ j * φ j x)).
  - apply sum_ext; intros; apply ln_exponential.
  - rewrite sum_sub, sum_const, sum_swap; unfold dot, sample_mean.
    rewrite (sum_ext Φ (fun j => ∑ x ∈ rows, λ j * φ j x)
      (fun j => size rows * (λ j * ((∑ x ∈ rows, φ j x) / size rows)))).
    + rewrite sum_scale; ring.
    + intros; rewrite sum_scale; field; lra.
Qed.

Lemma log_likelihood rows λ0 λ : rows <> [] ->
  ln (likelihood rows (exponential λ0 λ)) =
  - size rows * (λ0 + dot λ (sample_mean rows)).
Proof.
  intros N; unfold likelihood; rewrite ln_product.
  - apply sum_log_exponential, N.
  - intros; apply exponential_pos.
Qed.

Lemma likelihood_eq rows λ : rows <> [] ->
  likelihood rows (member λ) =
  exp (- size rows * (ψ λ + dot λ (sample_mean rows))).
Proof.
  intros N; unfold member; rewrite <- log_likelihood, exp_ln; trivial.
  apply product_pos; intros; apply exponential_pos.
Qed.

(** Minus the mean log-likelihood is the dual. *)
(* book: prop-me-likelihood *)
Theorem likelihood_is_dual rows λ : rows <> [] ->
  / size rows * ln (likelihood rows (member λ)) =
  - (ψ λ + dot λ (sample_mean rows)).
Proof.
  intros N; pose proof (size_pos rows N).
  unfold member; rewrite log_likelihood by trivial; field; lra.
Qed.

(* book: prop-me-likelihood *)
Theorem largest_likelihood rows λ : X <> [] -> rows <> [] ->
  has_means (member λ) (sample_mean rows) ->
  (forall p, has_means p (sample_mean rows) -> H X p <= H X (member λ)) /\
  likelihood rows (member λ) = exp (- size rows * H X (member λ)) /\
  forall λ', likelihood rows (member λ') <= likelihood rows (member λ) /\
    (likelihood rows (member λ') = likelihood rows (member λ) ->
     equal_on X (member λ') (member λ)).
Proof.
  intros NX N M; pose proof (size_pos rows N) as P.
  destruct (largest_entropy _ _ _ M) as [V B].
  fold (member λ) in V, B.
  pose proof (fun a => likelihood_eq rows a N) as L.
  split; [intros; now apply B|]; split; [now rewrite L, V|].
  intros λ'; destruct M as [D M].
  pose proof (KL_exponential (member λ) (ψ λ') λ' D) as E.
  fold (member λ') in E; rewrite (dot_ext _ _ _ M) in E.
  destruct (gibbs X (member λ) (member λ')) as [G Q];
    auto using member_distribution; [apply exponential_dominates|].
  rewrite !L, <- V; split.
  - destruct (Req_dec (ψ λ' + dot λ' (sample_mean rows)) (H X (member λ)))
      as [->|Ne]; [lra|].
    apply Rlt_le, exp_increasing; nra.
  - intros Same; apply exp_inv in Same.
    intros x I; symmetry; apply Q; trivial; nra.
Qed.

(** The other way round: beyond the best λ, in the direction d, the mean of d.φ
    is at most that of the sample; by continuity at the best λ, too. *)
Lemma beyond_the_best rows λ d t : X <> [] -> rows <> [] -> 0 < t ->
  (forall λ', likelihood rows (member λ') <= likelihood rows (member λ)) ->
  let λt := fun j => λ j + t * d j in
  dot d (mean (member λt)) <= dot d (sample_mean rows).
Proof.
  intros NX N T Best λt; specialize (Best λt).
  destruct (gibbs X (member λt) (member λ)) as [G _];
    auto using member_distribution; [apply exponential_dominates|].
  rewrite (proj1 (parameters_times_means λt λ NX)), dot_sub_l in G.
  rewrite !likelihood_eq in Best by trivial; pose proof (size_pos rows N).
  assert (Shift : forall a, dot λt a = dot λ a + t * dot d a).
  { intros a; unfold dot; rewrite <- sum_scale, <- sum_add.
    apply sum_ext; intros; unfold λt; ring. }
  rewrite Shift in *; apply Rnot_lt_le; intros L.
  assert (ψ λt + t * dot d (sample_mean rows) < ψ λ) by nra.
  apply Rle_not_lt in Best; apply Best, exp_increasing; nra.
Qed.

(* book: prop-me-likelihood *)
Theorem largest_likelihood_has_the_means rows λ : X <> [] -> rows <> [] ->
  (forall λ', likelihood rows (member λ') <= likelihood rows (member λ)) ->
  has_means (member λ) (sample_mean rows).
Proof.
  intros NX N Best; split; [apply member_distribution, NX|].
  set (d := fun j => mean (member λ) j - sample_mean rows j).
  set (λt := fun t j => λ j + t * d j); set (c := dot d (sample_mean rows)).
  set (h := fun t => ∑ x ∈ X,
    exp (- dot (λt t) (at_value x)) * (dot d (at_value x) - c)).
  assert (Eq : forall t, h t = mass (λt t) * (dot d (mean (member (λt t))) - c)).
  { intros t; pose proof (mass_pos (λt t) NX).
    rewrite <- mean_dot, <- (Rmult_1_l c).
    rewrite <- (proj2 (member_distribution (λt t) NX)), <- sum_scale_r.
    rewrite <- sum_sub, <- sum_scale; apply sum_ext; intros x _.
    rewrite member_eq by trivial; field; lra. }
  assert (At0 : λt 0 = λ)
    by (apply functional_extensionality; intros; unfold λt; ring).
  assert (C : continuity h).
  { apply sum_continuous; intros x _.
    replace (fun t => _) with (fun t => exp (- dot λ (at_value x) +
      t * - dot d (at_value x)) * (dot d (at_value x) - c)); [reg|].
    apply functional_extensionality; intros t; do 2 f_equal; unfold λt, dot.
    rewrite <- !sum_opp, <- sum_scale, <- sum_add; apply sum_ext; intros; ring. }
  assert (Z : ∑ j ∈ Φ, d j * d j <= 0).
  { apply Rnot_lt_le; intros P.
    assert (H0 : 0 < h 0).
    { rewrite Eq, At0; unfold c; rewrite <- dot_sub.
      apply Rmult_lt_0_compat; [apply mass_pos, NX|trivial]. }
    destruct (C 0 _ H0) as (a & A0 & Near).
    assert (L : dot d (mean (member (λt (a / 2)))) <= c)
      by (apply beyond_the_best; trivial; lra).
    assert (B : Rabs (h (a / 2) - h 0) < h 0).
    { apply (Near (a / 2)); simpl; unfold R_dist.
      rewrite Rminus_0_r, Rabs_pos_eq; repeat split; lra. }
    apply Rabs_def2 in B; rewrite Eq in B.
    pose proof (mass_pos (λt (a / 2)) NX); nra. }
  intros j I; assert (E : 0 = d j * d j).
  { revert j I; apply (sum_le_eq Φ (fun _ => 0) (fun j => d j * d j));
      [intros; nra|rewrite sum_zero].
    apply Rle_antisym; trivial; apply sum_nonneg; intros; nra. }
  unfold d in E; nra.
Qed.

End Family.
