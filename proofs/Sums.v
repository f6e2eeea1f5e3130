(** Finite sums and products.

    A finite set is a list: the values of a feature, the classes, the rows of
    a sample, the features themselves. A value that is listed twice counts
    twice, as under a base measure with whole weights. *)

Require Export Reals Lra List Permutation.
Export ListNotations.
Open Scope R_scope.

Fixpoint sum {A} (X : list A) (f : A -> R) : R :=
  match X with [] => 0 | x :: rest => f x + sum rest f end.

Fixpoint product {A} (X : list A) (f : A -> R) : R :=
  match X with [] => 1 | x :: rest => f x * product rest f end.

Notation "∑ x ∈ X , f" := (sum X (fun x => f))
  (at level 41, x name, X at level 10, f at level 41).
Notation "∏ x ∈ X , f" := (product X (fun x => f))
  (at level 41, x name, X at level 10, f at level 41).

Definition size {A} (X : list A) : R := INR (length X).

Section Algebra.
Context {A : Type}.
Implicit Types (X : list A) (f g : A -> R).

Lemma sum_ext X f g :
  (forall x, In x X -> f x = g x) -> ∑ x ∈ X, f x = ∑ x ∈ X, g x.
Proof.
  induction X as [|a X IH]; simpl; intros E; trivial.
  rewrite (E a), IH; auto.
Qed.

Lemma sum_add X f g : ∑ x ∈ X, (f x + g x) = ∑ x ∈ X, f x + ∑ x ∈ X, g x.
Proof. induction X as [|a X IH]; simpl; lra. Qed.

Lemma sum_sub X f g : ∑ x ∈ X, (f x - g x) = ∑ x ∈ X, f x - ∑ x ∈ X, g x.
Proof. induction X as [|a X IH]; simpl; lra. Qed.

Lemma sum_opp X f : ∑ x ∈ X, (- f x) = - (∑ x ∈ X, f x).
Proof. induction X as [|a X IH]; simpl; lra. Qed.

Lemma sum_scale X c f : ∑ x ∈ X, c * f x = c * (∑ x ∈ X, f x).
Proof. induction X as [|a X IH]; simpl; [|rewrite IH]; lra. Qed.

Lemma sum_scale_r X c f : ∑ x ∈ X, f x * c = (∑ x ∈ X, f x) * c.
Proof. induction X as [|a X IH]; simpl; [|rewrite IH]; lra. Qed.

Lemma sum_zero X : ∑ x ∈ X, 0 = 0.
Proof. induction X as [|a X IH]; simpl; lra. Qed.

Lemma size_cons a X : size (a :: X) = 1 + size X.
Proof. unfold size; simpl length; rewrite S_INR; lra. Qed.

Lemma size_nonneg X : 0 <= size X.
Proof. apply pos_INR. Qed.

Lemma size_pos X : X <> [] -> 0 < size X.
Proof.
  destruct X as [|a X]; intros N; [easy|].
  rewrite size_cons; pose proof (size_nonneg X); lra.
Qed.

Lemma sum_const X c : ∑ x ∈ X, c = size X * c.
Proof.
  induction X as [|a X IH]; [unfold size; simpl; lra|].
  rewrite size_cons; simpl; lra.
Qed.

Lemma sum_le X f g :
  (forall x, In x X -> f x <= g x) -> ∑ x ∈ X, f x <= ∑ x ∈ X, g x.
Proof.
  induction X as [|a X IH]; simpl; intros L; [lra|].
  apply Rplus_le_compat; auto.
Qed.

Lemma sum_nonneg X f : (forall x, In x X -> 0 <= f x) -> 0 <= ∑ x ∈ X, f x.
Proof. intros P; rewrite <- (sum_zero X); apply sum_le; trivial. Qed.

Lemma sum_pos X f :
  X <> [] -> (forall x, In x X -> 0 < f x) -> 0 < ∑ x ∈ X, f x.
Proof.
  destruct X as [|a X]; intros N P; [easy|]; simpl.
  apply Rplus_lt_le_0_compat; [apply P; now left|].
  apply sum_nonneg; intros x I; apply Rlt_le, P; now right.
Qed.

(** Terms that are ordered and have equal sums are equal one by one. *)
Lemma sum_le_eq X f g :
  (forall x, In x X -> f x <= g x) -> ∑ x ∈ X, f x = ∑ x ∈ X, g x ->
  forall x, In x X -> f x = g x.
Proof.
  induction X as [|a X IH]; simpl; intros L E x I; [easy|].
  assert (Ha := L a (or_introl eq_refl)).
  assert (HX : ∑ x ∈ X, f x <= ∑ x ∈ X, g x) by (apply sum_le; auto).
  destruct I as [<-|I]; [lra|].
  apply IH; auto; lra.
Qed.

Lemma term_le_sum X f x :
  (forall y, In y X -> 0 <= f y) -> In x X -> f x <= ∑ y ∈ X, f y.
Proof.
  induction X as [|a X IH]; simpl; intros P I; [easy|].
  assert (0 <= ∑ y ∈ X, f y) by (apply sum_nonneg; auto).
  assert (0 <= f a) by auto.
  destruct I as [<-|I]; [lra|].
  assert (f x <= ∑ y ∈ X, f y) by auto; lra.
Qed.

Lemma two_terms_le_sum X f x y :
  (forall z, In z X -> 0 <= f z) -> In x X -> In y X -> x <> y ->
  f x + f y <= ∑ z ∈ X, f z.
Proof.
  induction X as [|a X IH]; simpl; intros P Ix Iy N; [easy|].
  assert (0 <= f a) by auto.
  assert (PX : forall z, In z X -> 0 <= f z) by auto.
  destruct Ix as [<-|Ix], Iy as [<-|Iy]; [easy| | |].
  - pose proof (term_le_sum X f y PX Iy); lra.
  - pose proof (term_le_sum X f x PX Ix); lra.
  - pose proof (IH PX Ix Iy N); lra.
Qed.

Lemma sum_single X f x :
  NoDup X -> In x X -> (forall y, In y X -> y <> x -> f y = 0) ->
  ∑ y ∈ X, f y = f x.
Proof.
  induction 1 as [|a X N D IH]; simpl; intros I Z; [easy|].
  destruct I as [<-|I].
  - rewrite (sum_ext X f (fun _ => 0)), sum_zero; [lra|].
    intros y Iy; apply Z; auto; intros ->; auto.
  - rewrite (Z a), IH; auto; [lra|intros ->; auto].
Qed.

Lemma sum_app X Y f : ∑ x ∈ (X ++ Y), f x = ∑ x ∈ X, f x + ∑ x ∈ Y, f x.
Proof. induction X as [|a X IH]; simpl; lra. Qed.

Lemma sum_permutation X Y f :
  Permutation X Y -> ∑ x ∈ X, f x = ∑ x ∈ Y, f x.
Proof. induction 1; simpl; lra. Qed.

Lemma product_pos X f :
  (forall x, In x X -> 0 < f x) -> 0 < ∏ x ∈ X, f x.
Proof.
  induction X as [|a X IH]; simpl; intros P; [lra|].
  apply Rmult_lt_0_compat; auto.
Qed.

Lemma ln_product X f :
  (forall x, In x X -> 0 < f x) -> ln (∏ x ∈ X, f x) = ∑ x ∈ X, ln (f x).
Proof.
  induction X as [|a X IH]; simpl; intros P; [apply ln_1|].
  rewrite ln_mult, IH; auto; apply product_pos; auto.
Qed.

End Algebra.

Lemma sum_continuous {A} (X : list A) (f : A -> R -> R) :
  (forall x, In x X -> continuity (f x)) -> continuity (fun t => ∑ x ∈ X, f x t).
Proof.
  induction X as [|a X IH]; simpl; intros C; [now apply continuity_const|].
  apply (continuity_plus (f a) (fun t => ∑ x ∈ X, f x t)); auto.
Qed.

Lemma sum_map {A B} (T : A -> B) X f :
  ∑ y ∈ (map T X), f y = ∑ x ∈ X, f (T x).
Proof. induction X as [|a X IH]; simpl; [|rewrite IH]; trivial. Qed.

Lemma sum_flat_map {A B} (T : A -> list B) X f :
  ∑ y ∈ (flat_map T X), f y = ∑ x ∈ X, ∑ y ∈ (T x), f y.
Proof. induction X as [|a X IH]; simpl; [|rewrite sum_app, IH]; trivial. Qed.

Lemma sum_swap {A B} (X : list A) (Y : list B) f :
  ∑ x ∈ X, ∑ y ∈ Y, f x y = ∑ y ∈ Y, ∑ x ∈ X, f x y.
Proof.
  induction X as [|a X IH]; simpl; [now rewrite sum_zero|].
  now rewrite sum_add, IH.
Qed.
