(* The steps of kernels in lanes of doubles (crates/quorate-curve/src/backend/fma/word.rs), in IEEE 754's binary64 with rounding to
   nearest: each gives the integers that the prover of kernels takes it to give (`impl Word for Symbol` in fma/proofs.rs). What a step needs
   here is what the prover checks there, and so is the order of the steps.

   Flocq's doubles are made of Coq's real numbers, so these lemmas, and no others, rest on the axioms of those. *)

From Coq Require Import ZArith Reals Lia Lra.
From Flocq Require Import Core BinarySingleNaN Binary Bits.

Local Open Scope Z_scope.

(* What single instructions compute: Fused in word.rs. *)
Definition add (a b : binary64) : binary64 := b64_plus mode_NE a b.
Definition sub (a b : binary64) : binary64 := b64_minus mode_NE a b.
Definition add_mul (c a b : binary64) : binary64 := b64_fma mode_NE a b c.
Definition sub_mul (c a b : binary64) : binary64 := b64_fma mode_NE (b64_opp a) b c.

(* The constants of word.rs, by their bits: see the lemmas of Constants. *)
Definition UP : binary64 := b64_of_bits (0x42f * 2 ^ 52).
Definition DOWN : binary64 := b64_of_bits (0x3cf * 2 ^ 52).
Definition MIDDLE : binary64 := b64_of_bits (0x463 * 2 ^ 52 + 2 ^ 51).
Definition MIDDLE_OF_INTEGERS : binary64 := b64_of_bits (0x433 * 2 ^ 52 + 2 ^ 51).
Definition TWO_TO_52 : binary64 := b64_of_bits (0x433 * 2 ^ 52).

(* The steps: Word in word.rs. *)
Definition nearest (x factor : binary64) : binary64 := sub (add_mul MIDDLE_OF_INTEGERS x factor) MIDDLE_OF_INTEGERS.
Definition carry (x : binary64) : binary64 := nearest x DOWN.
Definition rest (x : binary64) : binary64 := sub_mul x (carry x) UP.
Definition plus_multiple (x n : binary64) : binary64 := add_mul x n DOWN.
Definition digit (x factor : binary64) : binary64 := add_mul (sub MIDDLE (add_mul MIDDLE x factor)) x factor.
Definition cleared (x a b : binary64) : binary64 := add_mul x a b.
Definition add_product_high (high a b : binary64) : binary64 := add_mul high a b.
Definition add_product_low (high low a b : binary64) : binary64 :=
  add low (add_mul (sub high (add_product_high high a b)) a b).
Definition subtract_product_high (high a b : binary64) : binary64 := sub_mul high a b.
Definition subtract_product_low (high low a b : binary64) : binary64 :=
  add low (sub_mul (sub high (subtract_product_high high a b)) a b).
Definition plus_high (x n : binary64) : binary64 := add x (add_mul (b64_opp MIDDLE_OF_INTEGERS) n DOWN).

(* The double is this real number, and this integer. Zero may have either sign. *)
Definition is (x : binary64) (r : R) : Prop := is_finite 53 1024 x = true /\ B2R 53 1024 x = r.
Definition holds (x : binary64) (n : Z) : Prop := is x (IZR n).

(* The high parts of a sum are n, a multiple of 2^48: they stand above the middle of their binade. *)
Definition holds_high (x : binary64) (n : Z) : Prop := holds x (3 * 2 ^ 99 + n) /\ (2 ^ 48 | n) /\ Z.abs n < 2 ^ 99.

(* k is n/2^48 rounded to nearest, in either direction where two are as near. *)
Definition is_nearest (n k : Z) : Prop := Z.abs (n - 2 ^ 48 * k) <= 2 ^ 47.

Notation rounded := (round radix2 (FLT_exp (-1074) 53) ZnearestE).

Section Rounding.

Lemma bpow_is_power (e : Z) : 0 <= e -> bpow radix2 e = IZR (2 ^ e).
Proof. intros H; rewrite <- (IZR_Zpower radix2 e H); reflexivity. Qed.

Lemma exact (m e : Z) : Z.abs m <= 2 ^ 53 -> -1074 <= e -> rounded (IZR m * bpow radix2 e) = (IZR m * bpow radix2 e)%R.
Proof.
intros H He; apply round_generic; [apply valid_rnd_N|].
destruct (Z.eq_dec (Z.abs m) (2 ^ 53)) as [E|E].
- assert (F : forall s, generic_format radix2 (FLT_exp (-1074) 53) (IZR s * bpow radix2 (53 + e)) ->
                   generic_format radix2 (FLT_exp (-1074) 53) (IZR (s * 2 ^ 53) * bpow radix2 e)).
  { intros s; rewrite bpow_plus, mult_IZR, (bpow_is_power 53) by lia; rewrite Rmult_assoc; trivial. }
  assert (one : generic_format radix2 (FLT_exp (-1074) 53) (bpow radix2 (53 + e))).
  { apply generic_format_FLT_bpow; [reflexivity | lia]. }
  destruct (Z.abs_spec m) as [[_ A]|[_ A]]; rewrite A in E.
  + rewrite E; change (2 ^ 53) with (1 * 2 ^ 53); apply F; rewrite Rmult_1_l; exact one.
  + replace m with (-1 * 2 ^ 53) by lia; apply F.
    replace (IZR (-1) * bpow radix2 (53 + e))%R with (- bpow radix2 (53 + e))%R by (change (IZR (-1)) with (-1)%R; lra).
    apply generic_format_opp; exact one.
- apply generic_format_FLT; exists (Float radix2 m e); cbn; [reflexivity | lia | lia].
Qed.

Lemma exact_integer (n : Z) : Z.abs n <= 2 ^ 53 -> rounded (IZR n) = IZR n.
Proof. intros H; rewrite <- (Rmult_1_r (IZR n)); apply (exact n 0); lia. Qed.

Lemma exact_multiple (n : Z) : (2 ^ 48 | n) -> Z.abs n <= 2 ^ 101 -> rounded (IZR n) = IZR n.
Proof.
intros [m E] H; subst n; rewrite mult_IZR, <- bpow_is_power by lia; apply exact; [|lia].
apply (Z.mul_le_mono_pos_r _ _ (2 ^ 48)); [lia|].
replace (Z.abs m * 2 ^ 48) with (Z.abs (m * 2 ^ 48)) by lia; rewrite <- Z.pow_add_r; lia.
Qed.

(* In the binade above 2^(52 + e), doubles are 2^e apart. *)
Lemma in_binade (x : R) (e : Z) : 0 <= e -> (bpow radix2 (52 + e) <= x < bpow radix2 (53 + e))%R ->
  exists k, rounded x = (IZR k * bpow radix2 e)%R /\ (Rabs (x - IZR k * bpow radix2 e) <= / 2 * bpow radix2 e)%R.
Proof.
intros He H.
assert (P : (0 < x)%R) by (apply Rlt_le_trans with (2 := proj1 H), bpow_gt_0).
assert (M : mag radix2 x = 53 + e :> Z).
{ apply mag_unique; rewrite Rabs_pos_eq by lra; replace (53 + e - 1) with (52 + e) by lia; exact H. }
assert (C : cexp radix2 (FLT_exp (-1074) 53) x = e) by (unfold cexp, FLT_exp; rewrite M; lia).
assert (E : rounded x = (IZR (ZnearestE (x * bpow radix2 (- e))) * bpow radix2 e)%R).
{ unfold round, scaled_mantissa; rewrite C; reflexivity. }
exists (ZnearestE (x * bpow radix2 (- e))); split; [exact E|].
assert (B : x = (x * bpow radix2 (- e) * bpow radix2 e)%R).
{ rewrite Rmult_assoc, <- bpow_plus; replace (- e + e) with 0 by lia; cbn; ring. }
rewrite B at 1; rewrite <- Rmult_minus_distr_r, Rabs_mult, (Rabs_pos_eq (bpow radix2 e)) by apply bpow_ge_0.
apply Rmult_le_compat_r; [apply bpow_ge_0 | rewrite <- Rabs_Ropp, Ropp_minus_distr; rewrite Rabs_minus_sym; apply Znearest_half].
Qed.

End Rounding.

Section Instructions.

Lemma is_small (n : Z) : Z.abs n <= 2 ^ 120 -> (Rabs (IZR n) < bpow radix2 1024)%R.
Proof.
intros H; rewrite <- abs_IZR; apply Rle_lt_trans with (IZR (2 ^ 120)); [apply IZR_le, H|].
rewrite <- bpow_is_power by lia; apply bpow_lt; lia.
Qed.

Lemma opp_is (x : binary64) (r : R) : is x r -> is (b64_opp x) (- r)%R.
Proof. intros [F E]; split; unfold b64_opp; [rewrite is_finite_Bopp; exact F | rewrite B2R_Bopp, E; reflexivity]. Qed.

Lemma add_mul_is (c a b : binary64) (x y z : R) (n : Z) : is a x -> is b y -> is c z ->
  rounded (x * y + z) = IZR n -> Z.abs n <= 2 ^ 120 -> holds (add_mul c a b) n.
Proof.
intros [Fa Ea] [Fb Eb] [Fc Ec] E S.
assert (H := Bfma_correct 53 1024 (eq_refl _) (eq_refl _) ternop_nan_pl64 mode_NE a b c Fa Fb Fc).
cbv zeta in H; rewrite Ea, Eb, Ec in H.
change (round radix2 _ _ (x * y + z)) with (rounded (x * y + z)) in H.
rewrite E, Rlt_bool_true in H by (apply is_small; exact S).
destruct H as [H1 [H2 _]]; split; [exact H2 | exact H1].
Qed.

Lemma sub_mul_is (c a b : binary64) (x y z : R) (n : Z) : is a x -> is b y -> is c z ->
  rounded (z - x * y) = IZR n -> Z.abs n <= 2 ^ 120 -> holds (sub_mul c a b) n.
Proof.
intros Ha Hb Hc E S; apply (add_mul_is c (b64_opp a) b (- x) y z); [apply opp_is, Ha | exact Hb | exact Hc | | exact S].
rewrite <- E; f_equal; ring.
Qed.

Lemma add_is (a b : binary64) (x y : R) (n : Z) : is a x -> is b y ->
  rounded (x + y) = IZR n -> Z.abs n <= 2 ^ 120 -> holds (add a b) n.
Proof.
intros [Fa Ea] [Fb Eb] E S.
assert (H := Bplus_correct 53 1024 (eq_refl _) (eq_refl _) binop_nan_pl64 mode_NE a b Fa Fb).
rewrite Ea, Eb in H; change (round radix2 _ _ (x + y)) with (rounded (x + y)) in H.
rewrite E, Rlt_bool_true in H by (apply is_small; exact S).
destruct H as [H1 [H2 _]]; split; [exact H2 | exact H1].
Qed.

Lemma sub_is (a b : binary64) (x y : R) (n : Z) : is a x -> is b y ->
  rounded (x - y) = IZR n -> Z.abs n <= 2 ^ 120 -> holds (sub a b) n.
Proof.
intros [Fa Ea] [Fb Eb] E S.
assert (H := Bminus_correct 53 1024 (eq_refl _) (eq_refl _) binop_nan_pl64 mode_NE a b Fa Fb).
rewrite Ea, Eb in H; change (round radix2 _ _ (x - y)) with (rounded (x - y)) in H.
rewrite E, Rlt_bool_true in H by (apply is_small; exact S).
destruct H as [H1 [H2 _]]; split; [exact H2 | exact H1].
Qed.

Lemma made_of (x : binary64) (sign : bool) (m : positive) (e : Z) : B2FF 53 1024 x = F754_finite sign m e ->
  is x (IZR (cond_Zopp sign (Zpos m)) * bpow radix2 e)%R.
Proof.
destruct x as [| | |s m' e' B]; try discriminate.
cbn [B2FF]; intros E; injection E; intros -> -> ->; split; reflexivity.
Qed.

(* m*2^(a - b) = n. *)
Lemma made_of_holds (x : binary64) (sign : bool) (m : positive) (a b n : Z) : B2FF 53 1024 x = F754_finite sign m (a - b) ->
  0 <= a -> 0 <= b -> cond_Zopp sign (Zpos m) * 2 ^ a = n * 2 ^ b -> holds x n.
Proof.
intros E Ha Hb M; destruct (made_of _ _ _ _ E) as [F B]; split; [exact F|]; rewrite B; clear E F B.
apply (Rmult_eq_reg_r (bpow radix2 b)); [|apply Rgt_not_eq, bpow_gt_0].
rewrite Rmult_assoc, <- bpow_plus; replace (a - b + b) with a by lia.
rewrite !bpow_is_power, <- !mult_IZR by assumption; rewrite M; reflexivity.
Qed.

End Instructions.

Section Constants.

Lemma UP_holds : holds UP (2 ^ 48).
Proof. now apply (made_of_holds _ false (2 ^ 52) 0 4). Qed.

Lemma MIDDLE_holds : holds MIDDLE (3 * 2 ^ 99).
Proof. now apply (made_of_holds _ false (3 * 2 ^ 51) 48 0). Qed.

Lemma MIDDLE_OF_INTEGERS_holds : holds MIDDLE_OF_INTEGERS (3 * 2 ^ 51).
Proof. now apply (made_of_holds _ false (3 * 2 ^ 51) 0 0). Qed.

Lemma DOWN_is : is DOWN (/ IZR (2 ^ 48)).
Proof.
destruct (made_of DOWN false (2 ^ 52) (- 100)) as [F B]; [vm_compute; reflexivity|].
split; [exact F|]; rewrite B; change (IZR (cond_Zopp false (Zpos (2 ^ 52)))) with (IZR (2 ^ 52)).
rewrite <- !bpow_is_power, <- bpow_opp, <- bpow_plus by lia; reflexivity.
Qed.

Lemma down (n : Z) : (2 ^ 48 | n) -> (IZR n * / IZR (2 ^ 48) = IZR (n / 2 ^ 48))%R.
Proof.
intros [m ->]; rewrite Z.div_mul by lia; rewrite mult_IZR; field; apply not_0_IZR; lia.
Qed.

End Constants.

Section Steps.

(* Zero, also the one with a sign, with which sums begin, is an integer. *)
Theorem zeros_hold : holds (B754_zero 53 1024 false) 0 /\ holds (B754_zero 53 1024 true) 0.
Proof. split; split; reflexivity. Qed.

Theorem plus_is_exact (a b : binary64) (m n : Z) : holds a m -> holds b n ->
  Z.abs (m + n) < 2 ^ 53 -> holds (add a b) (m + n).
Proof.
intros Ha Hb H; apply (add_is _ _ _ _ _ Ha Hb); [rewrite <- plus_IZR; apply exact_integer | ]; lia.
Qed.

Theorem minus_is_exact (a b : binary64) (m n : Z) : holds a m -> holds b n ->
  Z.abs (m - n) < 2 ^ 53 -> holds (sub a b) (m - n).
Proof.
intros Ha Hb H; apply (sub_is _ _ _ _ _ Ha Hb); [rewrite <- minus_IZR; apply exact_integer | ]; lia.
Qed.

Theorem minus_product_is_exact (x a b : binary64) (l m n : Z) : holds x l -> holds a m -> holds b n ->
  Z.abs (l - m * n) < 2 ^ 53 -> holds (sub_mul x a b) (l - m * n).
Proof.
intros Hx Ha Hb H; apply (sub_mul_is _ _ _ _ _ _ _ Ha Hb Hx); [rewrite <- mult_IZR, <- minus_IZR; apply exact_integer | ]; lia.
Qed.

(* If every integer that can be nearest has 51 bits. The factor is any number. *)
Theorem nearest_is_nearest (x factor : binary64) (n : Z) (r : R) : holds x n -> is factor r ->
  (forall q, (Rabs (IZR n * r - IZR q) <= / 2)%R -> Z.abs q < 2 ^ 51) ->
  exists q, holds (nearest x factor) q /\ (Rabs (IZR n * r - IZR q) <= / 2)%R.
Proof.
intros Hx Hf H; set (y := (IZR n * r)%R) in *.
assert (Y : (Rabs (y - IZR (ZnearestE y)) <= / 2)%R) by apply Znearest_half.
assert (Q : (Rabs y <= IZR (2 ^ 51) - / 2)%R).
{ assert (B : (Rabs (IZR (ZnearestE y)) <= IZR (2 ^ 51 - 1))%R) by (rewrite <- abs_IZR; apply IZR_le; specialize (H _ Y); lia).
  rewrite minus_IZR in B; split_Rabs; lra. }
destruct (in_binade (y + IZR (3 * 2 ^ 51)) 0) as [k [K D]]; [lia | |].
{ rewrite !bpow_is_power by lia; cbn [Z.pow Z.add Z.mul Z.pow_pos Pos.iter Pos.mul Pos.add] in *; split_Rabs; lra. }
cbn [bpow] in K, D; rewrite Rmult_1_r in K, D.
assert (E : (Rabs (y - IZR (k - 3 * 2 ^ 51)) <= / 2)%R).
{ rewrite minus_IZR; split_Rabs; lra. }
assert (S := H _ E); exists (k - 3 * 2 ^ 51); split; [|exact E].
assert (A : holds (add_mul MIDDLE_OF_INTEGERS x factor) k).
{ apply (add_mul_is _ _ _ (IZR n) r (IZR (3 * 2 ^ 51))); [exact Hx | exact Hf | exact MIDDLE_OF_INTEGERS_holds | exact K | lia]. }
apply minus_is_exact; [exact A | exact MIDDLE_OF_INTEGERS_holds | lia].
Qed.

Theorem cut_is_exact (x : binary64) (n : Z) : holds x n -> Z.abs n < 2 ^ 98 ->
  exists k, is_nearest n k /\ holds (carry x) k /\ holds (rest x) (n - 2 ^ 48 * k).
Proof.
intros Hx H.
assert (P : (0 < IZR (2 ^ 48))%R) by (apply IZR_lt; lia).
assert (near : forall q, (Rabs (IZR n * / IZR (2 ^ 48) - IZR q) <= / 2)%R -> is_nearest n q).
{ intros q Hq; unfold is_nearest; apply le_IZR; rewrite abs_IZR, minus_IZR, mult_IZR.
  replace (IZR n - IZR (2 ^ 48) * IZR q)%R with ((IZR n * / IZR (2 ^ 48) - IZR q) * IZR (2 ^ 48))%R by (field; lra).
  rewrite Rabs_mult, (Rabs_pos_eq (IZR (2 ^ 48))) by lra.
  replace (IZR (2 ^ 47)) with (/ 2 * IZR (2 ^ 48))%R by (change (2 ^ 48) with (2 ^ 47 * 2); rewrite mult_IZR; lra).
  apply Rmult_le_compat_r; lra. }
destruct (nearest_is_nearest x DOWN n (/ IZR (2 ^ 48)) Hx DOWN_is) as [k [K D]].
{ intros q Hq; specialize (near q Hq); unfold is_nearest in near; lia. }
specialize (near k D); exists k; split; [exact near|]; split; [exact K|].
rewrite Z.mul_comm; apply minus_product_is_exact; [exact Hx | exact K | exact UP_holds | unfold is_nearest in near; lia].
Qed.

Theorem plus_multiple_is_exact (x y : binary64) (m n : Z) : holds x m -> holds y n -> (2 ^ 48 | n) ->
  Z.abs (m + n / 2 ^ 48) < 2 ^ 53 -> holds (plus_multiple x y) (m + n / 2 ^ 48).
Proof.
intros Hx Hy D H; apply (add_mul_is _ _ _ _ _ _ _ Hy DOWN_is Hx); [|lia].
rewrite down, <- plus_IZR by exact D; rewrite Z.add_comm; apply exact_integer; lia.
Qed.

Theorem cleared_is_exact (x a b : binary64) (l m n : Z) : holds x l -> holds a m -> holds b n -> (2 ^ 48 | l + m * n) ->
  Z.abs (l + m * n) < 2 ^ 100 -> holds (cleared x a b) (l + m * n).
Proof.
intros Hx Ha Hb D H; apply (add_mul_is _ _ _ _ _ _ _ Ha Hb Hx); [|lia].
rewrite <- mult_IZR, <- plus_IZR, Z.add_comm; apply exact_multiple; [exact D | lia].
Qed.

Theorem no_high_holds : holds_high MIDDLE 0.
Proof. split; [exact MIDDLE_holds | split; [apply Z.divide_0_r | reflexivity]]. Qed.

(* A product, split where it is added to high parts. *)
Lemma product_is_split (high a b : binary64) (h m n : Z) : holds_high high h -> holds a m -> holds b n ->
  - 2 ^ 99 <= h + m * n < 2 ^ 99 ->
  exists k, is_nearest (m * n) k /\ holds (add_mul high a b) (3 * 2 ^ 99 + (h + 2 ^ 48 * k)) /\
    holds (add_mul (sub high (add_mul high a b)) a b) (m * n - 2 ^ 48 * k).
Proof.
intros [Hh [[d Hd] Sh]] Ha Hb S; unfold is_nearest in *.
set (s := 3 * 2 ^ 99 + h + m * n).
destruct (in_binade (IZR s) 48) as [t [T D]]; [lia | |].
{ rewrite !bpow_is_power by lia; split; [apply IZR_le | apply IZR_lt]; unfold s; lia. }
rewrite bpow_is_power, <- mult_IZR in T, D by lia; rewrite <- minus_IZR, <- abs_IZR in D.
assert (N : Z.abs (s - t * 2 ^ 48) <= 2 ^ 47).
{ apply le_IZR, Rle_trans with (1 := D); change (2 ^ 48) with (2 ^ 47 * 2); rewrite (mult_IZR (2 ^ 47)); lra. }
set (k := t - 3 * 2 ^ 51 - d).
assert (E : t * 2 ^ 48 = 3 * 2 ^ 99 + (h + 2 ^ 48 * k)) by (unfold k; lia).
assert (K : Z.abs (m * n - 2 ^ 48 * k) <= 2 ^ 47) by (unfold s in N; lia).
exists k; split; [exact K|].
assert (A : holds (add_mul high a b) (t * 2 ^ 48)).
{ apply (add_mul_is _ _ _ _ _ _ _ Ha Hb Hh); [|lia]; rewrite <- mult_IZR, <- plus_IZR, <- T; do 2 f_equal; unfold s; lia. }
split; [rewrite <- E; exact A|].
assert (M : holds (sub high (add_mul high a b)) (- (2 ^ 48 * k))).
{ apply (sub_is _ _ _ _ _ Hh A); [|lia].
  rewrite <- minus_IZR; replace (3 * 2 ^ 99 + h - t * 2 ^ 48) with (- (2 ^ 48 * k)) by lia.
  apply exact_multiple; [exists (- k) |]; lia. }
apply (add_mul_is _ _ _ _ _ _ _ Ha Hb M); [|lia].
rewrite <- mult_IZR, <- plus_IZR; apply exact_integer; lia.
Qed.

Theorem digit_is_exact (x factor : binary64) (m n : Z) : holds x m -> holds factor n -> Z.abs (m * n) < 2 ^ 99 ->
  exists k, is_nearest (m * n) k /\ holds (digit x factor) (m * n - 2 ^ 48 * k).
Proof.
intros Hx Hf H; destruct (product_is_split MIDDLE x factor 0 m n no_high_holds Hx Hf) as [k [K [_ L]]]; [lia|].
exists k; split; [exact K | exact L].
Qed.

(* If each k that can be nearest leaves the sum in the binade, and the low parts below 2^53. *)
Theorem add_product_is_exact (high low a b : binary64) (h l m n : Z) :
  holds_high high h -> holds low l -> holds a m -> holds b n ->
  (forall k, is_nearest (m * n) k -> Z.abs (h + 2 ^ 48 * k) < 2 ^ 99 /\ Z.abs (l + (m * n - 2 ^ 48 * k)) < 2 ^ 53) ->
  exists k, is_nearest (m * n) k /\ holds_high (add_product_high high a b) (h + 2 ^ 48 * k) /\
    holds (add_product_low high low a b) (l + (m * n - 2 ^ 48 * k)).
Proof.
intros Hh Hl Ha Hb H.
assert (M : - 2 ^ 99 <= h + m * n < 2 ^ 99).
{ pose (k := (m * n + 2 ^ 47) / 2 ^ 48).
  assert (K : is_nearest (m * n) k).
  { unfold is_nearest, k; assert (E := Z.div_mod (m * n + 2 ^ 47) (2 ^ 48)).
    assert (L := Z.mod_pos_bound (m * n + 2 ^ 47) (2 ^ 48)); lia. }
  destruct Hh as [_ [[d Hd] _]]; destruct (H k K) as [B _]; unfold is_nearest in K.
  assert (D : (2 ^ 48 | 2 ^ 99 - Z.abs (h + 2 ^ 48 * k))).
  { apply Z.divide_sub_r; [exists (2 ^ 51); reflexivity|]; apply Z.divide_abs_r; exists (d + k); lia. }
  apply Z.divide_pos_le in D; lia. }
destruct (product_is_split high a b h m n Hh Ha Hb M) as [k [K [A L]]].
destruct Hh as [_ [D _]]; destruct (H k K) as [B C].
exists k; split; [exact K | split; [split; [exact A | split; [|exact B]] | apply plus_is_exact; [exact Hl | exact L | exact C]]].
apply Z.divide_add_r; [exact D | apply Z.divide_factor_l].
Qed.

Theorem subtract_product_is_exact (high low a b : binary64) (h l m n : Z) :
  holds_high high h -> holds low l -> holds a m -> holds b n ->
  (forall k, is_nearest (- (m * n)) k -> Z.abs (h + 2 ^ 48 * k) < 2 ^ 99 /\ Z.abs (l + (- (m * n) - 2 ^ 48 * k)) < 2 ^ 53) ->
  exists k, is_nearest (- (m * n)) k /\ holds_high (subtract_product_high high a b) (h + 2 ^ 48 * k) /\
    holds (subtract_product_low high low a b) (l + (- (m * n) - 2 ^ 48 * k)).
Proof.
intros Hh Hl Ha Hb; replace (- (m * n)) with (- m * n) by lia.
apply (add_product_is_exact high low (b64_opp a) b); [exact Hh | exact Hl | | exact Hb].
unfold holds; rewrite opp_IZR; apply opp_is, Ha.
Qed.

Theorem plus_high_is_exact (x y : binary64) (m n : Z) : holds x m -> holds_high y n ->
  Z.abs (m + n / 2 ^ 48) < 2 ^ 53 -> holds (plus_high x y) (m + n / 2 ^ 48).
Proof.
intros Hx [Hy [[d D] S]] H; apply plus_is_exact; [exact Hx | | exact H].
assert (E : (3 * 2 ^ 99 + n) / 2 ^ 48 = 3 * 2 ^ 51 + n / 2 ^ 48).
{ replace (3 * 2 ^ 99 + n) with (n + 3 * 2 ^ 51 * 2 ^ 48) by lia; rewrite Z.div_add by lia; lia. }
assert (Q : n / 2 ^ 48 = d) by (subst n; apply Z.div_mul; lia).
apply (add_mul_is _ _ _ _ _ _ _ Hy DOWN_is (opp_is _ _ MIDDLE_OF_INTEGERS_holds)); [|lia].
rewrite down by (exists (3 * 2 ^ 51 + d); lia).
rewrite E, <- opp_IZR, <- plus_IZR; replace (3 * 2 ^ 51 + n / 2 ^ 48 + - (3 * 2 ^ 51)) with (n / 2 ^ 48) by lia.
apply exact_integer; lia.
Qed.

(* What the prover concludes where a number is already small, or already a multiple. *)
Theorem small_leaves_no_high (n k : Z) : is_nearest n k -> Z.abs n < 2 ^ 47 -> k = 0.
Proof. unfold is_nearest; lia. Qed.

Theorem multiple_leaves_no_low (n k : Z) : is_nearest n k -> (2 ^ 48 | n) -> n - 2 ^ 48 * k = 0.
Proof. unfold is_nearest; intros H [m E]; lia. Qed.

End Steps.

(* Integers to doubles and back. *)
Section Conversions.

Lemma has_bits_of_both (n m : Z) : 0 <= n < 2 ^ 52 -> Z.lor n (m * 2 ^ 52) = n + m * 2 ^ 52.
Proof.
intros H; assert (D : Z.land n (m * 2 ^ 52) = 0).
{ apply Z.bits_inj'; intros i Hi; rewrite Z.land_spec, Z.bits_0, Z.mul_pow2_bits by lia.
  destruct (Z_lt_le_dec i 52) as [L|L]; [rewrite (Z.testbit_neg_r m) by lia; apply Bool.andb_false_r|].
  rewrite <- (Z.mod_small n (2 ^ 52)), Z.mod_pow2_bits_high by lia; reflexivity. }
rewrite <- Z.lxor_lor, Z.add_nocarry_lxor by exact D; reflexivity.
Qed.

(* AVX2 and AVX-512: the bits of 2^52 are put above those of the number, and 2^52 is subtracted. *)
Theorem bits_below_52_are_converted (n : Z) : 0 <= n < 2 ^ 52 -> holds (sub (b64_of_bits (Z.lor n (0x433 * 2 ^ 52))) TWO_TO_52) n.
Proof.
intros H; rewrite has_bits_of_both by exact H.
assert (T : holds TWO_TO_52 (2 ^ 52)) by now apply (made_of_holds _ false (2 ^ 52) 0 0).
assert (N : B2FF 53 1024 (b64_of_bits (n + 0x433 * 2 ^ 52)) = F754_finite false (Z.to_pos (n + 2 ^ 52)) 0).
{ assert (P : split_bits 52 11 (n + 0x433 * 2 ^ 52) = (false, n, 0x433)).
  { unfold split_bits; rewrite Z.mod_add, Z.div_add, (Z.mod_small n), (Z.div_small n), Zle_bool_false by lia; reflexivity. }
  unfold b64_of_bits, binary_float_of_bits; rewrite B2FF_FF2B; unfold binary_float_of_bits_aux; rewrite P.
  destruct n as [|p|p]; [reflexivity | reflexivity | lia]. }
replace n with (n + 2 ^ 52 - 2 ^ 52) at 2 by lia; apply minus_is_exact; [| exact T | lia].
apply (made_of_holds _ _ _ 0 0 _ N); [lia | lia | cbn [cond_Zopp]; rewrite Z2Pos.id; lia].
Qed.

(* NEON: an integer is rounded to the nearest double. *)
Definition of_integer (n : Z) : binary64 := binary_normalize 53 1024 (eq_refl _) (eq_refl _) mode_NE n 0 false.

Theorem integers_of_53_bits_are_converted (n : Z) : Z.abs n <= 2 ^ 53 -> holds (of_integer n) n.
Proof.
intros H; assert (C := binary_normalize_correct 53 1024 (eq_refl _) (eq_refl _) mode_NE n 0 false).
assert (E : F2R (Float radix2 n 0) = IZR n) by (unfold F2R; cbn; ring).
rewrite E in C; change (round radix2 _ _ (IZR n)) with (rounded (IZR n)) in C.
rewrite exact_integer, Rlt_bool_true in C by (apply is_small || idtac; lia).
destruct C as [C [F _]]; split; [exact F | exact C].
Qed.

(* A double that is an integer is cut to this one. *)
Theorem integers_are_converted_back (x : binary64) (n : Z) : holds x n -> Ztrunc (B2R 53 1024 x) = n.
Proof. intros [_ E]; rewrite E; apply Ztrunc_IZR. Qed.

End Conversions.

(* What fails one bit further, computed on doubles. *)
Section Counterexamples.

Theorem a_sum_of_54_bits_is_rounded : holds (add (of_integer (2 ^ 53)) (of_integer 1)) (2 ^ 53).
Proof. now apply (made_of_holds _ false (2 ^ 52) 1 0). Qed.

(* 2^52 + 1 over -2 lies between two integers of 52 bits, and remains what it is. *)
Theorem a_quotient_of_52_bits_is_no_integer :
  is (nearest (of_integer (2 ^ 52 + 1)) (b64_of_bits (0xbfe * 2 ^ 52))) (- (IZR (2 ^ 52 + 1) / 2)).
Proof.
destruct (made_of (nearest (of_integer (2 ^ 52 + 1)) (b64_of_bits (0xbfe * 2 ^ 52))) true (2 ^ 52 + 1) (- 1)) as [F B].
{ vm_compute; reflexivity. }
split; [exact F|].
rewrite B; cbn [cond_Zopp]; change (Zpos (2 ^ 52 + 1)) with (2 ^ 52 + 1); rewrite opp_IZR.
change (bpow radix2 (- 1)) with (/ 2)%R; unfold Rdiv; ring.
Qed.

(* High parts that are 2^48 above the lower end of their binade, less 3*2^47: the sum is no multiple of 2^48. *)
Theorem a_sum_below_its_binade_is_no_high_part :
  holds (add_product_high (add MIDDLE (of_integer (2 ^ 48 - 2 ^ 99))) (of_integer (- 3)) (of_integer (2 ^ 47)))
    (3 * 2 ^ 99 + (- 2 ^ 99 - 2 ^ 47)).
Proof. now apply (made_of_holds _ false (2 ^ 53 - 1) 47 0). Qed.

(* The digit of a product beyond the binade should be 2^47 or -2^47. *)
Theorem a_digit_of_a_larger_product_is_lost : holds (digit (of_integer (- 2 ^ 52 - 1)) (of_integer (2 ^ 47))) 0.
Proof. split; [vm_compute; reflexivity | reflexivity]. Qed.

(* 2^48*(2^53 + 1) is no double. *)
Theorem a_multiple_of_54_bits_is_rounded :
  holds (cleared (of_integer (2 ^ 48)) (of_integer (2 ^ 48)) (of_integer (2 ^ 53))) (2 ^ 101).
Proof. now apply (made_of_holds _ false (2 ^ 52) 49 0). Qed.

(* The bits of 2^52 meet those of a number above them. *)
Theorem bits_above_52_are_lost : holds (sub (b64_of_bits (Z.lor (2 ^ 52) (0x433 * 2 ^ 52))) TWO_TO_52) 0.
Proof. split; vm_compute; reflexivity. Qed.

End Counterexamples.
