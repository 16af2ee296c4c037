package io.quorate.bls;

import java.util.Objects;

/**
 * A key and the message that it signed.
 *
 * @param publicKey the key
 * @param message the message, which must not change
 */
public record PublicKeyMessagePair(PublicKey publicKey, byte[] message) {
    /** Neither is null. */
    public PublicKeyMessagePair {
        Objects.requireNonNull(publicKey, "publicKey");
        Objects.requireNonNull(message, "message");
    }
}
