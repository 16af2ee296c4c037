(* The bounds of docs/soundness.md with the numbers of BLS12-381 and BN254. *)

From Coq Require Import ZArith Znumtheory Lia.
From mathcomp Require Import all_ssreflect ssralg.
From Quorate Require Import Counting Action Numbers Primes Digits Batch Membership.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

(* The parameter of BLS12-381, and what follows from it. *)
Definition bls_z : Z := (- 0xd201000000010000)%Z.
Definition bls_r : Z := (bls_z ^ 4 - bls_z ^ 2 + 1)%Z.
Definition bls_lambda : Z := (- bls_z ^ 2)%Z.
Definition bls_h1 : Z := ((bls_z - 1) ^ 2 / 3)%Z.
Definition bls_p : Z := (bls_h1 * bls_r + bls_z)%Z.
Definition bls_h2 : Z :=
  ((bls_z ^ 8 - 4 * bls_z ^ 7 + 5 * bls_z ^ 6 - 4 * bls_z ^ 4 + 6 * bls_z ^ 3 - 4 * bls_z ^ 2 - 4 * bls_z + 13) / 9)%Z.

(* The parameter of BN254. *)
Definition bn_u : Z := 4965661367192848881%Z.
Definition bn_p : Z := (36 * bn_u ^ 4 + 36 * bn_u ^ 3 + 24 * bn_u ^ 2 + 6 * bn_u + 1)%Z.
Definition bn_r : Z := (36 * bn_u ^ 4 + 36 * bn_u ^ 3 + 18 * bn_u ^ 2 + 6 * bn_u + 1)%Z.
Definition bn_lambda : Z := (36 * bn_u ^ 3 + 18 * bn_u ^ 2 + 6 * bn_u + 1)%Z.
(* The cofactor of the twist. *)
Definition bn_h2 : Z := (2 * bn_p - bn_r)%Z.

Ltac computed := vm_cast_no_check (erefl true).

Lemma Zeq_by_computing (a b : Z) : (a =? b)%Z = true -> a = b.
Proof. by move/Z.eqb_eq. Qed.

(* The factors of the cofactors in the table of docs/soundness.md. No lemma needs that they are prime. *)
Lemma bls_h1_factors : bls_h1 = (3 * 11 ^ 2 * 10177 ^ 2 * 859267 ^ 2 * 52437899 ^ 2)%Z.
Proof. apply: Zeq_by_computing; computed. Qed.

Lemma bls_h2_factors : exists q,
  bls_h2 = (13 ^ 2 * 23 ^ 2 * 2713 * 11953 * 262069 * q)%Z /\ (2 ^ 447 < q < 2 ^ 448)%Z.
Proof.
exists (bls_h2 / (13 ^ 2 * 23 ^ 2 * 2713 * 11953 * 262069))%Z; split; first by apply: Zeq_by_computing; computed.
by split; apply/Z.ltb_lt; computed.
Qed.

(* The orders are those of a curve and of a sextic twist of it over the field of p^2 elements, by the traces t and t^2 - 2p. Which of the six
   twists it is, and that the curves have these traces, is not proved here. *)
Lemma bls_orders : let t := (bls_z + 1)%Z in let t2 := (t ^ 2 - 2 * bls_p)%Z in exists f,
  [/\ bls_h1 * bls_r = bls_p + 1 - t, 4 * bls_p ^ 2 - t2 ^ 2 = 3 * f ^ 2 & 2 * (bls_h2 * bls_r) = 2 * (bls_p ^ 2 + 1) - (t2 - 3 * f)]%Z.
Proof.
exists (Z.sqrt ((4 * bls_p ^ 2 - ((bls_z + 1) ^ 2 - 2 * bls_p) ^ 2) / 3)).
by split; apply: Zeq_by_computing; computed.
Qed.

Lemma bn_orders : let t := (6 * bn_u ^ 2 + 1)%Z in let t2 := (t ^ 2 - 2 * bn_p)%Z in exists f,
  [/\ bn_r = bn_p + 1 - t, 4 * bn_p ^ 2 - t2 ^ 2 = 3 * f ^ 2 & 2 * (bn_h2 * bn_r) = 2 * (bn_p ^ 2 + 1) - (t2 + 3 * f)]%Z.
Proof.
exists (Z.sqrt ((4 * bn_p ^ 2 - ((6 * bn_u ^ 2 + 1) ^ 2 - 2 * bn_p) ^ 2) / 3)).
by split; apply: Zeq_by_computing; computed.
Qed.

(* The fields, as every implementation writes them. *)
Lemma moduli :
  bls_p = 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab%Z /\
  bn_p = 21888242871839275222246405745257275088696311157297823662689037894645226208583%Z.
Proof. by split; apply: Zeq_by_computing; computed. Qed.

Lemma bls_r_is_prime : Znumtheory.prime bls_r.
Proof.
have -> : bls_r = Zpos 52435875175126190479447740508185965837690552500527637822603658699938581184513.
  apply: Zeq_by_computing; computed.
exact: bls12_381_order_is_prime.
Qed.

Lemma bn_r_is_prime : Znumtheory.prime bn_r.
Proof.
have -> : bn_r = Zpos 21888242871839275222246405745257275088548364400416034343698204186575808495617.
  apply: Zeq_by_computing; computed.
exact: bn254_order_is_prime.
Qed.

Lemma bls_lambda_root : (bls_r | bls_lambda * bls_lambda + bls_lambda + 1)%Z.
Proof. exists 1%Z; apply: Zeq_by_computing; computed. Qed.

Lemma bn_lambda_root : (bn_r | bn_lambda * bn_lambda + bn_lambda + 1)%Z.
Proof. exists ((bn_lambda * bn_lambda + bn_lambda + 1) / bn_r)%Z; apply: Zeq_by_computing; computed. Qed.

Section Batches.

(* Weights of d digits in a group of prime order r. *)
Variables (V : zmodType) (r lambda : Z) (d : nat).
Hypothesis r_prime : Znumtheory.prime r.
Hypothesis lambda_root : (r | lambda * lambda + lambda + 1)%Z.
Hypothesis r_large : (16 * 16 ^ Z.of_nat d <= 3 * r)%Z.
Variables (I : finType) (v : I -> V).
Hypothesis values_have_order_r : forall i, zmul r (v i) = 0.

Definition number (w : weight d) : Z := multiplier lambda (codom (val w)).

Let r_positive : (0 < r)%Z.
Proof. by have := Znumtheory.prime_ge_2 r r_prime; lia. Qed.

Lemma codom_inj (f g : {ffun 'I_d -> 'I_16}) : codom f = codom g -> f = g.
Proof. by move=> E; apply/ffunP=> i; have := congr1 (fun s => nth ord0 s (enum_rank i)) E; rewrite !nth_codom !enum_rankK. Qed.

Lemma size_digits (f : {ffun 'I_d -> 'I_16}) : size (codom f) = d.
Proof. by rewrite size_codom card_ord. Qed.

Lemma numbers_differ (a b : weight d) : (number a mod r = number b mod r)%Z -> a = b.
Proof.
move=> E; apply/val_inj/codom_inj.
exact: (weights_differ r_positive lambda_root r_large (size_digits _) (size_digits _) E).
Qed.

Lemma numbers_not_zero (a : weight d) : (number a mod r <> 0)%Z.
Proof.
move=> E; have /negP := valP a; apply; apply/eqP/codom_inj.
apply: (weights_differ r_positive lambda_root r_large (size_digits _) (size_digits _)).
rewrite /number in E; rewrite E.
suff -> : multiplier lambda (codom ([ffun=> ord0] : {ffun 'I_d -> 'I_16})) = 0%Z by rewrite Z.mod_0_l //; lia.
rewrite /multiplier; suff -> : value (codom ([ffun=> ord0] : {ffun 'I_d -> 'I_16})) = (0, 0)%Z by [].
have : all (pred1 ord0) (codom ([ffun=> ord0] : {ffun 'I_d -> 'I_16})).
  by apply/allP=> x /codomP[i ->]; rewrite ffunE /=.
by elim: (codom _) => //= x s IH /andP[/eqP -> /IH ->].
Qed.

(* "A batch with a false claim passes with probability at most 1/(2^64 - 1), or 1/(2^128 - 1)." *)
Theorem weighted_batch_bound (S : {set I}) : ~~ all_true v S ->
  (#|[set w | weighted number v w S == 0%R]| * (16 ^ d).-1 <= #|{: {ffun I -> weight d}}|)%N.
Proof.
by move=> fS; rewrite card_ffun -[X in (_ * X)%N](card_weight d); apply: (false_batch_passes_rarely r_prime numbers_differ).
Qed.

Theorem weighted_search_bound (Verdicts : eqType) (s : search I Verdicts) :
  (#|[set w | run (fun S => weighted number v w S == 0%R) s != run (all_true v) s]| * (16 ^ d).-1
   <= size (false_sets v s) * #|{: {ffun I -> weight d}}|)%N.
Proof. by rewrite card_ffun -[X in (_ * X <= _)%N](card_weight d); apply: (search_bound r_prime numbers_differ). Qed.

End Batches.

Lemma sixteen (d : nat) : (16 ^ d = 2 ^ (4 * d))%N.
Proof. by rewrite expnM. Qed.

(* d = 16 and d = 32 on both curves: probabilities of 1/(2^64 - 1) and 1/(2^128 - 1). *)
Definition soundness_digits (d : nat) : bool := (d == 16%N) || (d == 32%N).

Lemma bls_r_large d : soundness_digits d -> (16 * 16 ^ Z.of_nat d <= 3 * bls_r)%Z.
Proof. by case/orP=> /eqP ->; apply/Z.leb_le; computed. Qed.

Lemma bn_r_large d : soundness_digits d -> (16 * 16 ^ Z.of_nat d <= 3 * bn_r)%Z.
Proof. by case/orP=> /eqP ->; apply/Z.leb_le; computed. Qed.

Theorem bls_batch (V : zmodType) (I : finType) (v : I -> V) (S : {set I}) (d : nat) :
  (forall i, zmul bls_r (v i) = 0) -> soundness_digits d -> ~~ all_true v S ->
  (#|[set w | weighted (number bls_lambda (d := d)) v w S == 0%R]| * (2 ^ (4 * d)).-1 <= #|{: {ffun I -> weight d}}|)%N.
Proof.
move=> vr ds fS; rewrite -sixteen.
exact: (weighted_batch_bound bls_r_is_prime bls_lambda_root (bls_r_large ds) vr fS).
Qed.

Theorem bn_batch (V : zmodType) (I : finType) (v : I -> V) (S : {set I}) (d : nat) :
  (forall i, zmul bn_r (v i) = 0) -> soundness_digits d -> ~~ all_true v S ->
  (#|[set w | weighted (number bn_lambda (d := d)) v w S == 0%R]| * (2 ^ (4 * d)).-1 <= #|{: {ffun I -> weight d}}|)%N.
Proof.
move=> vr ds fS; rewrite -sixteen.
exact: (weighted_batch_bound bn_r_is_prime bn_lambda_root (bn_r_large ds) vr fS).
Qed.

Lemma coprime_to_all (ns : seq Z) h :
  all (fun m => Z.gcd m h =? 1)%Z ns = true -> forall n, one_of ns n -> Z.gcd n h = 1%Z.
Proof.
by elim: ns => [//|m ns IH] /= /andP[/Z.eqb_eq g H] n; rewrite /one_of /= => /orP[/Z.eqb_eq -> //|]; apply: IH.
Qed.

Section Membership.

(* The points of a curve, of which there are h*r, and its endomorphism. Point k is outside. *)
Variables (V : zmodType) (omega : {additive V -> V}) (I : finType) (p : I -> V) (k : I).
Hypothesis omega_root : forall v : V, omega (omega v) + omega v + v = 0.

(* The column m of the table. *)
Lemma bls_g1_equal : at_most_equal omega bls_h1 7.
Proof. by apply: (at_most_seven omega_root); apply: coprime_to_all; computed. Qed.

Lemma bls_g2_equal : at_most_equal omega bls_h2 2.
Proof. by apply: (at_most_two omega_root); apply: coprime_to_all; computed. Qed.

Lemma bn_g2_equal : at_most_equal omega bn_h2 1.
Proof. by apply: (at_most_one omega_root); apply: coprime_to_all; computed. Qed.

Lemma bls_h1_odd : Z.gcd 2 bls_h1 = 1%Z.
Proof. by apply: Zeq_by_computing; computed. Qed.

Lemma bls_h2_odd : Z.gcd 2 bls_h2 = 1%Z.
Proof. by apply: Zeq_by_computing; computed. Qed.

Lemma bn_h2_odd : Z.gcd 2 bn_h2 = 1%Z.
Proof. by apply: Zeq_by_computing; computed. Qed.

Notation passes r at_place := [set f | sums_pass omega r p at_place f].

(* G2 of BLS12-381: the positions of the weight and 6 or 11 further ones. 2^-66 and 2^-129, times 2^64/(2^64 - 1) or 2^128/(2^128 - 1),
   because no weight is zero. *)
Theorem bls_g2_miss_64 : (forall v : V, zmul (bls_h2 * bls_r) v = 0) -> ~~ is_member bls_r (p k) ->
  (#|passes bls_r (@with_digits 16 6)| * (2 ^ 66 * (2 ^ 64).-1) <=
   2 ^ 64 * #|{: {ffun I -> weight 16 * {ffun 'I_6 -> 'I_16}}}|)%N.
Proof.
move=> order out; apply: (scale (@miss_with_digits V omega _ _ order I p _ 16 6 k bls_g2_equal out)); by_computing.
Qed.

Theorem bls_g2_miss_128 : (forall v : V, zmul (bls_h2 * bls_r) v = 0) -> ~~ is_member bls_r (p k) ->
  (#|passes bls_r (@with_digits 32 11)| * (2 ^ 129 * (2 ^ 128).-1) <=
   2 ^ 128 * #|{: {ffun I -> weight 32 * {ffun 'I_11 -> 'I_16}}}|)%N.
Proof.
move=> order out; apply: (scale (@miss_with_digits V omega _ _ order I p _ 32 11 k bls_g2_equal out)); by_computing.
Qed.

(* The twist of BN254: the positions of the weight alone. *)
Theorem bn_g2_miss_64 : (forall v : V, zmul (bn_h2 * bn_r) v = 0) -> ~~ is_member bn_r (p k) ->
  (#|passes bn_r (@with_digits 16 0)| * (2 ^ 64).-1 <= 1 * #|{: {ffun I -> weight 16 * {ffun 'I_0 -> 'I_16}}}|)%N.
Proof.
move=> order out; apply: (scale (@miss_with_digits V omega _ _ order I p _ 16 0 k bn_g2_equal out)); by_computing.
Qed.

Theorem bn_g2_miss_128 : (forall v : V, zmul (bn_h2 * bn_r) v = 0) -> ~~ is_member bn_r (p k) ->
  (#|passes bn_r (@with_digits 32 0)| * (2 ^ 128).-1 <= 1 * #|{: {ffun I -> weight 32 * {ffun 'I_0 -> 'I_16}}}|)%N.
Proof.
move=> order out; apply: (scale (@miss_with_digits V omega _ _ order I p _ 32 0 k bn_g2_equal out)); by_computing.
Qed.

(* G1 of BLS12-381, 64 bits: the positions of the weight, and 29 digits 0, 1 and -1 from a word of 64 bits. Less than 2^-65. *)
Theorem bls_g1_miss_64 : (forall v : V, zmul (bls_h1 * bls_r) v = 0) -> ~~ is_member bls_r (p k) ->
  (#|passes bls_r (@with_trits 16 (2 ^ 64) 29)| * 2 ^ 65 <= 1 * #|{: {ffun I -> weight 16 * 'I_(2 ^ 64)}}|)%N.
Proof.
move=> order out; apply: (scale (@miss_with_trits V omega _ _ order bls_h1_odd I p _ 16 _ 29 k bls_g1_equal _ out)); by_computing.
Qed.

(* The keys of a set: 84 digits 0, 1 and -1, of which each of four words of 64 bits gives 21. Less than 2^-133. *)
Theorem bls_g1_keys_miss : (forall v : V, zmul (bls_h1 * bls_r) v = 0) -> ~~ is_member bls_r (p k) ->
  (#|passes bls_r (@of_words 4 (2 ^ 64) 21)| * 2 ^ 133 <= 1 * #|{: {ffun I -> {ffun 'I_4 -> 'I_(2 ^ 64)}}}|)%N.
Proof.
move=> order out; apply: (scale (@miss_of_words V omega _ _ order bls_h1_odd I p 4 _ 21 k _ out)); by_computing.
Qed.

Theorem bls_g2_keys_miss : (forall v : V, zmul (bls_h2 * bls_r) v = 0) -> ~~ is_member bls_r (p k) ->
  (#|passes bls_r (@of_words 4 (2 ^ 64) 21)| * 2 ^ 133 <= 1 * #|{: {ffun I -> {ffun 'I_4 -> 'I_(2 ^ 64)}}}|)%N.
Proof.
move=> order out; apply: (scale (@miss_of_words V omega _ _ order bls_h2_odd I p 4 _ 21 k _ out)); by_computing.
Qed.

Theorem bn_g2_keys_miss : (forall v : V, zmul (bn_h2 * bn_r) v = 0) -> ~~ is_member bn_r (p k) ->
  (#|passes bn_r (@of_words 4 (2 ^ 64) 21)| * 2 ^ 133 <= 1 * #|{: {ffun I -> {ffun 'I_4 -> 'I_(2 ^ 64)}}}|)%N.
Proof.
move=> order out; apply: (scale (@miss_of_words V omega _ _ order bn_h2_odd I p 4 _ 21 k _ out)); by_computing.
Qed.

End Membership.
