(** Another scale (book/chapters/divergences.md): a one-to-one map of the values
    leaves KL and J as they are. *)

From Proofs Require Export Gibbs.

Section Relabelling.
Context {A B : Type} (X : list A) (T : A -> B).
Hypothesis eq_dec : forall y z : B, {y = z} + {y <> z}.
Implicit Types p q : A -> R.

Definition one_to_one :=
  forall x y, In x X -> In y X -> T x = T y -> x = y.

(** The distribution of T(x): the mass of all values that T sends to y *)
Definition image p (y : B) := ∑ x ∈ X, if eq_dec (T x) y then p x else 0.

Lemma image_at p x : NoDup X -> one_to_one -> In x X -> image p (T x) = p x.
Proof.
  intros N O I; unfold image.
  rewrite (sum_single X (fun z => if eq_dec (T z) (T x) then p z else 0) x);
    trivial.
  - now destruct (eq_dec (T x) (T x)).
  - intros z Iz D; destruct (eq_dec (T z) (T x)) as [E|]; trivial.
    destruct D; auto.
Qed.

(* book: thm-dv-f *)
Theorem relabelling p q : NoDup X -> one_to_one ->
  KL (map T X) (image p) (image q) = KL X p q /\
  J (map T X) (image p) (image q) = J X p q.
Proof.
  intros N O.
  assert (K : forall p q, KL (map T X) (image p) (image q) = KL X p q).
  { intros; unfold KL; rewrite sum_map; apply sum_ext; intros.
    rewrite !image_at; trivial. }
  unfold J; rewrite !K; auto.
Qed.

End Relabelling.

(* book: ex-dv-reparametrise *)
Theorem increasing_scale (X : list R) (T : R -> R) p q : NoDup X ->
  (forall x y, x < y -> T x < T y) ->
  KL (map T X) (image X T Req_EM_T p) (image X T Req_EM_T q) = KL X p q /\
  J (map T X) (image X T Req_EM_T p) (image X T Req_EM_T q) = J X p q.
Proof.
  intros N I; apply relabelling; trivial; intros x y _ _ E.
  destruct (Rtotal_order x y) as [L|[|L]]; trivial; apply I in L; lra.
Qed.
