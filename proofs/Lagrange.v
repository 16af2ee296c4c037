(* Shares: interpolation, and the test of a dealer's degree by a random codeword of the dual code. *)

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

(* prod_(j != i) (X - x_j): V'(x_i) is its value at x_i. *)
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
rewrite /others size_prod_XsubC_cond.
Admitted.

End Lagrange.
