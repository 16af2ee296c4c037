(* Shares: interpolation, and the test of a dealer's degree by a random codeword of the dual code (evaluations.rs). *)

From mathcomp Require Import all_ssreflect ssralg poly.
From Quorate Require Import Counting.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import GRing.Theory.
Local Open Scope ring_scope.

Section Lagrange.

(* n participants with different points x. *)
Variables (F : fieldType) (n : nat) (x : 'I_n -> F).
Hypothesis x_inj : injective x.

(* prod_(j != i) (X - x_j). Its value at x_i is V'(x_i). *)
Definition others i : {poly F} := \prod_(j | j != i) ('X - (x j)%:P).
Definition derivative i : F := (others i).[x i].

Lemma derivative_neq0 i : derivative i != 0.
Proof.
rewrite /derivative /others horner_prod; apply/prodf_neq0 => j ji.
by rewrite hornerXsubC subr_eq0 (inj_eq x_inj) eq_sym.
Qed.

Lemma others_at i j : j != i -> (others i).[x j] = 0.
Proof. by move=> ji; rewrite /others (bigD1 j) //= hornerM hornerXsubC subrr mul0r. Qed.

Lemma size_others i : size (others i) = n.
Proof.
rewrite /others -big_filter size_prod_XsubC -sum1_size big_filter.
have -> : (\sum_(j | j != i) 1 = #|predC1 i|)%N by rewrite -sum1_card; apply: eq_bigl.
by rewrite cardC1 card_ord prednK //; apply: leq_ltn_trans (ltn_ord i).
Qed.

Lemma others_monic i : others i \is monic.
Proof. exact: monic_prod_XsubC. Qed.

(* A polynomial of degree below n is determined by its values. *)
Definition interpolated (y : 'I_n -> F) : {poly F} := \sum_i (y i / derivative i) *: others i.

Lemma interpolated_at y j : (interpolated y).[x j] = y j.
Proof.
rewrite /interpolated horner_sum (bigD1 j) //= hornerZ divfK ?derivative_neq0 // big1 ?addr0 // => i ij.
by rewrite hornerZ others_at ?mulr0 // eq_sym.
Qed.

Lemma size_interpolated y : (size (interpolated y) <= n)%N.
Proof.
apply: (leq_trans (size_sum _ _ _)); apply/bigmax_leqP => i _.
by apply: (leq_trans (size_scale_leq _ _)); rewrite size_others.
Qed.

Theorem interpolation (p : {poly F}) : (size p <= n)%N -> p = interpolated (fun i => p.[x i]).
Proof.
move=> small; apply/eqP; rewrite -subr_eq0; apply/eqP.
apply: (@roots_geq_poly_eq0 _ _ [seq x i | i <- enum 'I_n]).
- apply/allP=> _ /mapP[i _ ->]; by rewrite rootE hornerD hornerN interpolated_at subrr.
- by rewrite map_inj_uniq ?enum_uniq.
rewrite size_map size_enum_ord; apply: (leq_trans (size_add _ _)).
by rewrite size_opp geq_max small size_interpolated.
Qed.

(* The threshold: the secret is p(0), a sum of the shares with coefficients that do not depend on them. *)
Corollary lagrange_at_zero (p : {poly F}) : (size p <= n)%N ->
  p.[0] = \sum_i p.[x i] * ((others i).[0] / derivative i).
Proof.
move=> small; rewrite {1}(interpolation small) /interpolated horner_sum; apply: eq_bigr => i _.
by rewrite hornerZ -mulrA [_^-1 * _]mulrC.
Qed.

(* The sum that the test computes is the coefficient of X^(n-1). *)
Lemma top_coefficient (p : {poly F}) : (0 < n)%N -> (size p <= n)%N -> \sum_i p.[x i] / derivative i = p`_n.-1.
Proof.
move=> n0 small; rewrite {2}(interpolation small) /interpolated coef_sum; apply: eq_bigr => i _.
rewrite coefZ; have := others_monic i; rewrite monicE lead_coefE size_others => /eqP ->.
by rewrite mulr1.
Qed.

Section Degree.

(* The threshold, and the points of a dealer, in the exponent. *)
Variables (t : nat) (y : 'I_n -> F).
Hypothesis t_n : (t < n)%N.

Definition tested (f : {poly F}) : F := \sum_i y i * (f.[x i] / derivative i).

Lemma honest_dealer_passes (p f : {poly F}) : (0 < t)%N -> (size p <= t)%N -> (size f <= n - t)%N ->
  (forall i, y i = p.[x i]) -> tested f = 0.
Proof.
move=> t0 sp sf E; have n0 : (0 < n)%N by apply: leq_ltn_trans t_n.
have s : (size (p * f)%R < n)%N.
  case: (eqVneq p 0) => [->|p0]; first by rewrite mul0r size_poly0.
  case: (eqVneq f 0) => [->|f0]; first by rewrite mulr0 size_poly0.
  by rewrite size_mul //; move: (leq_add sp sf); rewrite subnKC ?(ltnW t_n) //; case: (size p + size f)%N.
have -> : tested f = \sum_i (p * f).[x i] / derivative i.
  by apply: eq_bigr => i _; rewrite E hornerM mulrA.
rewrite (top_coefficient n0 (ltnW s)); apply: nth_default.
by rewrite -ltnS prednK.
Qed.

(* The numbers from which each coefficient of f is drawn. *)
Variables (C : finType) (number : C -> F).
Hypothesis number_inj : injective number.

Definition drawn (c : {ffun 'I_(n - t) -> C}) : {poly F} := \sum_k number (c k) *: 'X^k.

Lemma tested_drawn c : tested (drawn c) = \sum_k number (c k) * tested 'X^k.
Proof.
rewrite /tested /drawn; under eq_bigr => i _ do rewrite horner_sum mulr_suml mulr_sumr.
rewrite exchange_big; apply: eq_bigr => k _; rewrite mulr_sumr; apply: eq_bigr => i _.
by rewrite hornerZ -mulrA mulrCA.
Qed.

(* A dealer whose points belong to no polynomial of degree below t passes with probability at most 1/|C|. *)
Theorem other_dealer_fails : (forall p : {poly F}, (size p <= t)%N -> exists i, y i != p.[x i]) ->
  (#|[set c | tested (drawn c) == 0%R]| * #|C| <= #|{: {ffun 'I_(n - t) -> C}}|)%N.
Proof.
move=> other; have n0 : (0 < n)%N by apply: leq_ltn_trans t_n.
pose p := interpolated y.
have sp : (t < size p)%N.
  by rewrite ltnNge; apply/negP=> /other[i]; rewrite interpolated_at eqxx.
have sn : (size p <= n)%N := size_interpolated y.
have p0 : p != 0 by rewrite -size_poly_gt0; apply: leq_ltn_trans sp.
have k_small : (n - size p < n - t)%N by apply: ltn_sub2l.
pose k := Ordinal k_small.
have coefficient : tested 'X^k != 0.
  have -> : tested 'X^k = \sum_i (p * 'X^k).[x i] / derivative i.
    by apply: eq_bigr => i _; rewrite hornerM interpolated_at mulrA.
  rewrite top_coefficient //; last by rewrite size_Mmonic ?monicXn // size_polyXn addnS addnC subnK.
  have -> : n.-1 = ((size p).-1 + k)%N.
    by rewrite /k /=; apply: succn_inj; rewrite -addSn !prednK ?subnKC //; apply: leq_ltn_trans sp.
  by rewrite coefMXn ltnNge leq_addl /= addnK -lead_coefE lead_coef_eq0.
rewrite card_ffun; apply: (@leq_trans (1 * #|C| ^ #|'I_(n - t)|)); last by rewrite mul1n.
apply: (one_coordinate (k := k)).
move=> c; apply/card_le1_eqP=> a b; rewrite !inE !tested_drawn => /eqP Ha /eqP Hb.
have same z : \sum_(i | i != k) number (upd c k z i) * tested 'X^i = \sum_(i | i != k) number (c i) * tested 'X^i.
  by apply: eq_bigr => i ik; rewrite upd_other.
rewrite (bigD1 k) //= upd_same same in Ha; rewrite (bigD1 k) //= upd_same same in Hb.
apply: number_inj; apply: (mulIf coefficient).
by apply: (addIr (\sum_(i | i != k) number (c i) * tested 'X^i)); rewrite Ha Hb.
Qed.

End Degree.

End Lagrange.
