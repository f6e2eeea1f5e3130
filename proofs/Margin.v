(** Margins add up to J (book/chapters/margin-and-j.md).

    Rows (x, y) with labels y = true (+) and false (-). The priors π may be
    any positive numbers: they cancel. *)

From Proofs Require Export MaximumEntropy.

Section Margin.
Context {A F : Type} (X : list A) (Φ : list F) (φ : F -> A -> R).
Variables (rows : list (A * bool)) (π λ0 : bool -> R) (λ : bool -> F -> R).

Definition of_class y := map fst (filter (fun r => Bool.eqb (snd r) y) rows).
Definition fitted y := exponential Φ φ (λ0 y) (λ y).

Definition margin (r : A * bool) :=
  (if snd r then 1 else -1) *
  ln (π true * fitted true (fst r) / (π false * fitted false (fst r))).

Hypothesis positive : forall y, 0 < π y.
Hypothesis present : forall y, of_class y <> [].
Hypothesis moments : forall y,
  has_means X Φ φ (fitted y) (sample_mean φ (of_class y)).

Lemma sum_by_class (f : A * bool -> R) :
  ∑ r ∈ rows, f r =
  ∑ x ∈ (of_class true), f (x, true) + ∑ x ∈ (of_class false), f (x, false).
Proof.
  clear; unfold of_class.
  induction rows as [|[x []] rest IH]; simpl; [|rewrite IH..]; lra.
Qed.

Lemma log_ratio x :
  ln (π true * fitted true x / (π false * fitted false x)) =
  ln (π true) - ln (π false) +
  (ln (fitted true x) - ln (fitted false x)).
Proof.
  assert (Q : forall y, 0 < fitted y x) by (intros; apply exponential_pos).
  rewrite ln_div, !ln_mult by auto using Rmult_lt_0_compat; ring.
Qed.

Lemma sum_fitted y z :
  ∑ x ∈ (of_class y), ln (fitted z x) =
  - size (of_class y) * (λ0 z + dot Φ (λ z) (mean X φ (fitted y))).
Proof.
  unfold fitted at 1; rewrite sum_log_exponential by apply present.
  now rewrite (dot_ext _ _ _ _ (proj2 (moments y))).
Qed.

(** What the rows of label y add, each with the weight c *)
Lemma class_sum y c :
  ∑ x ∈ (of_class y), c *
    ln (π true * fitted true x / (π false * fitted false x)) =
  c * size (of_class y) * (ln (π true) - ln (π false)
    + λ0 false - λ0 true
    + dot Φ (λ false) (mean X φ (fitted y))
    - dot Φ (λ true) (mean X φ (fitted y))).
Proof.
  rewrite sum_scale.
  rewrite (sum_ext _ _ _ (fun x _ => log_ratio x)).
  rewrite sum_add, sum_const, sum_sub, !sum_fitted; ring.
Qed.

(* book: thm-margin *)
Theorem weighted_margins_add_up_to_J :
  ∑ r ∈ rows, size rows / (2 * size (of_class (snd r))) * margin r =
  size rows / 2 * J X (fitted true) (fitted false).
Proof.
  assert (N : forall y, size (of_class y) <> 0)
    by (intros y; pose proof (size_pos _ (present y)); lra).
  rewrite sum_by_class; unfold margin; simpl.
  rewrite (sum_ext (of_class true) _ (fun x =>
    size rows / (2 * size (of_class true)) *
    ln (π true * fitted true x / (π false * fitted false x))))
    by (intros; ring).
  rewrite (sum_ext (of_class false) _ (fun x =>
    - (size rows / (2 * size (of_class false))) *
    ln (π true * fitted true x / (π false * fitted false x))))
    by (intros; ring).
  rewrite !class_sum; unfold J, fitted.
  rewrite !KL_exponentials by apply moments.
  field; auto.
Qed.

(* book: thm-margin *)
Theorem margins_add_up_to_J :
  size (of_class true) = size (of_class false) ->
  ∑ r ∈ rows, margin r = size rows / 2 * J X (fitted true) (fitted false).
Proof.
  intros E; rewrite <- weighted_margins_add_up_to_J.
  apply sum_ext; intros r _.
  assert (T : size rows = 2 * size (of_class (snd r))).
  { pose proof (sum_by_class (fun _ => 1)) as S; cbv beta in S.
    rewrite !sum_const in S; destruct (snd r); lra. }
  rewrite T; field.
  pose proof (size_pos _ (present (snd r))); lra.
Qed.

End Margin.
