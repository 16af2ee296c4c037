(* Keys that are summed with coefficients. *)

From Coq Require Import ZArith Znumtheory Lia.
From mathcomp Require Import all_ssreflect ssralg.
From Quorate Require Import Counting Action Numbers Digits Batch Membership Curves.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

Section Coefficients.

(* The 128 bits that a hash gives for a key are a weight of d digits. If all are zero, the weight is one. *)
Variables (d : nat) (one : weight d).

Definition weight_of (bits : {ffun 'I_d -> 'I_16}) : weight d := insubd one bits.

(* So at most two strings of bits are one weight. *)
Lemma strings_of_a_weight (w : weight d) : (#|[set bits | weight_of bits == w]| <= 2)%N.
Proof.
apply: (@leq_trans #|[set val w; [ffun=> ord0]]|); last by rewrite cards2 ltnS leq_b1.
apply/subset_leq_card/subsetP=> bits; rewrite !inE /weight_of /insubd => /eqP.
case: insubP => [u _ <- /= -> |]; first by rewrite eqxx.
by rewrite negbK => /eqP -> _; rewrite eqxx orbT.
Qed.

Variables (V : zmodType) (r lambda : Z).
Hypothesis r_prime : Znumtheory.prime r.
Hypothesis lambda_root : (r | lambda * lambda + lambda + 1)%Z.
Hypothesis r_large : (16 * 16 ^ Z.of_nat d <= 3 * r)%Z.

Notation number := (number lambda).

(* The keys of a set. Each has order r, or is zero. *)
Variables (I : finType) (key : I -> V).
Hypothesis keys_have_order_r : forall i, zmul r (key i) = 0.

(* The sum of the keys of a set that was fixed before its coefficients is a given point with probability at most 2/2^128. So a key that was
   chosen as a combination of others cancels nothing. *)
Theorem key_sum_bound k (target : V) : key k != 0 ->
  (#|[set bits : {ffun I -> {ffun 'I_d -> 'I_16}} | (\sum_i zmul (number (weight_of (bits i))) (key i) == target)%R]| * 16 ^ d
   <= 2 * (16 ^ d) ^ #|I|)%N.
Proof.
move=> k0; have -> : (16 ^ d = #|{ffun 'I_d -> 'I_16}|)%N by rewrite card_ffun !card_ord.
apply: (one_coordinate (k := k)) => f.
have [|[x]] := set_0Vmem [set w | \sum_i zmul (number (weight_of (upd f k w i))) (key i) == target].
  by move=> ->; rewrite cards0.
rewrite inE => /eqP Ex; apply: leq_trans (strings_of_a_weight (weight_of x)).
apply/subset_leq_card/subsetP=> y; rewrite !inE => /eqP Ey; apply/eqP.
apply: (numbers_differ r_prime lambda_root r_large); apply: (zmul_inj_mod r_prime (keys_have_order_r k) k0).
have same z : \sum_(i | i != k) zmul (number (weight_of (upd f k z i))) (key i) =
              \sum_(i | i != k) zmul (number (weight_of (f i))) (key i).
  by apply: eq_bigr => i ik; rewrite upd_other.
move: Ey; rewrite -Ex [LHS](bigD1 k) //= [RHS](bigD1 k) //= !upd_same !same.
exact: addIr.
Qed.

(* What the proof of Boneh, Drijvers and Neven does with two forgeries for one set, whose coefficients differ at one key: it computes x*B, the
   answer to the Diffie-Hellman problem, from their difference. *)
Theorem two_forgeries_solve (a a' : weight d) (xB rest s s' : V) : zmul r xB = 0 -> a != a' ->
  s = zmul (number a) xB + rest -> s' = zmul (number a') xB + rest ->
  exists c, (c * (number a - number a') mod r = 1)%Z /\ xB = zmul c (s - s').
Proof.
move=> order aa' -> ->; have r2 := Znumtheory.prime_ge_2 r r_prime.
have nd : ~ (r | number a - number a')%Z.
  move=> D; case/eqP: aa'; apply: (numbers_differ r_prime lambda_root r_large).
  case: D => q E; have -> : (number a = number a' + q * r)%Z by lia.
  by rewrite Z.mod_add //; lia.
have g : Z.gcd r (number a - number a') = 1%Z.
  by apply/Zgcd_1_rel_prime; apply: Znumtheory.prime_rel_prime.
have [u [c E]] := Z.gcd_bezout _ _ _ g.
exists c; split.
  have -> : (c * (number a - number a') = 1 + (- u) * r)%Z by lia.
  by rewrite Z.mod_add ?Z.mod_1_l; lia.
rewrite opprD addrACA subrr addr0 -zmulB -zmulA.
have -> : (c * (number a - number a') = 1 + (- u) * r)%Z by lia.
by rewrite zmulDl zmulA order zmul_zero addr0.
Qed.

End Coefficients.

Section Roster.

(* One hash gives a coefficient to each key of a roster: kyber's, c + 1 for a number c below C. *)
Variables (V : zmodType) (r : Z) (C : nat).
Hypothesis r_prime : Znumtheory.prime r.
Hypothesis C_small : (Z.of_nat C < r)%Z.

Definition kyber_number (c : 'I_C) : Z := (Z.of_nat c + 1)%Z.

Lemma kyber_numbers_differ a b : (kyber_number a mod r = kyber_number b mod r)%Z -> a = b.
Proof.
move=> E; apply/ord_inj/Nat2Z.inj; move: E; rewrite /kyber_number.
by have /ltP ? := ltn_ord a; have /ltP ? := ltn_ord b; rewrite !Z.mod_small; lia.
Qed.

(* The victim's key has the place k. The attacker fixes for each of its keys a multiple of the victim's key that it contains. *)
Variables (I : finType) (k : I) (factor : I -> Z) (victim : V).
Hypothesis victim_order : zmul r victim = 0.
Hypothesis victim_not_zero : victim != 0.

Definition part i : V := if i == k then victim else zmul (factor i) victim.

(* A subset of the other keys that cancels the victim's exists with probability at most 2^(n - 1)/C. *)
Theorem roster_bound :
  (#|[set c | has (fun T => weighted kyber_number part c (k |: T) == 0%R) (enum (powerset [set~ k]))]| * C
   <= 2 ^ #|I|.-1 * #|{: {ffun I -> 'I_C}}|)%N.
Proof.
have order i : zmul r (part i) = 0.
  by rewrite /part; case: eqP => // _; rewrite -zmulA Z.mul_comm zmulA victim_order zmul_zero.
apply: (leq_trans (leq_mul (union_bound _ _) (leqnn _))).
rewrite -(cardsC1 k) -card_powerset [X in (_ <= X * _)%N]cardE big_distrl /=.
elim: (enum _) => [|T s IH]; first by rewrite big_nil.
rewrite big_cons /= mulSn leq_add //; rewrite card_ffun card_ord -[X in (_ * X <= _)%N](card_ord C).
rewrite -[X in (_ <= X ^ _)%N](card_ord C).
apply: (batch_bound r_prime kyber_numbers_differ order (k := k)); first by rewrite in_setU1 eqxx.
by rewrite /part eqxx.
Qed.

End Roster.

(* The rosters of `bdn::kyber` have at most 64 keys, and coefficients from 128 bits: a given key is cancelled with probability at most 2^-65. *)
Theorem kyber_roster_bound (V : zmodType) (I : finType) (k : I) (factor : I -> Z) (victim : V) :
  zmul bls_r victim = 0 -> victim != 0 -> (#|I| <= 64)%N ->
  (#|[set c | has (fun T => weighted (@kyber_number (2 ^ 128)) (part k factor victim) c (k |: T) == 0%R) (enum (powerset [set~ k]))]| * 2 ^ 65
   <= 1 * #|{: {ffun I -> 'I_(2 ^ 128)}}|)%N.
Proof.
move=> order not_zero few.
have small : (Z.of_nat (2 ^ 128) < bls_r)%Z by rewrite Zof_exp; apply/Z.ltb_lt; vm_cast_no_check (erefl true).
have few63 : (#|I|.-1 <= 63)%N by case: #|I| few.
have H := roster_bound bls_r_is_prime small k factor order not_zero.
have H63 := leq_trans H (leq_mul (leq_pexp2l (isT : 0 < 2)%N few63) (leqnn _)).
by apply: (scale H63); [by_computing | rewrite expn_gt0].
Qed.
