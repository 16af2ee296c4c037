package io.quorate.bls;

/** A public key: 48 bytes, of which nobody says yet that they are a point. Two are equal if their bytes are. */
public interface PublicKey {
    /** A copy of the 48 bytes. */
    byte[] toBytesCompressed();

    /** Whether this key made a signature over a message. */
    default boolean verifySignature(Signature signature, byte[] message) {
        return signature.verify(this, message);
    }

    /**
     * Reads the point.
     *
     * @throws IllegalArgumentException if it is not on the curve, not in the group, or the identity
     */
    void forceValidation();

    /** Whether it is a point of the group, the identity included. */
    boolean isInGroup();

    /** Whether it is a point of the group and not the identity. */
    boolean isValid();
}
