(** Arithmetic and geometric mean (book/chapters/from-js-to-gm.md).

    The book's JS_GM is infinite where one class has a zero cell and another
    has not; here [alike] excludes that: in each cell all p k are positive,
    or all are zero. *)

From Proofs Require Export MutualInformation.

(** a^b, and 0^b = 0 *)
Definition power (a b : R) := if Req_EM_T a 0 then 0 else Rpower a b.

(** Every class with every later one: the pairs k < j. *)
Fixpoint pairs {C} (K : list C) : list (C * C) :=
  match K with
  | [] => []
  | k :: rest => map (pair k) rest ++ pairs rest
  end.

Section Classes.
Context {A C : Type} (X : list A) (K : list C) (π : C -> R) (p : C -> A -> R).

Definition alike := forall x, In x X ->
  (forall k, In k K -> 0 < p k x) \/ (forall k, In k K -> p k x = 0).

(** g, left without a normaliser *)
Definition geometric x := ∏ k ∈ K, power (p k x) (π k).

Definition JS_GM := ∑ k ∈ K, π k * KL X (p k) geometric.

Hypothesis W : weights K π.
Hypothesis P : forall k, In k K -> distribution X (p k).
Hypothesis S : alike.

Notation mixture := (mixture K π p).
Notation JS := (JS X K π p).

Lemma some_class : exists k, In k K.
Proof.
  destruct K as [|k rest]; [|exists k; now left].
  destruct W as [_ E]; simpl in E; lra.
Qed.

Lemma power_pos a b : 0 < a -> 0 < power a b /\ ln (power a b) = b * ln a.
Proof.
  intros; unfold power; destruct (Req_EM_T a 0); [lra|].
  split; [apply exp_pos|]; unfold Rpower; apply ln_exp.
Qed.

Lemma geometric_pos x : (forall k, In k K -> 0 < p k x) ->
  0 < geometric x /\ ln (geometric x) = ∑ k ∈ K, π k * ln (p k x).
Proof.
  intros Q; split.
  - apply product_pos; intros; apply power_pos; auto.
  - unfold geometric; rewrite ln_product.
    + apply sum_ext; intros; apply power_pos; auto.
    + intros; apply power_pos; auto.
Qed.

Lemma geometric_zero x : (forall k, In k K -> p k x = 0) -> geometric x = 0.
Proof.
  destruct some_class as [k Ik]; intros Z; unfold geometric.
  revert Ik Z; clear; induction K as [|j rest IH]; simpl; [easy|].
  intros [->|Ik] Z.
  - rewrite Z by auto; unfold power; destruct (Req_EM_T 0 0); [ring|easy].
  - rewrite IH; auto; ring.
Qed.

Lemma geometric_measure : measure X geometric.
Proof.
  intros x I; destruct (S x I) as [Q|Z].
  - apply Rlt_le, geometric_pos, Q.
  - rewrite geometric_zero; trivial; lra.
Qed.

Lemma geometric_dominates k : In k K -> dominated X (p k) geometric.
Proof.
  intros Ik x Ix Z; destruct (S x Ix) as [Q|Q]; auto.
  pose proof (geometric_pos x Q); lra.
Qed.

Lemma classes_dominate k j :
  In k K -> In j K -> dominated X (p k) (p j).
Proof.
  intros Ik Ij x Ix Z; destruct (S x Ix) as [Q|Q]; auto.
  pose proof (Q j Ij); lra.
Qed.

Lemma mixture_pos x : In x X -> (forall k, In k K -> 0 < p k x) ->
  0 < mixture x.
Proof.
  intros Ix Q; apply sum_pos.
  - destruct some_class as [k I]; intros E; now rewrite E in I.
  - intros k I; apply Rmult_lt_0_compat; [apply W|]; auto.
Qed.

Lemma mixture_zero x : (forall k, In k K -> p k x = 0) -> mixture x = 0.
Proof.
  intros Z; rewrite <- (sum_zero K); apply sum_ext; intros; rewrite Z; auto; ring.
Qed.

(** In one cell: Gibbs' inequality for the measures π m and π p on the classes *)
Lemma am_gm x : In x X -> geometric x <= mixture x /\
  (geometric x = mixture x -> forall k, In k K -> p k x = mixture x).
Proof.
  intros Ix; destruct (S x Ix) as [Q|Z].
  - pose proof (mixture_pos x Ix Q) as M.
    destruct (geometric_pos x Q) as [G E].
    assert (PK : forall k, In k K -> 0 < π k) by apply W.
    set (u := fun k => π k * mixture x); set (v := fun k => π k * p k x).
    assert (Pu : measure K u)
      by (intros k I; apply Rlt_le, Rmult_lt_0_compat; auto).
    assert (Pv : forall k, In k K -> 0 < v k)
      by (intros k I; apply Rmult_lt_0_compat; auto).
    assert (Mv : measure K v) by (intros k I; apply Rlt_le; auto).
    assert (D : dominated K u v)
      by (intros k I Z; pose proof (Pv k I); lra).
    destruct (gibbs_measures K u v) as [L Eq]; trivial.
    assert (Su : ∑ k ∈ K, u k = mixture x)
      by (unfold u; rewrite sum_scale_r, (proj2 W); ring).
    assert (V : KL K u v = mixture x * (ln (mixture x) - ln (geometric x))).
    { rewrite KL_eq by trivial; transitivity (∑ k ∈ K, mixture x *
        (π k * ln (mixture x) - π k * ln (p k x))).
      - apply sum_ext; intros k I; unfold u, v; rewrite !ln_mult; auto; ring.
      - rewrite sum_scale, sum_sub, <- E, sum_scale_r, (proj2 W); ring. }
    change (∑ k ∈ K, v k) with (mixture x) in L, Eq.
    rewrite Su, V in L, Eq; split.
    + destruct (Rle_or_lt (geometric x) (mixture x)) as [|B]; trivial.
      apply ln_increasing in B; trivial; nra.
    + intros R k I; rewrite R in Eq.
      apply (Rmult_eq_reg_l (π k)); [|pose proof (PK k I); lra].
      symmetry; apply Eq; trivial; ring.
  - rewrite geometric_zero, mixture_zero; trivial; split; [lra|auto].
Qed.

Lemma mixture_dominated : dominated X mixture geometric.
Proof.
  intros x Ix Z; destruct (S x Ix) as [Q|Q]; [|now apply mixture_zero].
  pose proof (geometric_pos x Q); lra.
Qed.

Lemma all_equal_geometric :
  all_equal X K p <-> equal_on X mixture geometric.
Proof.
  split; intros E.
  - intros x Ix; destruct (S x Ix) as [Q|Z].
    + destruct (geometric_pos x Q) as [G L].
      apply ln_inv; auto using mixture_pos; rewrite L.
      rewrite (sum_ext K _ (fun j => π j * ln (mixture x))).
      * rewrite sum_scale_r, (proj2 W); ring.
      * intros j Ij.
        rewrite (mixture_of_equals X K π p W E j Ij x Ix); trivial.
    + now rewrite geometric_zero, mixture_zero.
  - intros k j Ik Ij x Ix; destruct (am_gm x Ix) as [_ Q].
    rewrite (Q (eq_sym (E x Ix)) k), (Q (eq_sym (E x Ix)) j); trivial.
Qed.

Lemma JS_GM_eq : JS_GM =
  ∑ k ∈ K, ∑ x ∈ X, π k * p k x * (ln (p k x) - ln (geometric x)).
Proof.
  apply sum_ext; intros k I.
  rewrite KL_eq, <- sum_scale; [apply sum_ext; intros; ring| | |].
  - apply P, I.
  - apply geometric_measure.
  - apply geometric_dominates, I.
Qed.

(* book: prop-gm-bound *)
Theorem js_at_most_js_gm :
  JS_GM - JS = KL X mixture geometric /\ JS <= JS_GM /\
  (JS = JS_GM <-> all_equal X K p).
Proof.
  assert (Gap : JS_GM - JS = KL X mixture geometric).
  { rewrite JS_GM_eq, JS_eq by trivial.
    rewrite KL_eq by auto using mixture_measure, geometric_measure,
      mixture_dominated.
    rewrite <- sum_sub, (sum_ext X _ (fun x => ∑ k ∈ K,
      π k * p k x * (ln (mixture x) - ln (geometric x))))
      by (intros; now rewrite sum_scale_r).
    rewrite (sum_swap X K); apply sum_ext; intros k I.
    rewrite <- sum_sub; apply sum_ext; intros; ring. }
  destruct (gibbs_measures X mixture geometric) as [L Eq];
    auto using mixture_measure, geometric_measure, mixture_dominated.
  assert (Z : ∑ x ∈ X, geometric x <= ∑ x ∈ X, mixture x)
    by (apply sum_le; intros; apply am_gm; trivial).
  repeat split; [trivial|lra| |]; intros E.
  - apply all_equal_geometric, Eq; lra.
  - apply all_equal_geometric in E.
    rewrite (KL_equal X mixture geometric) in Gap;
      auto using mixture_measure; lra.
Qed.

(* book: prop-gm-bound *)
Theorem mass_of_geometric_mean :
  ∑ x ∈ X, geometric x <= 1 /\
  (∑ x ∈ X, geometric x = 1 <-> all_equal X K p).
Proof.
  destruct (mixture_distribution X K π p W P) as [_ <-]; split.
  - apply sum_le; intros; apply am_gm; trivial.
  - rewrite all_equal_geometric; split; intros E.
    + intros x I; symmetry; revert x I; apply sum_le_eq; trivial.
      intros; apply am_gm; trivial.
    + apply sum_ext; intros; symmetry; auto.
Qed.

(** Sums over ordered pairs are sums over pairs k < j, both ways round. *)
Lemma sum_pairs (L : list C) (f : C -> C -> R) :
  (forall k, In k L -> f k k = 0) ->
  ∑ k ∈ L, ∑ j ∈ L, f k j =
  ∑ kj ∈ (pairs L), (f (fst kj) (snd kj) + f (snd kj) (fst kj)).
Proof.
  induction L as [|a L IH]; simpl; intros Z; [easy|].
  rewrite sum_app, sum_map, <- IH by auto; simpl.
  rewrite Z, !sum_add by auto; lra.
Qed.

(** All ordered pairs; those with j = k add KL (p k) (p k) = 0. *)
(* book: prop-gm-pairs *)
Theorem js_gm_ordered_pairs :
  JS_GM = ∑ k ∈ K, ∑ j ∈ K, π k * π j * KL X (p k) (p j).
Proof.
  rewrite JS_GM_eq; apply sum_ext; intros k Ik.
  rewrite (sum_ext K _ (fun j =>
    ∑ x ∈ X, π k * π j * p k x * (ln (p k x) - ln (p j x)))).
  - rewrite sum_swap; apply sum_ext; intros x Ix.
    destruct (S x Ix) as [Q|Z].
    + destruct (geometric_pos x Q) as [_ ->].
      transitivity (∑ j ∈ K, π k * p k x *
        (π j * ln (p k x) - π j * ln (p j x))).
      * rewrite sum_scale, sum_sub, sum_scale_r, (proj2 W); ring.
      * apply sum_ext; intros; ring.
    + rewrite (Z k Ik); transitivity (∑ j ∈ K, 0).
      * rewrite sum_zero; ring.
      * apply sum_ext; intros; ring.
  - intros j Ij; rewrite KL_eq, <- sum_scale;
      [apply sum_ext; intros; ring|apply P, Ik|apply P, Ij|].
    apply classes_dominate; trivial.
Qed.

(* book: prop-gm-pairs *)
Theorem js_gm_pairs :
  JS_GM = ∑ kj ∈ (pairs K),
    π (fst kj) * π (snd kj) * J X (p (fst kj)) (p (snd kj)).
Proof.
  rewrite js_gm_ordered_pairs.
  rewrite (sum_pairs K (fun k j => π k * π j * KL X (p k) (p j))).
  - apply sum_ext; intros; unfold J; ring.
  - intros k I; rewrite KL_equal; [ring|apply P, I|easy].
Qed.

End Classes.

(* book: prop-gm-pairs *)
Theorem js_gm_two_classes {A C} (X : list A) (a b : C) π p :
  weights [a; b] π -> (forall k, In k [a; b] -> distribution X (p k)) ->
  alike X [a; b] p ->
  JS_GM X [a; b] π p = π a * π b * J X (p a) (p b).
Proof. intros W P S; rewrite js_gm_pairs by trivial; simpl; ring. Qed.
