(* Membership through sums, and the keys of a set. *)

From Coq Require Import ZArith Znumtheory Lia.
From mathcomp Require Import all_ssreflect ssralg.
From Quorate Require Import Counting Action Numbers Digits Words.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

Section Membership.

(* The points of a curve, of which there are h*r, and its endomorphism. A point is a member if r takes it to zero. *)
Variables (V : zmodType) (omega : {additive V -> V}) (h r : Z).
Hypothesis omega_root : forall v : V, omega (omega v) + omega v + v = 0.
Hypothesis curve_order : forall v : V, zmul (h * r) v = 0.

Definition is_member (p : V) := zmul r p == 0.

(* The part of a point that is not of order r, up to a factor. *)
Definition outer (p : V) : V := zmul r p.

Lemma outer_order p : zmul h (outer p) = 0.
Proof. by rewrite /outer -zmulA curve_order. Qed.

Notation act := (act omega).

Section Sums.

(* The points of one sum. Each chooses uniformly among C, and its choice gives it a digit at each of the positions J. *)
Variables (I C J : finType) (p : I -> V) (at_place : C -> J -> eis).

Definition position_sum (f : {ffun I -> C}) j : V := \sum_i act (at_place (f i) j) (p i).
Definition sums_pass (f : {ffun I -> C}) := [forall j, is_member (position_sum f j)].

(* If at most m choices give a point k outside the digits that take its outer part to given places, then a share of at most m/|C| of all
   choices misses it, whatever the other points are. *)
Theorem sums_miss k m :
  (forall c : J -> V, #|[set x | [forall j, act (at_place x j) (outer (p k)) == c j]]| <= m)%N ->
  (#|[set f | sums_pass f]| * #|C| <= m * #|C| ^ #|I|)%N.
Proof.
move=> few; apply: (one_coordinate (k := k)) => f.
pose c j := - \sum_(i | i != k) act (at_place (f i) j) (outer (p i)).
apply: leq_trans (few c); apply/subset_leq_card/subsetP=> x; rewrite !inE => /forallP H.
apply/forallP=> j; have := H j; rewrite /is_member /position_sum zmul_sum (bigD1 k) //= upd_same -act_zmul.
rewrite addr_eq0 => /eqP ->; apply/eqP; congr (- _); apply: eq_bigr => i ik.
by rewrite upd_other // -act_zmul.
Qed.

End Sums.

(* Digits that have the same effect on a point outside, whose norms have a factor in common with the cofactor. *)
Lemma equal_digits (i j : 'I_16) t : t != 0 -> zmul h t = 0 ->
  act (digit i) t = act (digit j) t -> Z.gcd (norm (difference i j)) h <> 1%Z.
Proof.
move=> t0 ht E g; case/eqP: t0; apply: (zmul_coprime g) => //.
by apply: (killed_by_norm omega_root); rewrite act_sub E subrr.
Qed.

(* At most m digits take a point outside to the same place. *)
Definition at_most_equal m :=
  forall t c, t != 0 -> zmul h t = 0 -> (#|[set i : 'I_16 | act (digit i) t == c]| <= m)%N.

(* If no norm of a difference has a factor in common with h. *)
Lemma at_most_one : (forall n, one_of [:: 1; 3; 4; 7; 9; 12; 13]%Z n -> Z.gcd n h = 1%Z) -> at_most_equal 1.
Proof.
move=> coprime t c t0 ht; apply/card_le1_eqP=> i j; rewrite !inE => /eqP Ei /eqP Ej.
have g := equal_digits t0 ht (etrans Ei (esym Ej)).
case: (Z.eq_dec (norm (difference i j)) 0) => [/norm_zero -> //|n0].
case: g; apply: coprime; move: (norms_of_differences i j) n0; move: (norm _) => n; rewrite /one_of /=.
by case/orP=> [/Z.eqb_eq -> //|->].
Qed.

(* If 13 alone has one: no three digits have differences of the norm 13. *)
Lemma at_most_two : (forall n, one_of [:: 1; 3; 4; 7; 9; 12]%Z n -> Z.gcd n h = 1%Z) -> at_most_equal 2.
Proof.
move=> coprime t c t0 ht; rewrite leqNgt; apply/negP=> /card_gt2P[i [j [k [[]]]]].
rewrite !inE => /eqP Ei /eqP Ej /eqP Ek [ij jk ki].
pose P (i j : nat) := (norm (difference i j) =? 13)%Z.
have norm13 (a b : 'I_16) : act (digit a) t = c -> act (digit b) t = c -> a != b -> P a b.
  move=> Ea Eb ab; have g := equal_digits t0 ht (etrans Ea (esym Eb)).
  case: (Z.eq_dec (norm (difference a b)) 0) => [n0|n0]; first by case/eqP: ab; apply: norm_zero.
  case: (boolP (P a b)) => // n13; case: g; apply: coprime; move: (norms_of_differences a b) n0 n13; rewrite /P.
  move: (norm _) => n H /Z.eqb_neq n0 /negbTE n13; move: H; rewrite /one_of /= n0 n13 /=.
  by rewrite !orbF.
have no : ~~ [&& P i j, P j k & P k i].
  by move: i j k {Ei Ej Ek ij jk ki}; apply: (@all_triples (fun i j k => ~~ [&& P i j, P j k & P k i])); vm_compute.
by case/negP: no; rewrite !norm13.
Qed.

(* If 3 alone has one: seven digits are equal modulo 1 - omega. *)
Lemma at_most_seven : (forall n, one_of [:: 1; 4; 7; 13]%Z n -> Z.gcd n h = 1%Z) -> at_most_equal 7.
Proof.
move=> coprime t c t0 ht; set K := [set i | _].
case: (set_0Vmem K) => [->|[k Kk]]; first by rewrite cards0.
pose Q (k i : nat) := ((norm (difference i k)) mod 3 =? 0)%Z.
apply: (@leq_trans #|[set i : 'I_16 | Q k i]|).
  apply/subset_leq_card/subsetP=> i; move: Kk; rewrite !inE => /eqP Ek /eqP Ei.
  have g := equal_digits t0 ht (etrans Ei (esym Ek)).
  move: (norms_of_differences i k) g; rewrite /Q; move: (norm _) => n; rewrite /one_of /=.
  by do ![case/orP=> [/Z.eqb_eq -> // g|]]; try (by case: g; apply: coprime).
rewrite card_digits; move: k {Kk}; apply: (@all_digits (fun k => count (Q k) (iota 0 16) <= 7)%N); vm_compute.
by [].
Qed.

(* What a point chooses: a weight of d digits, not all zero, and e further digits. *)
Definition weight d := {w : {ffun 'I_d -> 'I_16} | w != [ffun=> ord0]}.

Lemma card_weight d : #|{: weight d}| = (16 ^ d).-1.
Proof.
rewrite card_sig; have -> : #|[pred w : {ffun 'I_d -> 'I_16} | w != [ffun=> ord0]]| = #|predC1 ([ffun=> ord0] : {ffun 'I_d -> 'I_16})|.
  by apply: eq_card => w; rewrite !inE.
by rewrite cardC1 card_ffun !card_ord.
Qed.

(* At most m^d weights have digits that take a point outside to given places. *)
Lemma weights_with_digits m d t (c : 'I_d -> V) : at_most_equal m -> t != 0 -> zmul h t = 0 ->
  (#|[set w : weight d | [forall j, act (digit (val w j)) t == c j]]| <= m ^ d)%N.
Proof.
move=> few t0 ht; apply: leq_trans (card_sub_le _ (fun w : {ffun 'I_d -> 'I_16} => [forall j, act (digit (w j)) t == c j])) _.
by have := rows_bound (P := fun j (i : 'I_16) => act (digit i) t == c j) (fun j => few t (c j) t0 ht); rewrite card_ord.
Qed.

Definition with_digits d e (x : weight d * {ffun 'I_e -> 'I_16}) (j : 'I_d + 'I_e) : eis :=
  match j with inl j => digit (val x.1 j) | inr j => digit (x.2 j) end.

Theorem miss_with_digits (I : finType) (p : I -> V) m d e k : at_most_equal m -> ~~ is_member (p k) ->
  (#|[set f | sums_pass p (@with_digits d e) f]| * ((16 ^ d).-1 * 16 ^ e)
   <= m ^ d * m ^ e * #|{: {ffun I -> weight d * {ffun 'I_e -> 'I_16}}}|)%N.
Proof.
move=> few out; have := @sums_miss I _ _ p (@with_digits d e) k (m ^ d * m ^ e).
rewrite card_prod card_weight [#|{ffun 'I_e -> _}|]card_ffun !card_ord => H.
rewrite card_ffun card_prod card_weight [#|{ffun 'I_e -> _}|]card_ffun !card_ord; apply: H => c.
have t0 : outer (p k) != 0 by []; have ht := outer_order (p k).
apply: leq_trans (both_bad (weights_with_digits (fun j => c (inl j)) few t0 ht)
  (_ : (#|[set x : {ffun 'I_e -> 'I_16} | [forall j, act (digit (x j)) (outer (p k)) == c (inr j)]]| <= m ^ e)%N)).
  apply/subset_leq_card/subsetP=> x; rewrite !inE => /forallP H'.
  by apply/andP; split; apply/forallP=> j; [apply: (H' (inl j)) | apply: (H' (inr j))].
have := rows_bound (P := fun j (i : 'I_16) => act (digit i) (outer (p k)) == c (inr j)) (fun j => few _ (c (inr j)) t0 ht).
by rewrite card_ord.
Qed.

(* Digits 0, 1 and -1. *)
Definition trit (i : nat) : eis := nth (0, 0)%Z [:: (0, 0); (1, 0); (-1, 0)]%Z i.

Hypothesis h_odd : Z.gcd 2 h = 1%Z.

(* At most one of the three takes a point outside to a given place, whatever its order is. *)
Lemma equal_trits (i j : nat) t : (i < 3)%N -> (j < 3)%N -> t != 0 -> zmul h t = 0 -> act (trit i) t = act (trit j) t -> i = j.
Proof.
have integer l : act (trit l) t = zmul (trit l).1 t.
  rewrite /Action.act (_ : (trit l).2 = 0%Z) ?zmul0 ?addr0 //.
  by case: l => [|[|[|[|l]]]].
move=> i3 j3 t0 ht; rewrite !integer => E; apply/eqP; case ij: (i == j) => //; case/eqP: t0.
apply: (zmul_coprime (m := ((trit i).1 - (trit j).1)%Z) _ _ ht); last by rewrite zmulB E subrr.
have : one_of [:: 1; -1; 2; -2]%Z ((trit i).1 - (trit j).1).
  by case: i j ij i3 j3 {E} => [|[|[|i]]] [|[|[|j]]].
move: ((trit i).1 - _)%Z => n; rewrite /one_of /= orbF.
case/or4P=> /Z.eqb_eq ->; by rewrite ?(Z.gcd_opp_l 1) ?(Z.gcd_opp_l 2) ?Z.gcd_1_l.
Qed.

(* Words whose first n digits in base 3 take a point outside to given places. *)
Lemma words_with_trits (M n : nat) t (c : 'I_n -> V) : (0 < M)%N -> t != 0 -> zmul h t = 0 ->
  (#|[set w : 'I_M | [forall j : 'I_n, act (trit (word_digit M 3 j w)) t == c j]]| <= (M %/ 3 ^ n).+1)%N.
Proof.
move=> M0 t0 ht; set A := [set w | _].
case: (set_0Vmem A) => [->|[v Av]]; first by rewrite cards0.
apply: leq_trans (words_of_digits M0 (isT : 0 < 3)%N n (fun i => word_digit M 3 i v)).
apply/subset_leq_card/subsetP=> w; move: Av; rewrite !inE => /forallP Hv /forallP Hw.
have small (i : nat) (x : 'I_M) : (word_digit M 3 i x < 3)%N.
  by rewrite /word_digit ltn_divLR // ltn_pmul2l // rest_small.
apply/forallP=> i; apply/eqP/(equal_trits (small _ _) (small _ _) t0 ht).
by rewrite (eqP (Hw i)) (eqP (Hv i)).
Qed.

(* A weight, and n digits from a word of 64 bits. *)
Definition with_trits d M n (x : weight d * 'I_M) (j : 'I_d + 'I_n) : eis :=
  match j with inl j => digit (val x.1 j) | inr j => trit (word_digit M 3 j x.2) end.

Theorem miss_with_trits (I : finType) (p : I -> V) m d M n k : at_most_equal m -> (0 < M)%N -> ~~ is_member (p k) ->
  (#|[set f | sums_pass p (@with_trits d M n) f]| * ((16 ^ d).-1 * M)
   <= m ^ d * (M %/ 3 ^ n).+1 * #|{: {ffun I -> weight d * 'I_M}}|)%N.
Proof.
move=> few M0 out; have := @sums_miss I _ _ p (@with_trits d M n) k (m ^ d * (M %/ 3 ^ n).+1).
rewrite card_prod card_weight card_ord => H; rewrite card_ffun card_prod card_weight card_ord; apply: H => c.
have t0 : outer (p k) != 0 by []; have ht := outer_order (p k).
apply: leq_trans (both_bad (weights_with_digits (fun j => c (inl j)) few t0 ht)
  (words_with_trits (fun j => c (inr j)) M0 t0 ht)).
apply/subset_leq_card/subsetP=> x; rewrite !inE => /forallP H'.
by apply/andP; split; apply/forallP=> j; [apply: (H' (inl j)) | apply: (H' (inr j))].
Qed.

(* The keys of a set: w words a point, with n digits each, and no weight. *)
Definition of_words w M n (x : {ffun 'I_w -> 'I_M}) (j : 'I_w * 'I_n) : eis := trit (word_digit M 3 j.2 (x j.1)).

Theorem miss_of_words (I : finType) (p : I -> V) w M n k : (0 < M)%N -> ~~ is_member (p k) ->
  (#|[set f | sums_pass p (@of_words w M n) f]| * M ^ w <= (M %/ 3 ^ n).+1 ^ w * #|{: {ffun I -> {ffun 'I_w -> 'I_M}}}|)%N.
Proof.
move=> M0 out; have := @sums_miss I _ _ p (@of_words w M n) k ((M %/ 3 ^ n).+1 ^ w).
rewrite [#|{ffun 'I_w -> _}|]card_ffun !card_ord => H.
rewrite [#|{ffun I -> _}|]card_ffun [#|{ffun 'I_w -> _}|]card_ffun !card_ord; apply: H => c.
have t0 : outer (p k) != 0 by []; have ht := outer_order (p k).
have := rows_bound (P := fun i (x : 'I_M) => [forall j : 'I_n, act (trit (word_digit M 3 j x)) (outer (p k)) == c (i, j)])
  (fun i => words_with_trits (fun j => c (i, j)) M0 t0 ht).
rewrite card_ord; apply: leq_trans; apply/subset_leq_card/subsetP=> x; rewrite !inE => /forallP H'.
by apply/forallP=> i; apply/forallP=> j; apply: (H' (i, j)).
Qed.

End Membership.
