(** The Jensen-Shannon divergence (book/chapters/from-js-to-gm.md).

    Classes k in K with weights π k > 0 of sum one, and a distribution p k
    for each. Zero cells are allowed everywhere. *)

From Proofs Require Export Gibbs.

Definition weights {C} (K : list C) (π : C -> R) :=
  (forall k, In k K -> 0 < π k) /\ ∑ k ∈ K, π k = 1.

Definition all_equal {A C} (X : list A) (K : list C) (p : C -> A -> R) :=
  forall k j, In k K -> In j K -> equal_on X (p k) (p j).

Section Classes.
Context {A C : Type} (X : list A) (K : list C) (π : C -> R) (p : C -> A -> R).

Definition mixture x := ∑ k ∈ K, π k * p k x.

Definition JS := ∑ k ∈ K, π k * KL X (p k) mixture.

(** I(X; C): the joint distribution against the product of its marginals *)
Definition information :=
  ∑ k ∈ K, ∑ x ∈ X, kl_term (π k * p k x) (π k * mixture x).

(** P(k | x), and H(C | X) *)
Definition posterior x k := π k * p k x / mixture x.
Definition conditional_entropy := ∑ x ∈ X, mixture x * H K (posterior x).

Hypothesis W : weights K π.
Hypothesis P : forall k, In k K -> distribution X (p k).

Lemma mass_nonneg k x : In k K -> In x X -> 0 <= π k * p k x.
Proof.
  intros Ik Ix; apply Rmult_le_pos; [apply Rlt_le, W|apply P]; trivial.
Qed.

Lemma mass_le_mixture k x : In k K -> In x X -> π k * p k x <= mixture x.
Proof.
  intros Ik Ix; unfold mixture.
  apply (term_le_sum K (fun k => π k * p k x)); auto using mass_nonneg.
Qed.

Lemma mixture_measure : measure X mixture.
Proof. intros x I; apply sum_nonneg; auto using mass_nonneg. Qed.

Lemma mixture_dominates k : In k K -> dominated X (p k) mixture.
Proof.
  intros Ik x Ix Z; pose proof (mass_le_mixture k x Ik Ix).
  pose proof (mass_nonneg k x Ik Ix); assert (0 < π k) by (apply W, Ik).
  destruct (Rmult_integral (π k) (p k x)); lra.
Qed.

Lemma mixture_distribution : distribution X mixture.
Proof.
  split; [apply mixture_measure|]; unfold mixture; rewrite sum_swap.
  rewrite <- (proj2 W); apply sum_ext; intros k I.
  rewrite sum_scale, (proj2 (P k I)); ring.
Qed.

Lemma mixture_of_equals : all_equal X K p ->
  forall k, In k K -> equal_on X (p k) mixture.
Proof.
  intros E k Ik x Ix; unfold mixture.
  rewrite (sum_ext K _ (fun j => π j * p k x)).
  - rewrite sum_scale_r, (proj2 W); ring.
  - intros j Ij; now rewrite (E j k).
Qed.

Lemma JS_eq : JS =
  ∑ k ∈ K, ∑ x ∈ X, π k * p k x * (ln (p k x) - ln (mixture x)).
Proof.
  apply sum_ext; intros k I.
  rewrite KL_eq, <- sum_scale; [apply sum_ext; intros; ring| | |].
  - apply P, I.
  - apply mixture_measure.
  - apply mixture_dominates, I.
Qed.

Lemma conditional_entropy_eq : conditional_entropy =
  ∑ k ∈ K, ∑ x ∈ X, π k * p k x * (ln (mixture x) - ln (π k * p k x)).
Proof.
  rewrite sum_swap; apply sum_ext; intros x Ix.
  rewrite H_eq, <- sum_opp, <- sum_scale; apply sum_ext; intros k Ik.
  pose proof (mass_le_mixture k x Ik Ix) as L.
  unfold posterior; destruct (mass_nonneg k x Ik Ix) as [Q|<-]; [|lra].
  rewrite ln_div; [field|..]; lra.
Qed.

(* book: thm-mi *)
Theorem js_is_information :
  JS = information /\
  JS = H K π - conditional_entropy /\
  JS = H X mixture - ∑ k ∈ K, π k * H X (p k).
Proof.
  repeat split.
  - apply sum_ext; intros k Ik; unfold KL; rewrite <- sum_scale.
    apply sum_ext; intros x Ix; assert (0 < π k) by (apply W, Ik).
    pose proof (mass_nonneg k x Ik Ix); pose proof (mixture_measure x Ix).
    pose proof (mixture_dominates k Ik x Ix) as D.
    rewrite !kl_term_eq; trivial; [|nra| |apply P; trivial].
    + destruct (proj1 (P k Ik) x Ix) as [Q|<-]; [|ring].
      assert (0 < mixture x)
        by (pose proof (mass_le_mixture k x Ik Ix); nra).
      rewrite !ln_mult by trivial; ring.
    + intros Z; apply Rmult_integral in Z; destruct Z; [lra|].
      rewrite D; trivial; ring.
  - rewrite JS_eq, H_eq, conditional_entropy_eq.
    unfold Rminus at 2; rewrite <- Ropp_plus_distr, <- sum_add, <- sum_opp.
    apply sum_ext; intros k Ik.
    replace (π k * ln (π k)) with (∑ x ∈ X, π k * p k x * ln (π k))
      by (rewrite sum_scale_r, sum_scale, (proj2 (P k Ik)); ring).
    rewrite <- sum_add, <- sum_opp; apply sum_ext; intros x Ix.
    destruct (proj1 (P k Ik) x Ix) as [Q|<-]; [|ring].
    rewrite ln_mult; [ring|apply W, Ik|trivial].
  - rewrite JS_eq, H_eq, (sum_ext X _ (fun x =>
      ∑ k ∈ K, π k * p k x * ln (mixture x)))
      by (intros; now rewrite sum_scale_r).
    rewrite (sum_swap X K), <- sum_opp, <- sum_sub.
    apply sum_ext; intros k Ik.
    rewrite H_eq, <- sum_opp, <- sum_opp, <- sum_scale, <- sum_sub.
    apply sum_ext; intros; ring.
Qed.

Lemma loss_nonneg k x : In k K -> In x X ->
  0 <= π k * p k x * (ln (mixture x) - ln (π k * p k x)).
Proof.
  intros Ik Ix; pose proof (mass_le_mixture k x Ik Ix) as [L|E].
  - destruct (mass_nonneg k x Ik Ix) as [Q|<-]; [|lra].
    apply Rmult_le_pos; [lra|]; apply ln_increasing in L; lra.
  - rewrite E; lra.
Qed.

Lemma js_term_nonneg k : In k K -> 0 <= π k * KL X (p k) mixture.
Proof.
  intros Ik; apply Rmult_le_pos; [apply Rlt_le, W, Ik|].
  apply gibbs; auto using mixture_distribution, mixture_dominates.
Qed.

(* book: cor-mi-bounds *)
Theorem js_bounds : 0 <= JS <= H K π.
Proof.
  split.
  - apply sum_nonneg, js_term_nonneg.
  - destruct js_is_information as (_ & -> & _).
    assert (0 <= conditional_entropy); [|lra].
    rewrite conditional_entropy_eq.
    apply sum_nonneg; intros; apply sum_nonneg; intros.
    apply loss_nonneg; trivial.
Qed.

(* book: cor-mi-bounds *)
Theorem js_zero : JS = 0 <-> all_equal X K p.
Proof.
  split; intros E.
  - assert (Q : forall k, In k K -> equal_on X (p k) mixture).
    + assert (Z : forall k, In k K -> 0 = π k * KL X (p k) mixture).
      { apply (sum_le_eq K (fun _ => 0)); [|now rewrite sum_zero].
        apply js_term_nonneg. }
      intros k Ik; pose proof (Z k Ik) as Zk.
      assert (0 < π k) by (apply W, Ik).
      symmetry in Zk; apply Rmult_integral in Zk.
      apply gibbs; auto using mixture_distribution, mixture_dominates.
      destruct Zk; [lra|trivial].
    + intros k j Ik Ij x Ix; rewrite (Q k), (Q j); trivial.
  - unfold JS; rewrite <- (sum_zero K); apply sum_ext; intros k Ik.
    rewrite KL_equal; [ring|apply P, Ik|].
    apply mixture_of_equals; trivial.
Qed.

(* book: cor-mi-bounds *)
Theorem js_largest : NoDup K ->
  (JS = H K π <->
   forall x k j, In x X -> In k K -> In j K -> 0 < p k x -> 0 < p j x -> k = j).
Proof.
  intros N; destruct js_is_information as (_ & -> & _); split.
  - intros E x k j Ix Ik Ij Pk Pj.
    assert (Z : conditional_entropy = 0) by lra.
    rewrite conditional_entropy_eq in Z.
    assert (Zk : 0 = π k * p k x * (ln (mixture x) - ln (π k * p k x))).
    { pose proof (sum_le_eq K (fun _ => 0) (fun k =>
        ∑ x ∈ X, π k * p k x * (ln (mixture x) - ln (π k * p k x)))) as S.
      pose proof (sum_le_eq X (fun _ => 0) (fun x =>
        π k * p k x * (ln (mixture x) - ln (π k * p k x)))) as T.
      apply T; trivial; [intros; apply loss_nonneg; trivial|].
      rewrite sum_zero; apply S; trivial; [|now rewrite sum_zero].
      intros; apply sum_nonneg; intros; apply loss_nonneg; trivial. }
    assert (0 < π k) by (apply W, Ik); assert (0 < π j) by (apply W, Ij).
    assert (0 < π k * p k x) by (apply Rmult_lt_0_compat; trivial).
    assert (0 < π j * p j x) by (apply Rmult_lt_0_compat; trivial).
    symmetry in Zk; apply Rmult_integral in Zk; destruct Zk; [lra|].
    assert (mixture x = π k * p k x).
    { apply ln_inv; [|trivial|lra].
      pose proof (mass_le_mixture k x Ik Ix); lra. }
    apply Classical_Prop.NNPP; intros D.
    pose proof (two_terms_le_sum K (fun k => π k * p k x) k j) as T.
    fold (mixture x) in T; cbv beta in T.
    assert (π k * p k x + π j * p j x <= mixture x); [|lra].
    apply T; trivial; intros; apply mass_nonneg; trivial.
  - intros One; assert (conditional_entropy = 0); [|lra].
    rewrite conditional_entropy_eq, <- (sum_zero K).
    apply sum_ext; intros k Ik; rewrite <- (sum_zero X).
    apply sum_ext; intros x Ix.
    destruct (proj1 (P k Ik) x Ix) as [Q|<-]; [|ring].
    replace (mixture x) with (π k * p k x); [ring|]; symmetry.
    apply (sum_single K (fun k => π k * p k x)); trivial.
    intros j Ij D; destruct (proj1 (P j Ij) x Ix) as [R|<-]; [|ring].
    destruct D; apply (One x); trivial.
Qed.

End Classes.
