(** Codes and regret (book/chapters/codes-and-regret.md), and minimax entropy
    (book/chapters/maximum-entropy-nml.md).

    X lists all sequences x^n. A code is a measure q of sum at most one
    (Kraft), of lengths - log q; where q x = 0 the length is infinite. *)

From Proofs Require Export MaximumEntropy.

Section Regret.
Context {A : Type} (X : list A).

Definition code (q : A -> R) := measure X q /\ ∑ x ∈ X, q x <= 1.

(** p̂, the largest likelihood with hindsight: any measure with some mass *)
Variable best : A -> R.
Definition 𝒞 := ∑ x ∈ X, best x.
Definition nml x := best x / 𝒞.
Definition regret (q : A -> R) x := - ln (q x) + ln (best x).

(** The worst regret of q is finite, and at most r. *)
Definition worst_regret_at_most q r :=
  forall x, In x X -> 0 < best x -> 0 < q x /\ regret q x <= r.

Hypothesis likelihoods : measure X best.
Hypothesis mass : 0 < 𝒞.

Lemma nml_code : measure X nml /\ ∑ x ∈ X, nml x = 1.
Proof.
  unfold nml; split.
  - intros x I; apply Rmult_le_pos; auto using Rlt_le, Rinv_0_lt_compat.
  - unfold Rdiv; rewrite sum_scale_r; fold 𝒞; field; lra.
Qed.

(** - log q_NML = error + complexity *)
(* book: thm-cr-shtarkov *)
Theorem nml_regret x : In x X -> 0 < best x ->
  0 < nml x /\ - ln (nml x) = - ln (best x) + ln 𝒞 /\ regret nml x = ln 𝒞.
Proof.
  intros I P; assert (0 < nml x) by (apply Rdiv_lt_0_compat; trivial).
  unfold regret, nml in *; rewrite ln_div by trivial; lra.
Qed.

Lemma at_least_nml q : code q -> worst_regret_at_most q (ln 𝒞) ->
  forall x, In x X -> nml x <= q x.
Proof.
  intros [M _] B x I; destruct (likelihoods x I) as [P|Z].
  - destruct (B x I P) as [Q L]; destruct (nml_regret x I P) as (N & E & _).
    destruct (Rle_or_lt (nml x) (q x)) as [|Lt]; trivial.
    apply ln_increasing in Lt; trivial; unfold regret in L; lra.
  - unfold nml, Rdiv; rewrite <- Z, Rmult_0_l; auto.
Qed.

(* book: thm-cr-shtarkov *)
Theorem only_nml_has_least_worst_regret q : code q ->
  (worst_regret_at_most q (ln 𝒞) <-> equal_on X q nml).
Proof.
  intros Q; split; [intros B x I|intros E x I P].
  - symmetry; revert x I; apply sum_le_eq; [apply at_least_nml; trivial|].
    pose proof (sum_le X nml q (at_least_nml q Q B)).
    destruct nml_code, Q; lra.
  - destruct (nml_regret x I P) as (N & _ & L).
    unfold regret in *; rewrite (E x I); lra.
Qed.

(* book: thm-cr-shtarkov *)
Theorem minimax_regret q r : code q -> worst_regret_at_most q r -> ln 𝒞 <= r.
Proof.
  intros Q B; destruct (Rle_or_lt (ln 𝒞) r) as [|L]; trivial.
  assert (E : equal_on X q nml).
  { apply only_nml_has_least_worst_regret; trivial.
    intros x I P; destruct (B x I P); lra. }
  assert (Some : exists x, In x X /\ 0 < best x).
  { apply Classical_Prop.NNPP; intros No.
    assert (𝒞 = 0); [|lra].
    transitivity (∑ x ∈ X, 0); [|apply sum_zero].
    apply sum_ext; intros x I; destruct (likelihoods x I); [|auto].
    destruct No; now exists x. }
  destruct Some as (x & I & P); destruct (B x I P) as [_ W].
  destruct (nml_regret x I P) as (_ & _ & N).
  unfold regret in *; rewrite (E x I) in W; lra.
Qed.

End Regret.

Section TwoPart.
Context {A I : Type} (X : list A) (members : list I).
Variables (w : I -> R) (p : I -> A -> R).
Hypothesis W : forall j, In j members -> 0 < w j.
Hypothesis W1 : ∑ j ∈ members, w j <= 1.
Hypothesis P : forall j, In j members -> distribution X (p j).

(** The best j makes - log w j - log p j x least, so w j * p j x largest. *)
Fixpoint largest (L : list I) (f : I -> R) :=
  match L with [] => 0 | j :: rest => Rmax (f j) (largest rest f) end.

Definition two_part x := largest members (fun j => w j * p j x).
Definition mixed x := ∑ j ∈ members, w j * p j x.

Lemma largest_spec L (f : I -> R) : (forall j, In j L -> 0 <= f j) ->
  (forall j, In j L -> f j <= largest L f) /\
  (largest L f = 0 \/ exists j, In j L /\ largest L f = f j).
Proof.
  induction L as [|j rest IH]; simpl; intros N; [split; [easy|auto]|].
  destruct IH as [B E]; [auto|]; split.
  - intros i [<-|Ii]; [apply Rmax_l|].
    apply Rle_trans with (largest rest f); [auto|apply Rmax_r].
  - destruct (Rle_or_lt (f j) (largest rest f)) as [L|L].
    + rewrite Rmax_right by trivial.
      destruct E as [E|(i & Ii & E)]; [auto|right; exists i; auto].
    + right; exists j; rewrite Rmax_left by lra; auto.
Qed.

Lemma share_nonneg x j : In x X -> In j members -> 0 <= w j * p j x.
Proof.
  intros Ix Ij; apply Rmult_le_pos; [apply Rlt_le, W, Ij|apply P; trivial].
Qed.

(** The length of the two-part code is the least of the two-part lengths. *)
(* book: prop-cr-two-part *)
Theorem two_part_length x j : In x X -> In j members -> 0 < p j x ->
  0 < two_part x /\ - ln (two_part x) <= - ln (w j) - ln (p j x) /\
  exists i, In i members /\ 0 < p i x /\
    - ln (two_part x) = - ln (w i) - ln (p i x).
Proof.
  intros Ix Ij Q; assert (0 < w j) by (apply W, Ij).
  assert (S : 0 < w j * p j x) by (apply Rmult_lt_0_compat; trivial).
  destruct (largest_spec members (fun j => w j * p j x)) as [B E];
    [intros; apply share_nonneg; trivial|]; fold (two_part x) in B, E.
  pose proof (B j Ij) as L; assert (T : 0 < two_part x) by lra.
  repeat split; trivial.
  - destruct L as [L|<-]; [apply ln_increasing in L; trivial|];
      rewrite ln_mult in * by trivial; lra.
  - destruct E as [E|(i & Ii & E)]; [lra|]; exists i.
    assert (0 < w i) by (apply W, Ii).
    assert (0 < p i x).
    { destruct (proj1 (P i Ii) x Ix) as [|Z]; trivial.
      rewrite <- Z, Rmult_0_r in E; lra. }
    repeat split; trivial; rewrite E, ln_mult by trivial; ring.
Qed.

Lemma two_part_le_mixed x : In x X -> two_part x <= mixed x.
Proof.
  intros Ix.
  destruct (largest_spec members (fun j => w j * p j x)) as [_ E];
    [intros; apply share_nonneg; trivial|]; fold (two_part x) in E.
  destruct E as [->|(i & Ii & ->)].
  - apply sum_nonneg; intros; apply share_nonneg; trivial.
  - apply (term_le_sum members (fun j => w j * p j x)); trivial.
    intros; apply share_nonneg; trivial.
Qed.

(* book: prop-cr-two-part *)
Theorem two_part_obeys_kraft :
  ∑ x ∈ X, two_part x <= 1 /\ ∑ x ∈ X, mixed x <= 1.
Proof.
  assert (M : ∑ x ∈ X, mixed x <= 1).
  { unfold mixed; rewrite sum_swap.
    rewrite (sum_ext members _ w); trivial; intros j Ij.
    rewrite sum_scale, (proj2 (P j Ij)); ring. }
  split; [|trivial].
  pose proof (sum_le X two_part mixed two_part_le_mixed); lra.
Qed.

(* book: prop-cr-two-part *)
Theorem mixture_is_shorter x j : In x X -> In j members -> 0 < p j x ->
  - ln (mixed x) <= - ln (two_part x) /\
  (forall i, In i members -> i <> j -> 0 < p i x ->
   - ln (mixed x) < - ln (two_part x)).
Proof.
  intros Ix Ij Q; destruct (two_part_length x j Ix Ij Q) as (T & _ & _).
  split.
  - destruct (two_part_le_mixed x Ix) as [L|<-]; [|lra].
    apply ln_increasing in L; trivial; lra.
  - intros i Ii D Q'; assert (two_part x < mixed x) as L;
      [|apply ln_increasing in L; trivial; lra].
    assert (N : forall j, In j members -> 0 <= w j * p j x)
      by (intros; apply share_nonneg; trivial).
    destruct (largest_spec members (fun j => w j * p j x) N) as [_ E].
    fold (two_part x) in E; destruct E as [E|(k & Ik & E)]; [lra|].
    assert (Other : exists l, In l members /\ l <> k /\ 0 < w l * p l x).
    { destruct (Classical_Prop.classic (j = k)) as [<-|Dj].
      - exists i; repeat split; trivial; apply Rmult_lt_0_compat; auto.
      - exists j; repeat split; trivial; apply Rmult_lt_0_compat; auto. }
    destruct Other as (l & Il & Dl & Pl).
    pose proof (two_terms_le_sum members (fun j => w j * p j x) l k
      N Il Ik Dl) as B; unfold mixed; cbv beta in *; lra.
Qed.

End TwoPart.

Section MinimaxEntropy.
Context {A F M : Type} (X : list A) (Φ : M -> list F) (φ : M -> F -> A -> R).
Variables (sets : list M) (rows : list A) (λ : M -> F -> R) (complexity : M -> R).

(** For each set of features m: the fitted density, the length of the sample
    under NML, and its largest entropy. *)
Definition fit m := member X (Φ m) (φ m) (λ m).
Definition nml_length m := - ln (likelihood rows (fit m)) + complexity m.

Definition shortest m := forall m', In m' sets -> nml_length m <= nml_length m'.

(** m attains the minimum over sets of the maximum over distributions p with
    the moments of the sample of H(p). *)
Definition minimax_entropy m := forall m', In m' sets ->
  forall p, has_means X (Φ m) (φ m) p (sample_mean (φ m) rows) ->
  exists p', has_means X (Φ m') (φ m') p' (sample_mean (φ m') rows) /\
  H X p <= H X p'.

(* book: cor-gm-minimax *)
Theorem equal_complexities_give_minimax_entropy m :
  X <> [] -> rows <> [] -> In m sets ->
  (forall m', In m' sets ->
    has_means X (Φ m') (φ m') (fit m') (sample_mean (φ m') rows)) ->
  (forall m', In m' sets -> complexity m' = complexity m) ->
  (shortest m <-> minimax_entropy m).
Proof.
  intros NX N Im Fit Eq; pose proof (size_pos rows N) as S.
  assert (Len : forall m', In m' sets ->
    nml_length m' = size rows * H X (fit m') + complexity m).
  { intros m' I; unfold nml_length; rewrite (Eq m' I).
    destruct (largest_likelihood X _ _ rows (λ m') NX N (Fit m' I))
      as (_ & L & _).
    fold (fit m') in L; rewrite L, ln_exp; ring. }
  assert (Max : forall m', In m' sets -> forall p,
    has_means X (Φ m') (φ m') p (sample_mean (φ m') rows) ->
    H X p <= H X (fit m')).
  { intros m' I; apply (largest_likelihood X _ _ rows (λ m') NX N (Fit m' I)). }
  split; intros B m' I.
  - intros p D; exists (fit m'); split; [auto|].
    pose proof (Max m Im p D); specialize (B m' I).
    rewrite !Len in B by trivial; nra.
  - destruct (B m' I (fit m) (Fit m Im)) as (p' & D & L).
    pose proof (Max m' I p' D); rewrite !Len by trivial; nra.
Qed.

End MinimaxEntropy.
