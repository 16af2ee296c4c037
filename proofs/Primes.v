(* The orders of the groups of BLS12-381 and BN254 are prime: certificates of Pocklington, made with the program `pocklington` of Coqprime. *)

From Coq Require Import ZArith Znumtheory Lia List.
From Coqprime Require Import PocklingtonCertificat.

(* A small prime: it has no factor in common with a smaller number. *)
Fixpoint coprime_to_next (n : Z) (count : nat) (m : Z) : bool :=
  match count with
  | O => true
  | S count => andb (Z.gcd m n =? 1)%Z (coprime_to_next n count (m + 1))
  end.

Lemma coprime_to_next_spec n count : forall m,
  coprime_to_next n count m = true -> forall k, (m <= k < m + Z.of_nat count)%Z -> Z.gcd k n = 1%Z.
Proof.
induction count as [|count IH]; intros m H k Hk; [lia|].
simpl in H; rewrite Bool.andb_true_iff, Z.eqb_eq in H; destruct H as [H H'].
destruct (Z.eq_dec k m) as [->|]; trivial; apply (IH (m + 1)%Z H'); lia.
Qed.

Lemma small_prime n : andb (1 <? n)%Z (coprime_to_next n (Z.to_nat n - 1) 1) = true -> prime n.
Proof.
rewrite Bool.andb_true_iff, Z.ltb_lt; intros [Hn H]; constructor; trivial.
intros m Hm; apply Zgcd_1_rel_prime, (coprime_to_next_spec _ _ _ H); lia.
Qed.

Local Open Scope positive_scope.

Lemma bls12_381_order_is_prime :
  prime 52435875175126190479447740508185965837690552500527637822603658699938581184513.
Proof.
apply (Pocklington_refl
  (Pock_certif 52435875175126190479447740508185965837690552500527637822603658699938581184513 5
    ((906349, 1) :: (125527, 1) :: (10177, 1) :: (11, 1) :: (2, 32) :: nil) 103514360691799098516839670)
  (Pock_certif 906349 2 ((47, 1) :: (2, 2) :: nil) 308 ::
   Pock_certif 125527 3 ((20921, 1) :: (2, 1) :: nil) 1 ::
   Pock_certif 20921 3 ((523, 1) :: (2, 3) :: nil) 1 ::
   Proof_certif 523 (small_prime 523 ltac:(vm_cast_no_check (eq_refl true))) ::
   Pock_certif 10177 5 ((53, 1) :: (2, 6) :: nil) 1 ::
   Proof_certif 53 (small_prime 53 ltac:(vm_cast_no_check (eq_refl true))) ::
   Proof_certif 47 (small_prime 47 ltac:(vm_cast_no_check (eq_refl true))) ::
   Proof_certif 11 (small_prime 11 ltac:(vm_cast_no_check (eq_refl true))) ::
   Proof_certif 2 prime_2 :: nil)).
vm_cast_no_check (eq_refl true).
Qed.

Lemma bn254_order_is_prime :
  prime 21888242871839275222246405745257275088548364400416034343698204186575808495617.
Proof.
apply (Pocklington_refl
  (Pock_certif 21888242871839275222246405745257275088548364400416034343698204186575808495617 5
    ((405928799, 1) :: (11003, 1) :: (983, 1) :: (13, 1) :: (3, 1) :: (2, 28) :: nil) 61188133433000256669356882)
  (Pock_certif 405928799 11 ((4999, 1) :: (2, 1) :: nil) 608 ::
   Pock_certif 11003 2 ((5501, 1) :: (2, 1) :: nil) 1 ::
   Pock_certif 5501 2 ((5, 3) :: (2, 2) :: nil) 1 ::
   Pock_certif 4999 3 ((17, 1) :: (7, 2) :: (2, 1) :: nil) 1 ::
   Proof_certif 983 (small_prime 983 ltac:(vm_cast_no_check (eq_refl true))) ::
   Proof_certif 17 (small_prime 17 ltac:(vm_cast_no_check (eq_refl true))) ::
   Proof_certif 13 (small_prime 13 ltac:(vm_cast_no_check (eq_refl true))) ::
   Proof_certif 7 (small_prime 7 ltac:(vm_cast_no_check (eq_refl true))) ::
   Proof_certif 5 (small_prime 5 ltac:(vm_cast_no_check (eq_refl true))) ::
   Proof_certif 3 prime_3 ::
   Proof_certif 2 prime_2 :: nil)).
vm_cast_no_check (eq_refl true).
Qed.
