(* Batches, and the search for false claims. *)

From Coq Require Import ZArith Znumtheory Lia.
From mathcomp Require Import all_ssreflect ssralg.
From Quorate Require Import Counting Action.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

Section Batch.

(* The target group, written additively. r is prime, and takes every value to zero. *)
Variables (V : zmodType) (r : Z).
Hypothesis r_prime : Znumtheory.prime r.

(* Weights are numbers. Different weights are different modulo r, and none is zero. *)
Variables (W : finType) (number : W -> Z).
Hypothesis numbers_differ : forall a b, (number a mod r = number b mod r)%Z -> a = b.

(* Each claim i has a value v i. It is true if the value is zero. *)
Variables (I : finType) (v : I -> V).
Hypothesis values_have_order_r : forall i, zmul r (v i) = 0.

Implicit Types (w : {ffun I -> W}) (S : {set I}).

Definition is_true_claim i := v i == 0.
Definition all_true S := [forall i in S, is_true_claim i].

(* The weighted value of a set of claims: what a product of pairings computes. *)
Definition weighted w S : V := \sum_(i in S) zmul (number (w i)) (v i).

Lemma true_set_passes w S : all_true S -> weighted w S = 0.
Proof.
by move=> /forall_inP H; apply: big1 => i /H/eqP ->; rewrite zmul_zero.
Qed.

(* A false claim of the set passes with at most one weight, whatever the others are. *)
Theorem batch_bound S k : k \in S -> v k != 0 ->
  (#|[set w | weighted w S == 0%R]| * #|W| <= #|W| ^ #|I|)%N.
Proof.
move=> kS vk; rewrite -[X in (_ <= X)%N]mul1n; apply: (one_coordinate (k := k)) => w.
apply/card_le1_eqP=> b a; rewrite !inE /weighted => /eqP Hb /eqP Ha.
move: Ha Hb; rewrite !(bigD1 k kS) /= !upd_same => Ha Hb.
apply: numbers_differ; apply: (zmul_inj_mod r_prime (values_have_order_r k) vk).
have others x : \sum_(i in S | i != k) zmul (number (upd w k x i)) (v i) = \sum_(i in S | i != k) zmul (number (w i)) (v i).
  by apply: eq_bigr => i /andP[_ ik]; rewrite upd_other.
apply: (addIr (\sum_(i in S | i != k) zmul (number (w i)) (v i))); rewrite -{1}(others a). apply: (etrans Ha);
  rewrite -(others b); exact: (esym Hb).
Qed.

(* The same for the set of all claims that are not dropped: docs/soundness.md states it for the whole batch. *)
Corollary false_batch_passes_rarely S : ~~ all_true S ->
  (#|[set w | weighted w S == 0%R]| * #|W| <= #|W| ^ #|I|)%N.
Proof. by rewrite negb_forall => /existsP[k]; rewrite negb_imply => /andP[kS vk]; apply: (batch_bound kS). Qed.

(* "The value of a set with exactly one false claim is never one." *)
Hypothesis numbers_not_zero : forall a, (number a mod r <> 0)%Z.

Lemma one_false_claim_never_passes w S k : k \in S -> v k != 0 -> all_true (S :\ k) -> weighted w S != 0.
Proof.
move=> kS vk others; rewrite /weighted (big_setD1 k kS) /=.
have -> : \sum_(i in S :\ k) zmul (number (w i)) (v i) = 0 by apply: (true_set_passes w others).
rewrite addr0; apply/eqP=> H; case: (numbers_not_zero (a := w k)).
by rewrite -(Z.mod_0_l r) ?(zmul_inj_mod r_prime (values_have_order_r k) vk (b := 0%Z)) //;
  have := Znumtheory.prime_ge_2 r r_prime; lia.
Qed.

(* The value of the last part of a set is that of the set, less those of the others. *)
Lemma value_of_the_rest w S S' : S' \subset S -> weighted w (S :\: S') = weighted w S - weighted w S'.
Proof.
move=> /setIidPr E; rewrite /weighted (big_setID S' (A := S)) /= E.
by rewrite addrC addKr.
Qed.

(* The search. It asks whether the values of sets are zero, and goes on as the answers say, up to its verdicts. The sets may depend on
   the answers and on anything that does not depend on the weights. *)
Section Search.

Variable Verdicts : eqType.

Inductive search := Decided of Verdicts | Ask of {set I} & (bool -> search).

Fixpoint run (is_zero : {set I} -> bool) (s : search) : Verdicts :=
  match s with
  | Decided verdicts => verdicts
  | Ask T next => run is_zero (next (is_zero T))
  end.

(* The sets with a false claim that the search asks about if every answer is right. *)
Fixpoint false_sets (s : search) : seq {set I} :=
  match s with
  | Decided _ => [::]
  | Ask T next => if all_true T then false_sets (next true) else T :: false_sets (next false)
  end.

Lemma run_without_error w s :
  run (fun S => weighted w S == 0) s != run all_true s -> has (fun S => weighted w S == 0) (false_sets s).
Proof.
elim: s => [verdicts|S next IH] /=; first by rewrite eqxx.
case: (boolP (all_true S)) => [ts|fs]; first by rewrite (true_set_passes w ts) eqxx; apply: IH.
by rewrite /=; case: (weighted w S == 0) => //= H; apply: IH.
Qed.

Lemma false_sets_are_false s S : S \in false_sets s -> ~~ all_true S.
Proof.
elim: s => [//|S' next IH] /=; case: (boolP (all_true S')) => [_|fs]; first exact: IH.
by rewrite inE => /orP[/eqP -> //|]; apply: IH.
Qed.

(* A search that asks about q sets with a false claim, all answers being right, is wrong with probability at most q/|W|. *)
Theorem search_bound s :
  (#|[set w | run (fun S => weighted w S == 0%R) s != run all_true s]| * #|W| <= size (false_sets s) * #|W| ^ #|I|)%N.
Proof.
apply: (@leq_trans (#|[set w | has (fun S => weighted w S == 0%R) (false_sets s)]| * #|W|)).
  rewrite leq_mul2r; apply/orP; right; apply/subset_leq_card/subsetP=> w; rewrite !inE; exact: run_without_error.
apply: (leq_trans (leq_mul (union_bound _ _) (leqnn _))).
have : all (fun S => ~~ all_true S) (false_sets s) by apply/allP=> S; apply: false_sets_are_false.
elim: (false_sets s) => [|S sets IH]; first by rewrite big_nil mul0n.
move=> /= /andP[fS fsets]; rewrite big_cons mulnDl mulSn leq_add ?IH //; exact: false_batch_passes_rarely.
Qed.

End Search.

End Batch.
