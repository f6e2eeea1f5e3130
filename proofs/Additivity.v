(** Independent features (book/chapters/additivity.md).

    Feature s has the values V s. A cell of the features A, a list, is a list
    of values, one for each; its probability is the product. *)

From Proofs Require Export GeometricMean.
Require Export Sorted.

Section Tables.
Context {S U : Type} (V : S -> list U).

Fixpoint cells (A : list S) : list (list U) :=
  match A with
  | [] => [[]]
  | s :: rest => flat_map (fun v => map (cons v) (cells rest)) (V s)
  end.

Fixpoint joint (p : S -> U -> R) (A : list S) (x : list U) : R :=
  match A, x with
  | s :: rest, v :: values => p s v * joint p rest values
  | _, _ => 1
  end.

Lemma sum_cells s A f :
  ∑ x ∈ (cells (s :: A)), f x = ∑ v ∈ (V s), ∑ x ∈ (cells A), f (v :: x).
Proof.
  simpl; rewrite sum_flat_map; apply sum_ext; intros; apply sum_map.
Qed.

Lemma in_cells s A x : In x (cells (s :: A)) ->
  exists v rest, x = v :: rest /\ In v (V s) /\ In rest (cells A).
Proof.
  simpl; rewrite in_flat_map; intros (v & Iv & I).
  apply in_map_iff in I; destruct I as (rest & <- & I).
  now exists v, rest.
Qed.

Lemma joint_distribution p A :
  (forall s, In s A -> distribution (V s) (p s)) ->
  distribution (cells A) (joint p A).
Proof.
  induction A as [|s A IH]; intros P.
  - split; [intros x _|]; simpl; lra.
  - destruct IH as [M T]; [auto with datatypes|].
    destruct (P s) as [Ms Ts]; [now left|]; split.
    + intros x I; apply in_cells in I.
      destruct I as (v & rest & -> & Iv & I).
      apply Rmult_le_pos; auto.
    + rewrite sum_cells, <- Ts; apply sum_ext; intros v _; simpl.
      rewrite sum_scale, T; ring.
Qed.

Lemma joint_dominated p q A :
  (forall s, In s A -> dominated (V s) (p s) (q s)) ->
  dominated (cells A) (joint p A) (joint q A).
Proof.
  induction A as [|s A IH]; intros D x I Z; [simpl in *; lra|].
  apply in_cells in I; destruct I as (v & rest & -> & Iv & I); simpl in *.
  apply Rmult_integral in Z; destruct Z as [Z|Z].
  - rewrite (D s) by auto; ring.
  - rewrite (IH (fun s I => D s (or_intror I)) rest I Z); ring.
Qed.

Section TwoClasses.
Variables p q : S -> U -> R.

Definition comparable s :=
  distribution (V s) (p s) /\ distribution (V s) (q s) /\
  dominated (V s) (p s) (q s).

(* book: thm-ad-sum *)
Theorem kl_adds_up A : (forall s, In s A -> comparable s) ->
  KL (cells A) (joint p A) (joint q A) = ∑ s ∈ A, KL (V s) (p s) (q s).
Proof.
  induction A as [|s A IH]; intros C.
  - unfold KL; simpl; rewrite kl_term_self; lra.
  - assert (CA : forall t, In t A -> comparable t) by auto with datatypes.
    destruct (C s) as ([Mp Tp] & [Mq Tq] & D); [now left|].
    destruct (joint_distribution p A) as [Np Sp]; [apply CA|].
    destruct (joint_distribution q A) as [Nq Sq]; [apply CA|].
    pose proof (joint_dominated p q A (fun t I => proj2 (proj2 (CA t I)))) as E.
    simpl sum; rewrite <- IH by trivial; unfold KL; rewrite sum_cells.
    rewrite (sum_ext (V s) _ (fun v => kl_term (p s v) (q s v) + p s v *
      (∑ x ∈ (cells A), kl_term (joint p A x) (joint q A x)))).
    + rewrite sum_add, sum_scale_r, Tp; ring.
    + intros v I; rewrite <- sum_scale.
      transitivity (∑ x ∈ (cells A),
        (joint p A x * kl_term (p s v) (q s v) +
         p s v * kl_term (joint p A x) (joint q A x)));
        [|rewrite sum_add, sum_scale_r, Sp; ring].
      apply sum_ext; intros x Ix; simpl.
      pose proof (Mp v I) as P; pose proof (Np x Ix) as P'.
      pose proof (Mq v I) as Q; pose proof (Nq x Ix) as Q'.
      pose proof (D v I) as Dv; pose proof (E x Ix) as Ex.
      rewrite !kl_term_eq; trivial;
        [|apply Rmult_le_pos; trivial..|].
      * destruct P as [P|<-]; [|ring]; destruct P' as [P'|<-]; [|ring].
        assert (0 < q s v) by (destruct Q; [trivial|rewrite Dv in P; lra]).
        assert (0 < joint q A x)
          by (destruct Q'; [trivial|rewrite Ex in P'; lra]).
        rewrite !ln_mult by trivial; ring.
      * intros Z; apply Rmult_integral in Z; destruct Z as [Z|Z];
          [rewrite Dv by trivial|rewrite Ex by trivial]; ring.
Qed.

End TwoClasses.

(* book: thm-ad-sum *)
Theorem j_adds_up p q A :
  (forall s, In s A -> comparable p q s /\ comparable q p s) ->
  J (cells A) (joint p A) (joint q A) = ∑ s ∈ A, J (V s) (p s) (q s).
Proof.
  intros C; unfold J; rewrite sum_add, !kl_adds_up; trivial; apply C.
Qed.

Section Classes.
Context {C : Type} (K : list C) (π : C -> R) (p : C -> S -> U -> R).

Definition joints A k := joint (p k) A.
Definition marginals s k := p k s.

Definition all_comparable s :=
  (forall k, In k K -> distribution (V s) (p k s)) /\
  alike (V s) K (marginals s).

Lemma joints_alike A : (forall s, In s A -> all_comparable s) ->
  alike (cells A) K (joints A).
Proof.
  induction A as [|s A IH]; intros Q x I.
  - left; intros; unfold joints; simpl; lra.
  - apply in_cells in I; destruct I as (v & rest & -> & Iv & I).
    destruct (proj2 (Q s (or_introl eq_refl)) v Iv) as [L|L].
    + destruct (IH (fun t I => Q t (or_intror I)) rest I) as [M|M].
      * left; intros k Ik; apply Rmult_lt_0_compat; [apply L|apply M]; trivial.
      * right; intros k Ik; specialize (M k Ik); unfold joints in *; simpl.
        rewrite M; ring.
    + right; intros k Ik; specialize (L k Ik).
      unfold joints, marginals in *; simpl; rewrite L; ring.
Qed.

(* book: thm-ad-sum *)
Theorem js_gm_adds_up A : weights K π ->
  (forall s, In s A -> all_comparable s) ->
  JS_GM (cells A) K π (joints A) = ∑ s ∈ A, JS_GM (V s) K π (marginals s).
Proof.
  intros W Q.
  assert (P : forall k, In k K -> distribution (cells A) (joints A k)).
  { intros k Ik; apply joint_distribution; intros s Is; now apply Q. }
  rewrite js_gm_ordered_pairs by auto using joints_alike.
  rewrite (sum_ext A _ (fun s => ∑ k ∈ K, ∑ j ∈ K,
    π k * π j * KL (V s) (marginals s k) (marginals s j)))
    by (intros s Is; destruct (Q s Is); apply js_gm_ordered_pairs; trivial).
  rewrite (sum_swap A K); apply sum_ext; intros k Ik.
  rewrite (sum_swap A K); apply sum_ext; intros j Ij.
  rewrite sum_scale; f_equal; apply kl_adds_up; intros s Is.
  destruct (Q s Is) as [D L]; repeat split; try now apply D.
  apply (classes_dominate (V s) K (marginals s)); trivial.
Qed.

End Classes.
End Tables.

Section Greedy.
Context {S : Type} (D : list S -> R).

Definition additive F :=
  forall A, NoDup A -> incl A F -> D A = ∑ s ∈ A, D [s].

(** In every step the feature added gains at least as much as any other that
    is left. *)
Definition greedy_order F (chosen : list S) := Permutation chosen F /\
  forall before s after t, chosen = before ++ s :: after -> In t after ->
  D (before ++ [t]) - D before <= D (before ++ [s]) - D before.

Definition sorted := StronglySorted (fun s t => D [t] <= D [s]).

Lemma gain F before s : additive F -> NoDup (before ++ [s]) ->
  incl before F -> In s F -> D (before ++ [s]) - D before = D [s].
Proof.
  intros Ad N I Is; rewrite (Ad (before ++ [s])), (Ad before);
    auto using incl_app, incl_cons, incl_nil_l.
  - rewrite sum_app; simpl; ring.
  - apply NoDup_remove_1 in N; now rewrite app_nil_r in N.
Qed.

Lemma no_dup_left (l r : list S) : NoDup (l ++ r) -> NoDup l.
Proof.
  induction l as [|a l IH]; simpl; intros N; [constructor|].
  inversion N; subst; constructor; [rewrite in_app_iff in *; tauto|auto].
Qed.

Lemma no_dup_one (before rest : list S) u :
  NoDup (before ++ rest) -> In u rest -> NoDup (before ++ [u]).
Proof.
  intros N I; destruct (in_split _ _ I) as (l & r & ->).
  apply (no_dup_left _ (l ++ r)).
  apply (Permutation_NoDup (l := before ++ l ++ u :: r)); trivial.
  rewrite <- app_assoc; apply Permutation_app_head; simpl.
  symmetry; apply Permutation_middle.
Qed.

Lemma sorted_iff chosen : sorted chosen <->
  forall before s after t,
  chosen = before ++ s :: after -> In t after -> D [t] <= D [s].
Proof.
  split.
  - induction 1 as [|a rest _ IH L]; intros [|b before] s after t E I;
      inversion E; subst; [|eauto].
    rewrite Forall_forall in L; auto.
  - induction chosen as [|a rest IH]; intros O; constructor.
    + apply IH; intros before s after t E; apply (O (a :: before) s).
      now rewrite E.
    + apply Forall_forall; intros t; now apply (O [] a rest).
Qed.

(* book: thm-ad-greedy *)
Theorem greedy_is_sorting F chosen : NoDup F -> additive F ->
  (greedy_order F chosen <-> Permutation chosen F /\ sorted chosen).
Proof.
  intros NF Ad; unfold greedy_order; rewrite sorted_iff.
  assert (G : Permutation chosen F -> forall before s after t,
    chosen = before ++ s :: after -> In t after ->
    D (before ++ [s]) - D before = D [s] /\
    D (before ++ [t]) - D before = D [t]).
  { intros Pm before s after t E I.
    assert (Sub : forall u, In u (before ++ s :: after) -> In u F)
      by (rewrite <- E; intros u; apply Permutation_in; trivial).
    assert (ND : NoDup (before ++ s :: after))
      by (rewrite <- E; apply (Permutation_NoDup (Permutation_sym Pm)), NF).
    split; apply (gain F); trivial;
      try (apply (no_dup_one _ _ _ ND); simpl; auto);
      try intros u Iu; apply Sub; rewrite in_app_iff; simpl; auto. }
  split; intros [Pm O]; split; trivial; intros before s after t E I;
    specialize (O before s after t E I);
    destruct (G Pm before s after t E I); lra.
Qed.

Lemma best_of_sorted chosen : sorted chosen ->
  forall B, NoDup B -> incl B chosen ->
  ∑ s ∈ B, D [s] <= ∑ s ∈ (firstn (length B) chosen), D [s].
Proof.
  induction 1 as [|a rest _ IH L]; intros B N I.
  - apply incl_l_nil in I; subst; simpl; lra.
  - rewrite Forall_forall in L.
    assert (Cut : forall C, NoDup C -> incl C (a :: rest) -> ~ In a C ->
      incl C rest).
    { intros C _ IC NC u Iu; destruct (IC u Iu) as [<-|]; easy. }
    destruct (Classical_Prop.classic (In a B)) as [Ia|Na].
    + destruct (in_split _ _ Ia) as (l & r & ->).
      pose proof (NoDup_remove _ _ _ N) as [N' Na].
      rewrite (sum_permutation _ (a :: l ++ r))
        by (symmetry; apply Permutation_middle).
      rewrite (Permutation_length (l' := a :: l ++ r))
        by (symmetry; apply Permutation_middle).
      simpl; apply Rplus_le_compat_l, IH; trivial; apply Cut; trivial.
      intros u Iu; apply I; rewrite in_app_iff in *; simpl; tauto.
    + destruct B as [|b B]; [simpl; lra|].
      pose proof (Cut _ N I Na) as IB; inversion N; subst; simpl.
      apply Rplus_le_compat; [apply L, IB; now left|].
      apply IH; trivial; intros u Iu; apply IB; now right.
Qed.

(* book: thm-ad-greedy *)
Theorem greedy_is_best F chosen B : NoDup F -> additive F ->
  greedy_order F chosen -> NoDup B -> incl B F -> D B <= D (firstn (length B) chosen).
Proof.
  intros NF Ad G N I; apply greedy_is_sorting in G; trivial.
  destruct G as [Pm O].
  assert (NC : NoDup chosen)
    by apply (Permutation_NoDup (Permutation_sym Pm) NF).
  rewrite !Ad; trivial.
  - apply best_of_sorted; trivial; intros s Is.
    apply (Permutation_in s (Permutation_sym Pm)); auto.
  - rewrite <- (firstn_skipn (length B) chosen) in NC.
    now apply no_dup_left in NC.
  - intros s Is; apply (Permutation_in s Pm).
    rewrite <- (firstn_skipn (length B)), in_app_iff; auto.
Qed.

End Greedy.

(** What the two theorems need holds for J and for JS_GM. *)

(* book: thm-ad-greedy *)
Theorem j_is_additive {S U} (V : S -> list U) p q F :
  (forall s, In s F -> comparable V p q s /\ comparable V q p s) ->
  additive (fun A => J (cells V A) (joint p A) (joint q A)) F.
Proof.
  intros C A _ I; rewrite j_adds_up by auto.
  apply sum_ext; intros s Is; rewrite j_adds_up; [simpl; ring|].
  intros t [<-|[]]; auto.
Qed.

(* book: thm-ad-greedy *)
Theorem js_gm_is_additive {S U C} (V : S -> list U) (K : list C) π p F :
  weights K π -> (forall s, In s F -> all_comparable V K p s) ->
  additive (fun A => JS_GM (cells V A) K π (joints p A)) F.
Proof.
  intros W Q A _ I; rewrite js_gm_adds_up by auto.
  apply sum_ext; intros s Is; rewrite js_gm_adds_up; trivial; [simpl; ring|].
  intros t [<-|[]]; auto.
Qed.
