/**
 * BLS signatures verified in bulk: one verdict for each claim, which says what is false.
 *
 * <p>A {@link io.quorate.Claim} says that keys signed messages. A {@link io.quorate.Verifier} takes any number of claims and gives a
 * {@link io.quorate.Verdict} for each. A {@link io.quorate.Batcher} takes claims one by one, as they come. A false signature is a verdict,
 * never an exception. Bytes that you hand over as a key or a signature outside of a claim, and that are none, are a
 * {@link io.quorate.QuorateException}. A null is a {@link NullPointerException}, and a closed object an {@link IllegalStateException}.
 *
 * <p>All types can be used by several threads at the same time.
 */
package io.quorate;
