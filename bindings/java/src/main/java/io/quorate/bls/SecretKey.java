package io.quorate.bls;

/** A secret key. Closing it is {@link #destroy()}. */
public interface SecretKey extends AutoCloseable {
    /** The 32 bytes of the secret, which the caller wipes. */
    byte[] toBytes();

    /** The public key. */
    PublicKey derivePublicKey();

    /** Signs a message. */
    Signature sign(byte[] message);

    /** Wipes the key. What is called later is an {@link IllegalStateException}. */
    void destroy();

    @Override
    default void close() {
        destroy();
    }
}
