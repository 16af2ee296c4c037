(* How many sets a search looks into: those of a tree in which each set that is cut has two parts or more. *)

From Coq Require Import ZArith Znumtheory.
From mathcomp Require Import all_ssreflect ssralg.
From Quorate Require Import Counting Action Numbers Digits Batch Membership Curves.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope nat_scope.

Section Trees.

Variable I : finType.

(* A set that is not cut, or one that is cut into a first part and at least one more. *)
Inductive tree := Whole of {set I} | Cut of tree & parts
with parts := Last of tree | More of tree & parts.

Scheme tree_parts_ind := Induction for tree Sort Prop
with parts_tree_ind := Induction for parts Sort Prop.
Combined Scheme trees_ind from tree_parts_ind, parts_tree_ind.

(* The claims of a tree. *)
Fixpoint claims (t : tree) : {set I} :=
  match t with Whole T => T | Cut t ts => claims t :|: claims_of_parts ts end
with claims_of_parts ts :=
  match ts with Last t => claims t | More t ts => claims t :|: claims_of_parts ts end.

(* No set is empty, and parts have no claim in common. *)
Fixpoint proper (t : tree) : bool :=
  match t with
  | Whole T => T != set0
  | Cut t ts => [&& proper t, proper_parts ts & [disjoint claims t & claims_of_parts ts]]
  end
with proper_parts ts :=
  match ts with
  | Last t => proper t
  | More t ts => [&& proper t, proper_parts ts & [disjoint claims t & claims_of_parts ts]]
  end.

(* All its sets. *)
Fixpoint sets (t : tree) : seq {set I} :=
  match t with Whole T => [:: T] | Cut t ts => claims (Cut t ts) :: sets t ++ sets_of_parts ts end
with sets_of_parts ts :=
  match ts with Last t => sets t | More t ts => sets t ++ sets_of_parts ts end.

(* "At most 2n - 1 sets." *)
Theorem sets_of_a_tree :
  (forall t, proper t -> (size (sets t)).+1 <= 2 * #|claims t|) /\
  (forall ts, proper_parts ts -> (size (sets_of_parts ts)).+1 <= 2 * #|claims_of_parts ts|).
Proof.
have join (a b : nat) (T T' : {set I}) : [disjoint T & T'] -> a.+1 <= 2 * #|T| -> b.+1 <= 2 * #|T'| ->
    (a + b).+2 <= 2 * #|T :|: T'|.
  move=> d Ha Hb; have /leqifP := leq_card_setU T T'; rewrite d => /eqP ->.
  by rewrite mulnDr -addSn -addnS leq_add.
apply: (trees_ind (P := fun t => proper t -> (size (sets t)).+1 <= 2 * #|claims t|)
  (P0 := fun ts => proper_parts ts -> (size (sets_of_parts ts)).+1 <= 2 * #|claims_of_parts ts|)) => /=.
- by move=> T T0; rewrite leq_pmulr ?card_gt0.
- by move=> t IH ts IHs /and3P[/IH H /IHs Hs d]; rewrite size_cat; apply: join.
- by [].
by move=> t IH ts IHs /and3P[/IH H /IHs Hs d]; rewrite size_cat ltnW // join.
Qed.

End Trees.

Section Verdicts.

Variables (V : zmodType) (r lambda : Z) (d : nat).
Hypothesis r_prime : Znumtheory.prime r.
Hypothesis lambda_root : (r | lambda * lambda + lambda + 1)%Z.
Hypothesis r_large : (16 * 16 ^ Z.of_nat d <= 3 * r)%Z.
Variables (I : finType) (v : I -> V).
Hypothesis values_have_order_r : forall i, zmul r (v i) = GRing.zero V.

(* "Any verdict on a batch of n claims is wrong with probability at most 3n/(2^64 - 1)." Beside the tree the search asks about what is left of
   sets without the false claims that it knows. *)
Theorem verdict_bound (Verdicts : eqType) (s : search I Verdicts) (t : tree I) (left : seq {set I}) :
  proper t -> size left < #|I| -> uniq (false_sets v s) -> {subset false_sets v s <= sets t ++ left} ->
  #|[set w | run (fun S => weighted (number lambda (d := d)) v w S == 0%R) s != run (all_true v) s]| * (16 ^ d).-1
  <= 3 * #|I| * #|{: {ffun I -> weight d}}|.
Proof.
move=> pt few un sub; apply: leq_trans (weighted_search_bound r_prime lambda_root r_large values_have_order_r s) _.
rewrite leq_mul2r; apply/orP; right; apply: leq_trans (uniq_leq_size un sub) _.
have [H _] := sets_of_a_tree I; rewrite size_cat (mulnDl 2 1) mul1n leq_add //; last exact: ltnW.
by apply: leq_trans (ltnW (H t pt)) _; rewrite leq_mul2l max_card.
Qed.

End Verdicts.
