(* How many choices are bad, out of all: the counting that every bound of docs/soundness.md rests on.

   A probability is a count here: "at most m of |W|" in place of "with probability at most m/|W|". *)

From mathcomp Require Import all_ssreflect.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section OneCoordinate.

(* Each i of I chooses a w of W, uniformly and independently. *)
Variables (I W : finType).
Implicit Types (f : {ffun I -> W}) (k : I).

(* The choices f, but w in place of that of k. *)
Definition upd f k w : {ffun I -> W} := [ffun i => if i == k then w else f i].

Lemma upd_same f k w : upd f k w k = w.
Proof. by rewrite ffunE eqxx. Qed.

Lemma upd_other f k w i : i != k -> upd f k w i = f i.
Proof. by rewrite ffunE => /negbTE ->. Qed.

(* "Fix all choices but that of k": if at most m of the choices of k are bad whatever the others are, then at most m/|W| of all
   choices are bad. *)
Lemma one_coordinate (bad : pred {ffun I -> W}) k m :
  (forall f, #|[set w | bad (upd f k w)]| <= m) ->
  #|[set f | bad f]| * #|W| <= m * #|W| ^ #|I|.
Proof.
move=> few; pose s (p : {ffun I -> W} * W) := (upd p.1 k p.2, p.1 k).
have inv : involutive s.
  case=> f w; rewrite /s /= upd_same; congr pair.
  by apply/ffunP=> i; rewrite !ffunE; case: eqP => // ->.
pose A := [set p : {ffun I -> W} * W | bad (upd p.1 k p.2)].
have -> : #|[set f | bad f]| * #|W| = #|A|.
  rewrite -[#|W|]cardsT -cardsX -(card_preimset A (inv_inj inv)); apply: eq_card => -[f w].
  by rewrite !inE /= andbT; have := inv (f, w); rewrite /s /= => -[-> _].
have -> : #|A| = \sum_f #|[set w | bad (upd f k w)]|.
  rewrite -sum1dep_card; transitivity (\sum_f \sum_(w | bad (upd f k w)) 1).
    by rewrite pair_big_dep.
  by apply: eq_bigr => f _; rewrite sum1dep_card.
apply: (@leq_trans (\sum_(f : {ffun I -> W}) m)); first by apply: leq_sum => f _; apply: few.
by rewrite sum_nat_const card_ffun mulnC.
Qed.

(* The same if nothing else is chosen. *)
Lemma rows_bound (P : I -> pred W) m :
  (forall i, #|[set w | P i w]| <= m) ->
  #|[set f : {ffun I -> W} | [forall i, P i (f i)]]| <= m ^ #|I|.
Proof.
move=> few; have -> : #|[set f : {ffun I -> W} | [forall i, P i (f i)]]| = #|family P|.
  by apply: eq_card => f; rewrite inE; apply/forallP/familyP.
rewrite card_family [#|I|]cardE /image_mem; elim: (enum I) => //= i s IH; rewrite expnS leq_mul //.
by have := few i; rewrite cardsE.
Qed.

End OneCoordinate.

(* Two choices, of which the first is bad in at most m cases and the second in at most n. *)
Lemma both_bad (A B : finType) (P : pred A) (Q : pred B) m n :
  #|[set a | P a]| <= m -> #|[set b | Q b]| <= n -> #|[set p : A * B | P p.1 && Q p.2]| <= m * n.
Proof.
move=> few few'; have -> : [set p : A * B | P p.1 && Q p.2] = setX [set a | P a] [set b | Q b].
  by apply/setP=> p; rewrite !inE.
by rewrite cardsX leq_mul.
Qed.

(* The bounds of events add up. *)
Lemma union_bound (T : finType) (E : eqType) (s : seq E) (bad : E -> pred T) :
  #|[set x | has (fun e => bad e x) s]| <= \sum_(e <- s) #|[set x | bad e x]|.
Proof.
elim: s => [|e s IH]; first by rewrite big_nil leqn0 cards_eq0; apply/eqP/setP=> x; rewrite !inE.
rewrite big_cons; apply: leq_trans (leq_add (leqnn _) IH).
apply: leq_trans (leq_card_setU _ _); apply/subset_leq_card/subsetP=> x; rewrite !inE /=; exact.
Qed.

(* Choices among those with a property. *)
Lemma card_sub_le (T : finType) (P Q : pred T) :
  #|[set w : {x | P x} | Q (val w)]| <= #|[set x | Q x]|.
Proof.
rewrite -(card_imset _ val_inj); apply/subset_leq_card/subsetP=> x /imsetP[w Qw ->].
by move: Qw; rewrite !inE.
Qed.
