/**
 * BLS signatures of Ethereum's consensus layer in the shape that a consensus client has for its provider: a batch is prepared set by set,
 * and completed by one call.
 *
 * <p>{@link io.quorate.bls.QuorateBls} implements {@link io.quorate.bls.Bls12381} with a {@link io.quorate.Verifier}. What is prepared
 * only holds its claims, so the engine plans and verifies all of a batch at once, and can name what is false.
 */
package io.quorate.bls;
