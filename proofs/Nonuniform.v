(* A hash that need not be uniform: the counting in docs/nonuniform.md. The curves and the random oracle are not here. *)

From Coq Require Import ZArith Znumtheory Lia.
From mathcomp Require Import all_ssreflect ssralg finalg.
From Quorate Require Import Counting Action.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope nat_scope.

Section Map.

Local Open Scope ring_scope.

(* Lemma 1, the bound. The map takes u, which is no exception, to a point (x, y) with x = x1 or x = t*x1, and y has the parity of u. *)
Variables (F : finFieldType) (a b z : F) (parity : pred F) (image : F -> F * F).
Hypotheses (a0 : a != 0) (b0 : b != 0) (z0 : z != 0).
Hypothesis parity_differs : forall u, u != 0 -> parity (- u) != parity u.

Definition tee u : F := z * u ^+ 2.
Definition exception u := tee u ^+ 2 + tee u == 0.
Definition x1 u : F := - (b / a) * (1 + (tee u ^+ 2 + tee u)^-1).

Hypothesis image_x : forall u, ~~ exception u -> (image u).1 = x1 u \/ (image u).1 = tee u * x1 u.
Hypothesis image_y : forall u, parity (image u).2 = parity u.

(* A point determines w, and t or 1/t is a root of X^2 + X = 1/w. *)
Definition double_u (x : F) : F := - 1 - x * (a / b).

Lemma tee_is_a_root u : ~~ exception u ->
  let w := double_u (image u).1 in
  w * (tee u ^+ 2 + tee u) = 1 \/ w * ((tee u)^-1 ^+ 2 + (tee u)^-1) = 1.
Proof.
move=> ex w; have e0 : tee u ^+ 2 + tee u != 0 := ex.
have et : tee u ^+ 2 + tee u = tee u * (tee u + 1) by rewrite mulrDr mulr1 expr2.
have [t0 t1] : tee u != 0 /\ tee u + 1 != 0 by move: e0; rewrite et mulf_eq0 negb_or => /andP[].
have q0 : a / b != 0 by rewrite mulf_neq0 ?invr_eq0.
have x1_q : x1 u * (a / b) = - (1 + (tee u ^+ 2 + tee u)^-1).
  by rewrite /x1 -[b / a]invf_div mulrAC mulNr mulVf // mulN1r.
rewrite /w /double_u; case: (image_x ex) => ->; [left | right].
  by rewrite x1_q opprK addrA addNr add0r mulVf.
have -> : - 1 - tee u * x1 u * (a / b) = tee u - 1 + (tee u + 1)^-1.
  by rewrite -mulrA x1_q mulrN opprK et invfM mulrDr mulr1 mulrA divff // mul1r addrA [- 1 + _]addrC.
have -> : (tee u)^-1 ^+ 2 + (tee u)^-1 = (tee u + 1) * (tee u ^+ 2)^-1.
  rewrite exprVn mulrDl mul1r addrC; congr (_ + _).
  by rewrite expr2 [(tee u * tee u)^-1]invfM mulrA divff // mul1r.
by rewrite mulrA mulrDl mulVf // -subr_sqr_1 subrK divff // expf_neq0.
Qed.

(* The two roots at most of w(X^2 + X) = 1. *)
Lemma at_most_two_roots (w : F) : (#|[set t : F | (w * (t ^+ 2 + t) == 1)%R]| <= 2)%N.
Proof.
case: (eqVneq w 0) => [->|w0].
  by rewrite (_ : [set t | _] = set0) ?cards0 //; apply/setP=> t; rewrite !inE mul0r eq_sym oner_eq0.
case: (set_0Vmem [set t : F | w * (t ^+ 2 + t) == 1]) => [->|[s]]; first by rewrite cards0.
rewrite inE => /eqP Es; apply: (@leq_trans #|[set s; - 1 - s]|); last by rewrite cards2 ltnS leq_b1.
apply/subset_leq_card/subsetP=> t; rewrite !inE => /eqP Et.
have : (t - s) * (t + s + 1) == 0.
  have E : t ^+ 2 + t = s ^+ 2 + s by apply: (mulfI w0); rewrite Et Es.
  by rewrite mulrDr mulr1 -subr_sqr addrACA -opprD E subrr.
rewrite mulf_eq0 subr_eq0 => /orP[-> //|]; rewrite -addrA addr_eq0 => /eqP ->.
by rewrite opprD addrC eqxx orbT.
Qed.

Theorem at_most_four_preimages q : (#|[set u | ~~ exception u & image u == q]| <= 4)%N.
Proof.
set A := [set u | _ & _]; pose w := double_u q.1.
pose B := [set t : F | w * (t ^+ 2 + t) == 1].
have inj : {in A &, injective tee}.
  move=> u v; rewrite !inE => /andP[eu /eqP Eu] /andP[ev /eqP Ev] /(mulfI z0) /eqP; rewrite eqf_sqr => /orP[/eqP //|/eqP E].
  have v0 : v != 0 by apply: contraNneq ev => ->; rewrite /exception /tee expr0n mulr0 expr0n addr0.
  by have := parity_differs v0; rewrite -E -(image_y u) -(image_y v) Eu Ev eqxx.
rewrite -(card_in_imset inj); apply: (@leq_trans #|B :|: [set t^-1 | t in B]|).
  apply/subset_leq_card/subsetP=> _ /imsetP[u Au ->]; move: Au; rewrite !inE => /andP[eu /eqP Eu].
  case: (tee_is_a_root eu); rewrite Eu -/w => /eqP H; first by rewrite H.
  by apply/orP; right; apply/imsetP; exists (tee u)^-1; rewrite ?inE // invrK.
apply: leq_trans (leq_card_setU _ _) _; apply: (@leq_add _ _ 2 2); first exact: at_most_two_roots.
exact: leq_trans (leq_imset_card _ _) (at_most_two_roots w).
Qed.

End Map.

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
