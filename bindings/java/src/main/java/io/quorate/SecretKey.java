package io.quorate;

import java.util.Objects;

/**
 * A secret key. It stands in native memory, which is wiped when the key is closed. Constant-time code alone computes with it.
 *
 * <p>Close it when you are done. The garbage collector frees a forgotten one at some time, or never.
 */
public final class SecretKey implements AutoCloseable {
    private final Suite suite;
    private final Handle handle;

    private SecretKey(Suite suite, long number) {
        this.suite = suite;
        handle = new Handle("secret key", number, Native::secretFree);
    }

    /**
     * A new key from the random numbers of the operating system.
     *
     * @throws QuorateException with {@link QuorateException.Code#SYSTEM}, if there are none
     */
    public static SecretKey generate(Suite suite) {
        Objects.requireNonNull(suite, "suite");
        return new SecretKey(suite, Native.secretGenerate(suite.number()));
    }

    /**
     * {@code KeyGen} (draft-irtf-cfrg-bls-signature-05, section 2.3, and under {@link Suite#CHIA} that of draft 3) of at least 32 secret
     * bytes, and of bytes that tell keys of one material apart, which may be none.
     *
     * @throws QuorateException with {@link QuorateException.Code#ENCODING}, if the material is too short
     */
    public static SecretKey derive(Suite suite, byte[] material, byte[] info) {
        Objects.requireNonNull(suite, "suite");
        Objects.requireNonNull(material, "material");
        Objects.requireNonNull(info, "info");
        return new SecretKey(suite, Native.secretDerive(suite.number(), material, info));
    }

    /**
     * Reads a key: 32 bytes, a big-endian number of 1 to r - 1. The array is the caller's to wipe.
     *
     * @throws QuorateException with {@link QuorateException.Code#ENCODING}
     */
    public static SecretKey fromBytes(Suite suite, byte[] bytes) {
        Objects.requireNonNull(suite, "suite");
        Objects.requireNonNull(bytes, "bytes");
        return new SecretKey(suite, Native.secretRead(suite.number(), bytes));
    }

    /** The suite. */
    public Suite suite() {
        return suite;
    }

    /** The 32 bytes of the secret. Wipe the array after use; the Java machine may have moved it, and left a copy that nobody wipes. */
    public byte[] toBytes() {
        return handle.with(Native::secretBytes);
    }

    /** The public key, as claims have it. */
    public byte[] publicKey() {
        return handle.with(Native::secretPublicKey);
    }

    /**
     * Signs a message.
     *
     * @throws QuorateException with {@link QuorateException.Code#MISUSE}, if the suite signs no such message: {@link Suite#EIGENLAYER}
     *     signs 32 bytes
     */
    public byte[] sign(byte[] message) {
        Objects.requireNonNull(message, "message");
        return handle.with(number -> Native.secretSign(number, message));
    }

    /**
     * A proof that the owner of the public key holds this secret, for {@link Claim#possession}.
     *
     * @throws QuorateException with {@link QuorateException.Code#MISUSE}, if the suite has no such proofs
     */
    public byte[] prove() {
        return handle.with(Native::secretProve);
    }

    /** Wipes and frees the key, or if calls use it, the last of them does. Later calls are an {@link IllegalStateException}. */
    @Override
    public void close() {
        handle.close();
    }

    /** The suite, and nothing of the secret. */
    @Override
    public String toString() {
        return "SecretKey[" + suite.named() + "]";
    }
}
