(* How integers and the numbers a + b*omega act on the elements of a group, which is written additively. *)

From Coq Require Import ZArith Znumtheory Lia.
From mathcomp Require Import all_ssreflect ssralg.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

(* a + b*omega, where omega^2 + omega + 1 = 0: the ring of docs/soundness.md. *)
Definition eis := (Z * Z)%type.
Definition esub (d e : eis) : eis := ((d.1 - e.1)%Z, (d.2 - e.2)%Z).
Definition norm (d : eis) : Z := (d.1 * d.1 - d.1 * d.2 + d.2 * d.2)%Z.
Definition conj (d : eis) : eis := ((d.1 - d.2)%Z, (- d.2)%Z).

Section Integers.

Variable V : zmodType.
Implicit Types (v : V) (m n : Z).

(* n*v. *)
Definition zmul n v : V := if n is Zneg p then - (v *+ Pos.to_nat p) else v *+ Z.to_nat n.

Lemma zmul0 v : zmul 0 v = 0.
Proof. by []. Qed.

Lemma zmul1 v : zmul 1 v = v.
Proof. by []. Qed.

Lemma zmulS n v : zmul (Z.succ n) v = zmul n v + v.
Proof.
case: n => [|p|p]; first by rewrite /= add0r.
  by rewrite /= Pos.add_1_r Pos2Nat.inj_succ mulrSr.
elim/Pos.peano_ind: p => [|p _]; first by rewrite /= mulr1n addrC subrr.
have -> : Z.succ (Zneg (Pos.succ p)) = Zneg p by lia.
by rewrite /= Pos2Nat.inj_succ mulrSr opprD -addrA addNr addr0.
Qed.

Lemma zmulP n v : zmul (Z.pred n) v = zmul n v - v.
Proof. by rewrite -{2}(Z.succ_pred n) zmulS addrK. Qed.

Lemma zmulDl m n v : zmul (m + n) v = zmul m v + zmul n v.
Proof.
elim/Z.peano_ind: n => [|n IH|n IH]; first by rewrite Z.add_0_r addr0.
  by rewrite Z.add_succ_r !zmulS IH addrA.
by rewrite Z.add_pred_r !zmulP IH addrA.
Qed.

Lemma zmulN n v : zmul (- n) v = - zmul n v.
Proof. by apply: (addrI (zmul n v)); rewrite -zmulDl Z.add_opp_diag_r subrr. Qed.

Lemma zmulB m n v : zmul (m - n) v = zmul m v - zmul n v.
Proof. by rewrite /Z.sub zmulDl zmulN. Qed.

Lemma zmulDr n v w : zmul n (v + w) = zmul n v + zmul n w.
Proof.
elim/Z.peano_ind: n => [|n IH|n IH]; first by rewrite addr0.
  by rewrite !zmulS IH addrACA.
by rewrite !zmulP IH opprD addrACA.
Qed.

Lemma zmul_zero n : zmul n (0 : V) = 0.
Proof. by apply: (addrI (zmul n (0 : V))); rewrite -zmulDr !addr0. Qed.

Lemma zmulNr n v : zmul n (- v) = - zmul n v.
Proof. by apply: (addrI (zmul n v)); rewrite -zmulDr !subrr zmul_zero. Qed.

Lemma zmulA m n v : zmul (m * n) v = zmul m (zmul n v).
Proof.
elim/Z.peano_ind: m => [|m IH|m IH] //.
  by rewrite Z.mul_succ_l zmulDl zmulS IH.
by rewrite -Z.sub_1_r Z.mul_sub_distr_r Z.mul_1_l zmulB IH Z.sub_1_r zmulP.
Qed.

Lemma zmul_sum n (I : Type) (s : seq I) (P : pred I) (F : I -> V) :
  zmul n (\sum_(i <- s | P i) F i) = \sum_(i <- s | P i) zmul n (F i).
Proof. exact: (big_morph (zmul n) (zmulDr n) (zmul_zero n)). Qed.

(* What takes an element to zero contains the greatest common divisor of any two of its numbers. *)
Lemma zmul_gcd m n v : zmul m v = 0 -> zmul n v = 0 -> zmul (Z.gcd m n) v = 0.
Proof.
move=> Hm Hn; have [a [b <-]] := Z.gcd_bezout m n _ (erefl _).
by rewrite zmulDl !zmulA Hm Hn !zmul_zero addr0.
Qed.

Lemma zmul_coprime m n v : Z.gcd m n = 1%Z -> zmul m v = 0 -> zmul n v = 0 -> v = 0.
Proof. by move=> g Hm Hn; have := zmul_gcd Hm Hn; rewrite g zmul1. Qed.

(* In a group of prime order, or of prime exponent, different numbers modulo the order give different multiples. *)
Lemma zmul_inj_mod r a b v : Znumtheory.prime r -> zmul r v = 0 -> v != 0 -> zmul a v = zmul b v -> (a mod r = b mod r)%Z.
Proof.
move=> pr rv v0 ab; have r0 : (0 < r)%Z by have := Znumtheory.prime_ge_2 r pr; lia.
have H : zmul (a - b) v = 0 by rewrite zmulB ab subrr.
case: (Zdivide_dec r (a - b)) => [d|nd].
  by case: d => k E; have -> : a = (b + k * r)%Z by [lia]; rewrite Z.mod_add //; lia.
case/eqP: v0; apply: (zmul_coprime (m := (a - b)%Z) (n := r)) => //.
rewrite Z.gcd_comm; apply/Zgcd_1_rel_prime; exact: Znumtheory.prime_rel_prime.
Qed.

End Integers.

Section Eisenstein.

Variables (V : zmodType) (omega : {additive V -> V}).
Hypothesis omega_root : forall v : V, omega (omega v) + omega v + v = 0.
Implicit Types (v : V) (d e : eis).

(* (a + b*omega)v. *)
Definition act d v : V := zmul d.1 v + zmul d.2 (omega v).

Lemma omega_zmul n v : omega (zmul n v) = zmul n (omega v).
Proof.
elim/Z.peano_ind: n => [|n IH|n IH]; first by rewrite raddf0.
  by rewrite !zmulS raddfD IH.
by rewrite !zmulP raddfB IH.
Qed.

Lemma actDr d v w : act d (v + w) = act d v + act d w.
Proof. by rewrite /act raddfD !zmulDr addrACA. Qed.

Lemma act_zero d : act d 0 = 0.
Proof. by rewrite /act raddf0 !zmul_zero addr0. Qed.

Lemma act_sub d e v : act (esub d e) v = act d v - act e v.
Proof. by rewrite /act /= !zmulB opprD addrACA. Qed.

Lemma act_zmul d n v : act d (zmul n v) = zmul n (act d v).
Proof. by rewrite /act omega_zmul zmulDr -!zmulA [(_ * n)%Z]Z.mul_comm [(d.2 * n)%Z]Z.mul_comm. Qed.

(* The norm of d is d times its conjugate. *)
Lemma act_norm d v : act (conj d) (act d v) = zmul (norm d) v.
Proof.
case: d => a b; rewrite /act /conj /norm /= raddfD !omega_zmul !zmulDr -!zmulA.
have -> : omega (omega v) = - v - omega v.
  by apply/eqP; rewrite -subr_eq0 opprD !opprK addrA [_ + v + _]addrAC omega_root.
rewrite zmulDr !zmulNr -!zmulN [zmul (- b * a)%Z _ + _]addrCA addrACA -!zmulDl.
have -> : ((a - b) * a + - (- b * b) = a * a - a * b + b * b)%Z by lia.
have -> : ((a - b) * b + (- b * a + - (- b * b)) = 0)%Z by lia.
by rewrite zmul0 addr0.
Qed.

Lemma killed_by_norm d v : act d v = 0 -> zmul (norm d) v = 0.
Proof. by move=> dv; rewrite -act_norm dv act_zero. Qed.

End Eisenstein.
