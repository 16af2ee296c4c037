package io.quorate.bls;

/** A part of a batch that was prepared, for {@link Bls12381#completeBatchVerify}. */
public interface SemiAggregate {}
