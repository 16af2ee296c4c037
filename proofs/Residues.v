(* Lemma 4 of docs/nonuniform.md: a uniform residue becomes a number below M that is nearly uniform. *)

From mathcomp Require Import all_ssreflect.
From Quorate Require Import Counting.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Residues.

Variables (M p : nat).
Hypothesis p_positive : 0 < p.

(* The numbers below M with a residue. *)
Definition with_residue (u : nat) : {set 'I_M} := [set v : 'I_M | v %% p == u].

(* Each residue has M/p of them, rounded down or up. *)
Theorem residues_up u : #|with_residue u| <= (M %/ p).+1.
Proof.
pose f (v : 'I_M) : 'I_(M %/ p).+1 := inord (v %/ p).
have inj : {in with_residue u &, injective f}.
  move=> v w; rewrite !inE => /eqP Ev /eqP Ew /(congr1 val); rewrite /f /= !inordK ?ltnS ?leq_div2r //; try exact: ltnW.
  by move=> E; apply/val_inj; rewrite /= (divn_eq v p) (divn_eq w p) E Ev Ew.
by rewrite -(card_in_imset inj) -[X in _ <= X]card_ord max_card.
Qed.

Theorem residues_down (u : 'I_p) : M %/ p <= #|with_residue u|.
Proof.
have small (i : 'I_(M %/ p)) : i * p + u < M.
  apply: (@leq_trans (M %/ p * p)); last exact: leq_trunc_div.
  apply: (@leq_trans (i.+1 * p)); first by rewrite mulSn addnC ltn_add2r.
  by rewrite leq_mul2r ltn_ord orbT.
pose g (i : 'I_(M %/ p)) : 'I_M := Ordinal (small i).
have inj : injective g by move=> i j /(congr1 val) /= /eqP; rewrite eqn_add2r eqn_pmul2r // => /eqP /val_inj.
rewrite -[X in X <= _]card_ord -(card_imset _ inj); apply/subset_leq_card/subsetP=> _ /imsetP[i _ ->].
by rewrite inE /= modnMDl modn_small.
Qed.

End Residues.
