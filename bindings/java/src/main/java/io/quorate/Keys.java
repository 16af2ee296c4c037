package io.quorate;

import java.util.List;
import java.util.Objects;

/** What can be done with public keys. Each is an array with {@link Suite#keyLength()} bytes. */
public final class Keys {
    private Keys() {}

    /**
     * Reads a key: canonical, in the subgroup, not the identity.
     *
     * @throws QuorateException with {@link QuorateException.Code#ENCODING}, if it is none
     */
    public static void check(Suite suite, byte[] key) {
        Objects.requireNonNull(suite, "suite");
        Objects.requireNonNull(key, "key");
        Native.checkPublicKey(suite.number(), key);
    }

    /**
     * The sum of keys, all of which are checked; in a BDN suite with its coefficients. A signature by all of them over one message verifies
     * with it. In the other suites rely on it only if the owner of each key has shown that it holds the secret. Cost: a membership check
     * and an addition for each.
     *
     * @throws QuorateException with {@link QuorateException.Code#ENCODING}; with {@link QuorateException.Code#MISUSE} for no keys, if they
     *     add up to the identity, in a BDN suite if one stands there twice, and under {@link Suite#EIGENLAYER}
     */
    public static byte[] aggregatePublicKeys(Suite suite, List<byte[]> keys) {
        Objects.requireNonNull(suite, "suite");
        return Native.aggregatePublicKeys(suite.number(), Bytes.joined("keys", keys, suite.keyLength()));
    }
}
