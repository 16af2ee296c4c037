(* The bounds are tight, and the hypotheses needed: what holds no longer if one is changed. *)

From Coq Require Import ZArith Znumtheory Lia.
From mathcomp Require Import all_ssreflect ssralg zmodp.
From Quorate Require Import Counting Action Digits Words Batch Membership Rows Search Bdn.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

Lemma some_card (T : finType) (A : {set T}) (s : seq T) : uniq s -> {subset s <= A} -> (size s <= #|A|)%N.
Proof.
move=> un sub; rewrite cardE; apply: uniq_leq_size => // x /sub; by rewrite mem_enum.
Qed.

Definition nibble (i : nat) : 'I_16 := inord i.

Lemma digit_nibble i : (i < 16)%N -> digit (nibble i) = digit i.
Proof. by move=> H; rewrite /nibble /digit inordK. Qed.

Lemma nibbles_uniq (s : seq nat) : uniq s -> all (fun i => i < 16)%N s -> uniq [seq nibble i | i <- s].
Proof.
move=> un /allP small; rewrite map_inj_in_uniq // => i j /small Hi /small Hj /(congr1 val).
by rewrite /nibble /= !inordK.
Qed.

(* Without a large r, different weights are equal modulo r: here 2 and omega modulo 7, where omega is 2. *)
Lemma weights_are_equal_modulo_a_small_r :
  exists s t : seq 'I_16, [/\ size s = 1%N, size t = 1%N, s <> t & (multiplier 2 s mod 7 = multiplier 2 t mod 7)%Z].
Proof.
exists [:: nibble 7], [:: nibble 2]; split=> //.
  by move=> [] /(congr1 val); rewrite /nibble /= !inordK.
by rewrite /multiplier /= !digit_nibble.
Qed.

(* Without a prime r, two weights hide a false claim: 1*2 = 3*2 modulo 4. *)
Lemma two_weights_hide_a_claim_modulo_4 : exists v : 'Z_4, [/\ v != 0, zmul 4 v = 0 & zmul 1 v = zmul 3 v].
Proof. by exists 2%:R; split; [| apply/val_inj | apply/val_inj]. Qed.

(* In G2 two digits can be equal: here modulo 13, where omega is 3. *)
Definition three (v : 'Z_13) : 'Z_13 := v *+ 3.

Lemma three_additive : additive three.
Proof. by move=> v w; rewrite /three mulrnBl. Qed.

Definition omega_13 : {additive 'Z_13 -> 'Z_13} := Additive three_additive.

Lemma omega_13_root v : omega_13 (omega_13 v) + omega_13 v + v = 0.
Proof. by rewrite /= /three -mulrnA -mulrnDr -[X in _ + X]mulr1n -mulrnDr -mulr_natr (_ : (3 * 3 + 3 + 1)%:R = 0 :> 'Z_13) ?mulr0 //; apply/val_inj. Qed.

Lemma two_digits_are_equal_in_g2 : ~ at_most_equal omega_13 13 1.
Proof.
move=> H; have : (1 < #|[set i : 'I_16 | act omega_13 (digit i) 1 == 2%:R]|)%N.
  apply: (some_card (s := [seq nibble i | i <- [:: 7; 13]%N])); first exact: nibbles_uniq.
  by move=> i; rewrite !inE => /orP[] /eqP ->; rewrite digit_nibble //; apply/eqP/val_inj.
by rewrite ltnNge H //; apply/val_inj.
Qed.

(* In G1 seven digits can be: modulo 3, where omega is 1. *)
Lemma seven_digits_are_equal_in_g1 : ~ at_most_equal [additive of idfun : 'Z_3 -> 'Z_3] 3 6.
Proof.
move=> H; have : (6 < #|[set i : 'I_16 | act [additive of idfun : 'Z_3 -> 'Z_3] (digit i) 1 == 0%R]|)%N.
  apply: (some_card (s := [seq nibble i | i <- [:: 0; 10; 11; 12; 13; 14; 15]%N])); first exact: nibbles_uniq.
  by move=> i /mapP[j]; rewrite !inE => js ->; case/or4P: js => [/eqP|/eqP|/eqP|/or4P[] /eqP] ->;
    rewrite digit_nibble //; apply/eqP/val_inj.
by rewrite ltnNge H //; apply/val_inj.
Qed.

(* A large digit is hidden by two of the four signs of a row, and a small one by all four. *)
Lemma two_signs_hide_a_large_digit :
  (1 < #|[set e | (pred1 (0 : 'Z_8) (0 + signed e 1))%R]|)%N.
Proof.
apply: (some_card (s := [:: (true, true); (false, false)])) => // e; rewrite !inE.
by case/orP=> /eqP ->; apply/eqP/val_inj.
Qed.

Lemma all_signs_hide_zero : (3 < #|[set e | (pred1 (0 : 'Z_8) (0 + signed e 0))%R]|)%N.
Proof.
apply: (some_card (s := [:: (true, true); (false, false); (true, false); (false, true)])) => // e; rewrite !inE.
by case/or4P=> /eqP ->; apply/eqP/val_inj.
Qed.

(* The words of a list of digits are M/b^n, rounded up: of 0, 1, 2 and 3, the first two begin with the digit 0 in base 3. *)
Lemma two_words_of_one_digit : (4 %/ 3 ^ 1 < #|[set w : 'I_4 | [forall i : 'I_1, word_digit 4 3 i w == 0]]|)%N.
Proof.
apply: (some_card (s := [:: ord0; inord 1])) => [|w].
  by rewrite /= inE andbT -val_eqE /= inordK.
by rewrite !inE => /orP[] /eqP ->; apply/forallP=> -[[] //= _]; rewrite /word_digit /= ?inordK.
Qed.

(* Two claims: the batch and its two halves are three sets. *)
Lemma three_sets_of_two_claims :
  exists t : tree [finType of bool], proper t /\ size (sets t) = (2 * #|[finType of bool]| - 1)%N.
Proof.
exists (Cut (Whole [set true]) (Last (Whole [set false]))); split; last by rewrite card_bool.
apply/and3P; split; first by apply/set0Pn; exists true; rewrite inE.
  by apply/set0Pn; exists false; rewrite inE.
by rewrite disjoints_subset; apply/subsetP=> b; rewrite !inE => /eqP ->.
Qed.

(* The weight one is that of two strings of bits. *)
Lemma two_strings_of_one (d : nat) (one : weight d) : (1 < #|[set bits | weight_of one bits == one]|)%N.
Proof.
apply: (some_card (s := [:: val one; [ffun=> ord0]])); first by rewrite /= inE (valP one).
move=> bits; rewrite !inE /weight_of => /orP[] /eqP ->; first by rewrite valKd.
by rewrite /insubd insubF // eqxx.
Qed.
