(* One choice of weights serves both checks: the sums for membership, and the product. *)

From Coq Require Import ZArith Znumtheory.
From mathcomp Require Import all_ssreflect ssralg.
From Quorate Require Import Counting Action Numbers Digits Batch Membership Curves.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope nat_scope.

(* What does not depend on the further choices X is as frequent with them as without. *)
Lemma with_further (I W X : finType) (bad : pred {ffun I -> W}) :
  #|[set f : {ffun I -> W * X} | bad [ffun i => (f i).1]]| = #|[set w | bad w]| * #|X| ^ #|I|.
Proof.
pose join (p : {ffun I -> W} * {ffun I -> X}) : {ffun I -> W * X} := [ffun i => (p.1 i, p.2 i)].
have inj : injective join.
  move=> [w x] [w' x'] /ffunP E; congr pair; apply/ffunP=> i; have := E i; rewrite !ffunE /=; by case.
rewrite -card_ffun -[#|{ffun I -> X}|]cardsT -cardsX -(card_imset _ inj); apply: eq_card => f.
rewrite !inE; apply/idP/imsetP=> [H|[[w x] H ->]].
  exists ([ffun i => (f i).1], [ffun i => (f i).2]); first by rewrite !inE H.
  by apply/ffunP=> i; rewrite !ffunE /=; case: (f i).
move: H; rewrite !inE andbT /=; congr (is_true (bad _)).
by apply/ffunP=> i; rewrite !ffunE.
Qed.

Section Both.

(* The claims with their signatures p, of which some are outside, and their values v, which count for members alone. *)
Variables (V T : zmodType) (omega : {additive V -> V}) (h r lambda : Z) (d : nat) (X J : finType).
Variable (at_place : weight d * X -> J -> eis).
Hypothesis r_prime : Znumtheory.prime r.
Hypothesis lambda_root : (r | lambda * lambda + lambda + 1)%Z.
Hypothesis r_large : (16 * 16 ^ Z.of_nat d <= 3 * r)%Z.
Variables (I : finType) (p : I -> V) (v : I -> T).
Hypothesis values_have_order_r : forall i, zmul r (v i) = GRing.zero T.

Definition members : {set I} := [set i | is_member r (p i)].

(* A false claim with a member for its signature passes: the product over the members is one. *)
Definition product_errs (f : {ffun I -> weight d * X}) : bool :=
  weighted (number lambda (d := d)) v [ffun i => (f i).1] members == 0%R.

Theorem product_bound : ~~ all_true v members ->
  #|[set f | product_errs f]| * (16 ^ d).-1 <= #|{: {ffun I -> weight d * X}}|.
Proof.
move=> fS; rewrite /product_errs (with_further _ (fun w => weighted (number lambda (d := d)) v w members == 0%R)).
rewrite mulnAC; apply: leq_trans (leq_mul (weighted_batch_bound r_prime lambda_root r_large values_have_order_r fS) (leqnn _)) _.
by rewrite !card_ffun card_prod expnMn.
Qed.

(* Together: at most the sum of both. *)
Theorem both_bound : 
  #|[set f | product_errs f || sums_pass omega r p at_place f]| <=
  #|[set f | product_errs f]| + #|[set f | sums_pass omega r p at_place f]|.
Proof.
apply: leq_trans (leq_card_setU _ _); apply/subset_leq_card/subsetP=> f; by rewrite !inE.
Qed.

End Both.
