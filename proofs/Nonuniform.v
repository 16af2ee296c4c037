(* A hash that need not be uniform: the counting in docs/nonuniform.md. The curves and the random oracle are not here. *)

From Coq Require Import ZArith Znumtheory Lia.
From mathcomp Require Import all_ssreflect ssralg finalg.
From Quorate Require Import Counting Action.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope nat_scope.

Section Sampling.

(* Lemma 2. A map from field elements to points, of which at most four have one image: to draw a uniform element, draw a uniform point and one
   of four places; if there is an element at that place among those of the point, take it, else draw again. *)
Variables (U Q : finType) (image : U -> Q).
Hypothesis at_most_four : forall q, #|[set u | image u == q]| <= 4.

Definition preimages (q : Q) : seq U := enum [set u | image u == q].

(* What a draw takes: Some u, or None to draw again. *)
Definition taken (draw : Q * 'I_4) : option U := nth None [seq Some u | u <- preimages draw.1] draw.2.

Lemma every_element_is_taken_once u : #|[set draw | taken draw == Some u]| = 1.
Proof.
have in_u : u \in preimages (image u) by rewrite mem_enum inE.
have small : index u (preimages (image u)) < 4.
  by apply: leq_trans (at_most_four (image u)); rewrite cardE index_mem.
have -> : [set draw | taken draw == Some u] = [set (image u, Ordinal small)].
  apply/setP=> -[q i]; rewrite !inE /taken /=; apply/eqP/eqP=> [E|[-> ->]]; last first.
    by rewrite (nth_map u) ?index_mem // nth_index.
  have iq : i < size (preimages q).
    by rewrite ltnNge; apply/negP=> large; move: E; rewrite nth_default ?size_map.
  move: E; rewrite (nth_map u) // => -[En].
  have : u \in preimages q by rewrite -En mem_nth.
  rewrite mem_enum inE => /eqP Eq; subst q; congr pair; apply/val_inj => /=.
  by have := index_uniq u iq (enum_uniq _); rewrite En.
by rewrite cards1.
Qed.

End Sampling.

Section Logarithms.

Local Open Scope ring_scope.

(* Lemma 3. E' is a group of h*r points, and each point of order r is a multiple of C'. *)
Variables (E : finZmodType) (h : Z) (r : nat) (C' : E).
Hypothesis r_positive : (0 < r)%N.
Hypothesis coprime : Z.gcd h (Z.of_nat r) = 1%Z.
Hypothesis curve_order : forall P : E, zmul (h * Z.of_nat r) P = 0.
Hypothesis C'_order : C' *+ r = 0.
Hypothesis C'_generates : forall P : E, zmul (Z.of_nat r) P = 0 -> exists k : 'I_r, P = C' *+ k.

(* The drawn point, from a number k below r and a point R. *)
Definition drawn (draw : 'I_r * E) : E := C' *+ draw.1 + draw.2 *+ r.

Lemma zmul_of_nat n (P : E) : zmul (Z.of_nat n) P = P *+ n.
Proof. by case: n => [|n]; rewrite /= ?SuccNat2Pos.id_succ. Qed.

Lemma every_point_is_drawn Q : exists draw, drawn draw = Q.
Proof.
have [u [w uw]] := Z.gcd_bezout _ _ _ coprime.
have [k Ek] : exists k : 'I_r, zmul (u * h) Q = C' *+ k.
  apply: C'_generates; rewrite -zmulA (_ : (_ * _ = u * (h * Z.of_nat r))%Z); last by lia.
  by rewrite zmulA curve_order zmul_zero.
exists (k, zmul w Q); rewrite /drawn /= -Ek -zmul_of_nat -zmulA -zmulDl.
by rewrite (_ : (_ + _ = 1)%Z); last by lia.
Qed.

(* Every point is drawn equally often: the drawn point is uniform. *)
Theorem drawn_point_is_uniform Q Q' : (#|[set draw | drawn draw == Q]| <= #|[set draw | drawn draw == Q']|)%N.
Proof.
have [[k0 R0] E0] := every_point_is_drawn (Q' - Q).
pose shift (draw : 'I_r * E) : 'I_r * E := (Ordinal (ltn_pmod (draw.1 + k0) r_positive), draw.2 + R0).
have multiple n : C' *+ (n %% r) = C' *+ n.
  by rewrite [in RHS](divn_eq n r) mulrnDr mulnC mulrnA C'_order mul0rn add0r.
have inj : injective shift.
  move=> [k R] [l S] [] /= Ekl /addIr ->; congr pair; apply/val_inj => /=.
  by move/eqP: Ekl; rewrite eqn_modDr !modn_small // => /eqP.
rewrite -(card_imset _ inj); apply/subset_leq_card/subsetP=> _ /imsetP[[k R] H ->].
move: H; rewrite !inE => /eqP EQ; apply/eqP; rewrite /drawn /= multiple mulrnDr mulrnDl addrACA.
by move: E0 EQ; rewrite /drawn /= => -> ->; rewrite addrC subrK.
Qed.

(* Its image is k times that of C': c clears the cofactor. *)
Lemma logarithm_is_known (F : zmodType) (phi : {additive E -> F}) (c : nat) k R :
  (forall P : E, phi P *+ (c * r) = 0) -> phi (drawn (k, R)) *+ c = phi C' *+ c *+ k.
Proof.
move=> clears; rewrite /drawn /= raddfD !raddfMn mulrnDl -!mulrnA [(r * c)%N]mulnC clears addr0.
by rewrite mulnC.
Qed.

End Logarithms.
