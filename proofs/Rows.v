(* A ceremony in one round: a digit that is too large is in a random sum that shows it (docs/one-round.md). *)

From mathcomp Require Import all_ssreflect ssralg.
From Quorate Require Import Counting.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

Section Rows.

(* Numbers modulo r, those that a verifier accepts as a sum, and the digits of a dealer. *)
Variables (V : zmodType) (shown : pred V) (I : finType) (digit : I -> V) (rows : nat) (mask : 'I_rows -> V).

(* Two random bits for each digit and row: it is added for the first, and subtracted for the second. *)
Definition signs := {ffun I -> {ffun 'I_rows -> bool * bool}}.

Definition signed (e : bool * bool) (s : V) : V := s *+ e.1 - s *+ e.2.

Definition row (e : signs) k : V := mask k + \sum_i signed (e i k) (digit i).

(* One digit is no difference of two numbers that a verifier accepts. Whatever the other digits and the masks are, at most two of the four
   signs of a row hide it. *)
Lemma hidden_in_one_row (c s : V) : (forall x y, shown x -> shown y -> s != x - y) ->
  (#|[set e | shown (c + signed e s)%R]| <= 2)%N.
Proof.
move=> large; case c_shown: (shown c).
  apply: (@leq_trans #|[set (false, false); (true, true)]|); last by rewrite cards2.
  apply/subset_leq_card/subsetP=> -[[] []]; rewrite !inE /signed ?mulr1n ?mulr0n ?subr0 ?sub0r // => H.
    by have := large _ _ H c_shown; rewrite [c + s]addrC addrK eqxx.
  by have := large _ _ c_shown H; rewrite opprD opprK addrA subrr add0r eqxx.
apply: (@leq_trans #|[set (true, false); (false, true)]|); last by rewrite cards2.
by apply/subset_leq_card/subsetP=> -[[] []]; rewrite !inE /signed ?mulr1n ?mulr0n ?subr0 ?subrr ?addr0 ?c_shown.
Qed.

(* "128 sums pass with at most 2^-128": so do all rows, with at most 2^-rows. *)
Theorem large_digit_is_seen i :
  (forall x y, shown x -> shown y -> digit i != x - y) ->
  (2 ^ rows * #|[set e : signs | [forall k, shown (row e k)]]| <= #|{: signs}|)%N.
Proof.
move=> large.
have few (f : signs) : (#|[set w | [forall k, shown (row (upd f i w) k)]]| <= 2 ^ rows)%N.
  pose c k := mask k + \sum_(j | j != i) signed (f j k) (digit j).
  have := @rows_bound [finType of 'I_rows] [finType of bool * bool] (fun k e => shown (c k + signed e (digit i))) 2.
  rewrite card_ord => /(_ (fun k => hidden_in_one_row (c k) large)); apply: leq_trans.
  apply/subset_leq_card/subsetP=> w; rewrite !inE => /forallP H; apply/forallP=> k; have := H k.
  suff -> : row (upd f i w) k = c k + signed (w k) (digit i) by [].
  rewrite /row (bigD1 i) //= upd_same addrCA addrC; congr (_ + _ + _).
  by apply: eq_bigr => j ji; rewrite upd_other.
have := one_coordinate (bad := fun e : signs => [forall k, shown (row e k)]) (k := i) few.
rewrite [#|{: signs}|]card_ffun; move: #|I| (#|[set f | _]|) => n bad.
have -> : #|{ffun 'I_rows -> bool * bool}| = (2 ^ rows * 2 ^ rows)%N.
  by rewrite card_ffun card_prod card_bool card_ord expnMn.
by rewrite [(bad * _)%N]mulnCA [(bad * _)%N]mulnC leq_pmul2l ?expn_gt0.
Qed.

End Rows.
