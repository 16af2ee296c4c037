(* The digits of weights (crates/quorate-curve/src/weight.rs): that different weights differ modulo the order, and how many digits can be
   equal at a point outside the subgroup. *)

From Coq Require Import ZArith Znumtheory Lia.
From mathcomp Require Import all_ssreflect ssralg.
From Quorate Require Import Counting Action.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

Local Arguments Z.mul : simpl never.
Local Arguments Z.add : simpl never.
Local Arguments Z.sub : simpl never.
Local Arguments Z.pow : simpl never.

(* DIGITS, by nibble: 0, omega^j, -omega^j, 2*omega^j, (1 - omega)*omega^j, -(1 - omega)*omega^j for j = 0, 1, 2. *)
Definition digits : seq eis :=
  [:: (0, 0); (1, 0); (0, 1); (-1, -1); (-1, 0); (0, -1); (1, 1); (2, 0); (0, 2); (-2, -2);
      (1, -1); (1, 2); (-2, -1); (-1, 1); (-1, -2); (2, 1)]%Z.

Definition digit (i : nat) : eis := nth (0, 0)%Z digits i.

Definition difference (i j : nat) : eis := esub (digit i) (digit j).

(* What holds for all digits, and is decided by computing. *)
Lemma all_digits (P : nat -> bool) : all P (iota 0 16) -> forall i : 'I_16, P i.
Proof. by move=> /allP H i; apply: H; rewrite mem_iota /=. Qed.

Lemma all_pairs (P : nat -> nat -> bool) :
  all (fun i => all (P i) (iota 0 16)) (iota 0 16) -> forall i j : 'I_16, P i j.
Proof. by move=> H i; apply: all_digits; move: i; apply: (@all_digits (fun i => all (P i) _)). Qed.

Lemma all_triples (P : nat -> nat -> nat -> bool) :
  all (fun i => all (fun j => all (P i j) (iota 0 16)) (iota 0 16)) (iota 0 16) -> forall i j k : 'I_16, P i j k.
Proof. by move=> H i; apply: all_pairs; move: i; apply: (@all_digits (fun i => all (fun j => all (P i j) _) _)). Qed.

(* How many digits have a property. *)
Lemma card_digits (P : nat -> bool) : #|[set i : 'I_16 | P i]| = count P (iota 0 16).
Proof. by rewrite -sum1dep_card -(big_mkord P (fun=> 1%N)) sum1_count /index_iota subn0. Qed.

Definition one_of (ns : seq Z) (n : Z) : bool := has (Z.eqb n) ns.

(* The norms of the differences of digits. *)
Lemma norms_of_differences (i j : 'I_16) : one_of [:: 0; 1; 3; 4; 7; 9; 12; 13]%Z (norm (difference i j)).
Proof. by move: i j; apply: (@all_pairs (fun i j => one_of _ (norm (difference i j)))); vm_compute. Qed.

(* Zero is the norm of equal digits alone. *)
Lemma norm_zero (i j : 'I_16) : norm (difference i j) = 0%Z -> i = j.
Proof.
move=> H; apply/val_inj/eqP; move: H => /Z.eqb_eq; apply/implyP; move: i j.
by apply: (@all_pairs (fun i j => (norm (difference i j) =? 0)%Z ==> (i == j))); vm_compute.
Qed.

(* A complete set of residues modulo 4. *)
Lemma digits_differ_mod_4 (i j : 'I_16) (x y : Z) :
  ((digit i).1 + 4 * x = (digit j).1 + 4 * y)%Z -> forall x' y',
  ((digit i).2 + 4 * x' = (digit j).2 + 4 * y')%Z -> i = j.
Proof.
pose P i j := (((digit i).1 - (digit j).1) mod 4 =? 0)%Z && (((digit i).2 - (digit j).2) mod 4 =? 0)%Z ==> (i == j).
move=> E x' y' E'; have /implyP H : P i j by move: i j {E E'}; apply: all_pairs; vm_compute.
apply/val_inj/eqP/H; apply/andP; split; apply/Z.eqb_eq.
  by have -> : ((digit i).1 - (digit j).1 = (y - x) * 4)%Z; [lia | rewrite Z_mod_mult].
by have -> : ((digit i).2 - (digit j).2 = (y' - x') * 4)%Z; [lia | rewrite Z_mod_mult].
Qed.

(* Every coordinate of a digit is within 2 from zero. *)
Lemma digit_small (i : 'I_16) : (-2 <= (digit i).1 <= 2)%Z /\ (-2 <= (digit i).2 <= 2)%Z.
Proof.
pose P i := [&& -2 <=? (digit i).1, (digit i).1 <=? 2, -2 <=? (digit i).2 & (digit i).2 <=? 2]%Z.
have /and4P[] : P i by move: i; apply: all_digits; vm_compute.
by move=> /Z.leb_le ? /Z.leb_le ? /Z.leb_le ? /Z.leb_le ?; lia.
Qed.

Lemma eis_eq (d e : eis) : d.1 = e.1 -> d.2 = e.2 -> d = e.
Proof. by case: d e => [a b] [c d] /= -> ->. Qed.

Section Weights.

(* The numbers a + b*omega of lists of digits, the lowest digit first. *)
Fixpoint value (s : seq 'I_16) : eis :=
  if s is i :: s then ((digit i).1 + 4 * (value s).1, (digit i).2 + 4 * (value s).2)%Z else (0, 0)%Z.

Lemma value_inj (s t : seq 'I_16) : size s = size t -> value s = value t -> s = t.
Proof.
elim: s t => [|i s IH] [|j t] //= [E] [E1 E2].
have ij := digits_differ_mod_4 E1 E2; subst j; congr cons; apply: IH => //.
by apply: eis_eq; lia.
Qed.

Lemma value_small (s : seq 'I_16) :
  (3 * Z.abs (value s).1 <= 2 * (4 ^ Z.of_nat (size s) - 1))%Z /\
  (3 * Z.abs (value s).2 <= 2 * (4 ^ Z.of_nat (size s) - 1))%Z.
Proof.
elim: s => [|i s [IH IH']]; first by [].
have [H H'] := digit_small i.
rewrite [size _]/= Nat2Z.inj_succ Z.pow_succ_r; last by lia.
by rewrite /=; move: (Z.pow _ _) IH IH' => P; lia.
Qed.

Variables (r lambda : Z) (d : nat).
(* lambda is a root of x^2 + x + 1 modulo r, and r is large enough. *)
Hypothesis r_positive : (0 < r)%Z.
Hypothesis lambda_root : (r | lambda * lambda + lambda + 1)%Z.
Hypothesis r_large : (16 * 16 ^ Z.of_nat d <= 3 * r)%Z.

(* The number modulo r that a weight multiplies by. *)
Definition multiplier (s : seq 'I_16) : Z := ((value s).1 + (value s).2 * lambda)%Z.

Lemma norm_divisible (x y : Z) : (r | x + y * lambda)%Z -> (r | norm (x, y))%Z.
Proof.
move=> [k E]; have [l L] := lambda_root; exists (k * (x - y * lambda - y) + y * y * l)%Z; rewrite /norm /=.
have -> : (x = k * r - y * lambda)%Z by lia.
have : (y * y * (lambda * lambda + lambda + 1) = y * y * (l * r))%Z by rewrite L.
lia.
Qed.

(* "Different weights differ modulo r." *)
Theorem weights_differ (s t : seq 'I_16) : size s = d -> size t = d ->
  (multiplier s mod r = multiplier t mod r)%Z -> s = t.
Proof.
move=> Hs Ht E; apply: value_inj; first by rewrite Hs Ht.
set x := ((value s).1 - (value t).1)%Z; set y := ((value s).2 - (value t).2)%Z.
have D : (r | norm (x, y))%Z.
  apply: norm_divisible; have -> : (x + y * lambda = multiplier s - multiplier t)%Z by rewrite /multiplier /x /y; lia.
  by apply: Zmod_divide; [lia | rewrite Zminus_mod E Z.sub_diag].
have [s1 s2] := value_small s; have [t1 t2] := value_small t; rewrite Hs in s1 s2; rewrite Ht in t1 t2.
have P4 : (16 ^ Z.of_nat d = 4 ^ Z.of_nat d * 4 ^ Z.of_nat d)%Z.
  by rewrite -Z.pow_mul_l.
have pos : (0 < 4 ^ Z.of_nat d)%Z by apply: Z.pow_pos_nonneg; lia.
have X : (3 * Z.abs x < 4 * 4 ^ Z.of_nat d)%Z by rewrite /x; lia.
have Y : (3 * Z.abs y < 4 * 4 ^ Z.of_nat d)%Z by rewrite /y; lia.
move: D; rewrite /norm /=; move: (4 ^ Z.of_nat d)%Z (16 ^ Z.of_nat d)%Z P4 pos X Y r_large => P Q -> pos X Y L [k K].
have square u : (3 * Z.abs u < 4 * P)%Z -> (9 * (u * u) < 16 * (P * P))%Z.
  move=> H; have A : (Z.abs u * Z.abs u = u * u)%Z by rewrite -Z.abs_mul Z.abs_eq //; apply: Z.square_nonneg.
  by have := Z.mul_lt_mono_nonneg (3 * Z.abs u) (4 * P) (3 * Z.abs u) (4 * P); lia.
have xx := square x X; have yy := square y Y.
have minus := Z.square_nonneg (x - y); have plus := Z.square_nonneg (x + y).
have x2 := Z.square_nonneg x; have y2 := Z.square_nonneg y.
have k0 : k = 0%Z.
  case: (Z_lt_le_dec k 1) => k1; last by have := Z.mul_le_mono_nonneg_r 1 k r; lia.
  by case: (Z_lt_le_dec k 0) => // k2; [have := Z.mul_le_mono_nonneg_r k (-1) r; lia | lia].
rewrite k0 in K.
have [xx0 yy0] : (x * x = 0)%Z /\ (y * y = 0)%Z by lia.
have x0 : x = 0%Z by move/Z.mul_eq_0: xx0; lia.
have y0 : y = 0%Z by move/Z.mul_eq_0: yy0; lia.
rewrite /x in x0; rewrite /y in y0.
by apply: eis_eq; lia.
Qed.

End Weights.
