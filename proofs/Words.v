(* Digits in any base of a word of random bits: its digits as a fraction (`signs` in weighted_sum.rs, `Trits` in members.rs). *)

From mathcomp Require Import all_ssreflect.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Words.

(* Words below M, and digits in base b. *)
Variables (M b : nat).
Hypotheses (M_positive : 0 < M) (b_positive : 0 < b).

(* What is left of a word after n digits, and the digit at place n, as the code computes them. *)
Fixpoint rest n w := if n is n.+1 then (b * rest n w) %% M else w.
Definition word_digit n w := (b * rest n w) %/ M.

(* The first n digits as one number. *)
Fixpoint number n w := if n is n.+1 then b * number n w + word_digit n w else 0.

Lemma number_and_rest n w : b ^ n * w = number n w * M + rest n w.
Proof.
elim: n => [|n IH] /=; first by rewrite expn0 mul1n mul0n.
by rewrite expnS -mulnA IH mulnDr mulnA mulnDl -addnA -divn_eq.
Qed.

Lemma rest_small n w : w < M -> rest n w < M.
Proof. by case: n => //= n _; apply: ltn_pmod. Qed.

Lemma same_digits_same_number n v w : (forall i, i < n -> word_digit i v = word_digit i w) -> number n v = number n w.
Proof.
elim: n => //= n IH H; rewrite IH ?H //; move=> i lt_in; apply: H; exact: (leq_trans lt_in).
Qed.

(* Every list of n digits is that of at most M/b^n words, rounded up. *)
Theorem words_of_digits n (t : nat -> nat) :
  #|[set w : 'I_M | [forall i : 'I_n, word_digit i w == t i]]| <= (M %/ b ^ n).+1.
Proof.
set A := [set w | _]; set K := (M %/ b ^ n).+1.
have bn : 0 < b ^ n by rewrite expn_gt0 b_positive.
have large : M < b ^ n * K by rewrite mulnC /K; apply: ltn_ceil.
pose f (w : 'I_M) : 'I_K := inord (w %% K).
have inj : {in A &, injective f}.
  move=> v w; rewrite !inE => /forallP Hv /forallP Hw E; apply/val_inj.
  have {Hv Hw} same : number n v = number n w.
    apply: same_digits_same_number => i lt_in.
    by rewrite (eqP (Hv (Ordinal lt_in))) -(eqP (Hw (Ordinal lt_in))).
  have {E} : v = w %[mod K].
    by have := congr1 val E; rewrite /f /= !inordK ?ltn_pmod.
  wlog vw : v w same / v <= w.
    by move=> wl E; case/orP: (leq_total v w) => H; [apply: wl | apply/esym/wl].
  move=> /eqP; rewrite eq_sym (eqn_mod_dvd K vw) => /dvdnP[q Eq].
  case: q Eq => [|q] Eq; first by apply/eqP; rewrite eqn_leq vw -subn_eq0 Eq.
  have Ev := number_and_rest n v; have Ew := number_and_rest n w.
  have : b ^ n * (w - v) < M.
    rewrite mulnBr Ev Ew same subnDl; apply: leq_ltn_trans (leq_subr _ _) _; exact: rest_small.
  rewrite Eq mulSn mulnDr => H; have := leq_trans H (ltnW large).
  by rewrite ltnNge leq_addr.
by rewrite -(card_in_imset inj) -[X in _ <= X]card_ord max_card.
Qed.

End Words.
