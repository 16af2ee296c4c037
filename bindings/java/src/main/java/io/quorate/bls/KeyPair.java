package io.quorate.bls;

import java.util.Objects;

/**
 * A secret key and its public key.
 *
 * @param secretKey the secret key
 * @param publicKey its public key
 */
public record KeyPair(SecretKey secretKey, PublicKey publicKey) {
    /** Neither is null. */
    public KeyPair {
        Objects.requireNonNull(secretKey, "secretKey");
        Objects.requireNonNull(publicKey, "publicKey");
    }
}
