(* Comparing large natural numbers: in Z, where computing is fast. *)

From Coq Require Import ZArith Lia.
From mathcomp Require Import all_ssreflect.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Notation Zof := Z.of_nat.

Lemma Zof_exp a b : Zof (a ^ b) = (Zof a ^ Zof b)%Z.
Proof.
elim: b => [|b IH]; first by rewrite expn0.
by rewrite expnS Nat2Z.inj_mul IH Nat2Z.inj_succ Z.pow_succ_r //; lia.
Qed.

Lemma Zof_div a b : Zof (a %/ b) = (Zof a / Zof b)%Z.
Proof.
case: b => [|b]; first by rewrite divn0 Zdiv_0_r.
apply: (Z.div_unique_pos _ _ _ (Zof (a %% b.+1))).
  by have /ltP := ltn_pmod a (ltn0Sn b); lia.
have E := divn_eq a b.+1; rewrite {1}E.
by rewrite Nat2Z.inj_add Nat2Z.inj_mul Z.mul_comm.
Qed.

Lemma Zof_of_mul a b x y : Zof a = x -> Zof b = y -> Zof (a * b) = (x * y)%Z.
Proof. by move=> <- <-; apply: Nat2Z.inj_mul. Qed.

Lemma Zof_of_add a b x y : Zof a = x -> Zof b = y -> Zof (a + b) = (x + y)%Z.
Proof. by move=> <- <-; apply: Nat2Z.inj_add. Qed.

Lemma Zof_of_exp a b x y : Zof a = x -> Zof b = y -> Zof (a ^ b) = (x ^ y)%Z.
Proof. by move=> <- <-; apply: Zof_exp. Qed.

Lemma Zof_of_div a b x y : Zof a = x -> Zof b = y -> Zof (a %/ b) = (x / y)%Z.
Proof. by move=> <- <-; apply: Zof_div. Qed.

Lemma Zof_of_succ a x : Zof a = x -> Zof a.+1 = (x + 1)%Z.
Proof. by move=> <-; rewrite Nat2Z.inj_succ; lia. Qed.

Lemma Zof_of_pred a x : Zof a = x -> Zof a.-1 = Z.max 0 (x - 1)%Z.
Proof. by move=> <-; case: a => // a; rewrite Nat2Z.inj_succ /=; lia. Qed.

(* A proof that a natural number is an integer that can be computed. The match is by syntax, so nothing is unfolded. *)
Ltac integer_of t :=
  lazymatch t with
  | muln ?a ?b => let x := integer_of a in let y := integer_of b in constr:(Zof_of_mul x y)
  | addn ?a ?b => let x := integer_of a in let y := integer_of b in constr:(Zof_of_add x y)
  | expn ?a ?b => let x := integer_of a in let y := integer_of b in constr:(Zof_of_exp x y)
  | divn ?a ?b => let x := integer_of a in let y := integer_of b in constr:(Zof_of_div x y)
  | S (divn ?a ?b) => let x := integer_of constr:(divn a b) in constr:(Zof_of_succ x)
  | Nat.pred ?a => let x := integer_of a in constr:(Zof_of_pred x)
  | _ => constr:(erefl (Zof t))
  end.

Lemma leq_by_Z a b x y : Zof a = x -> Zof b = y -> (x <=? y)%Z = true -> a <= b.
Proof. by move=> <- <- /Z.leb_le H; apply/leP; lia. Qed.

(* Proves that one natural number is at most another, by computing both as integers. *)
Ltac by_computing :=
  lazymatch goal with
  | |- is_true (leq ?a ?b) =>
    let x := integer_of a in let y := integer_of b in
    refine (leq_by_Z x y _); vm_cast_no_check (erefl true)
  end.

(* A bound b/a is at most b'/a'. *)
Lemma scale a b a' b' bad all : bad * a <= b * all -> a' * b <= b' * a -> 0 < a -> bad * a' <= b' * all.
Proof.
move=> H ab a0; rewrite -(leq_pmul2r a0).
apply: (@leq_trans (b * all * a')); first by rewrite mulnAC leq_mul2r H orbT.
have -> : b * all * a' = all * (a' * b) by rewrite mulnC mulnA mulnC.
by rewrite [b' * all]mulnC -mulnA leq_mul2l ab orbT.
Qed.
