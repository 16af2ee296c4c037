package io.quorate;

import java.util.List;
import java.util.Objects;

/**
 * What can be done with signatures. Each is an array with {@link Suite#signatureLength()} bytes. Nothing here says whether one is valid.
 */
public final class Signatures {
    private Signatures() {}

    /**
     * Reads a signature: canonical, in the subgroup. It says nothing about who made it.
     *
     * @throws QuorateException with {@link QuorateException.Code#ENCODING}, if it is none
     */
    public static void check(Suite suite, byte[] signature) {
        Objects.requireNonNull(suite, "suite");
        Objects.requireNonNull(signature, "signature");
        Native.checkSignature(suite.number(), signature);
    }

    /**
     * The sum of signatures, all of which are checked. Cost: a membership check and an addition for each.
     *
     * @throws QuorateException with {@link QuorateException.Code#ENCODING}; with {@link QuorateException.Code#MISUSE} for no signatures,
     *     and in a BDN suite, where each signature needs its key: {@link #bdnAggregate}
     */
    public static byte[] aggregate(Suite suite, List<byte[]> signatures) {
        Objects.requireNonNull(suite, "suite");
        return Native.aggregate(suite.number(), Bytes.joined("signatures", signatures, suite.signatureLength()));
    }

    /**
     * The aggregate of a BDN suite: the signature of several keys over one message, with the coefficients of exactly these keys. The
     * signature of each key stands at its index. Both are checked, but not whether each signature is valid: verify them first, as claims of
     * one key, or a false one spoils the aggregate. A claim of these keys verifies it.
     *
     * @throws QuorateException with {@link QuorateException.Code#ENCODING}; with {@link QuorateException.Code#MISUSE} in another suite, for
     *     none, for other numbers of keys than of signatures, and if a key stands there twice
     */
    public static byte[] bdnAggregate(Suite suite, List<byte[]> publicKeys, List<byte[]> signatures) {
        Objects.requireNonNull(suite, "suite");
        byte[] keys = Bytes.joined("publicKeys", publicKeys, suite.keyLength());
        return Native.bdnAggregate(suite.number(), keys, Bytes.joined("signatures", signatures, suite.signatureLength()));
    }

    /**
     * A sum without some of its parts; without parts it is the sum. It is your task to know that they are parts of it.
     *
     * @throws QuorateException with {@link QuorateException.Code#ENCODING}; with {@link QuorateException.Code#MISUSE} in a BDN suite
     */
    public static byte[] subtract(Suite suite, byte[] sum, List<byte[]> parts) {
        Objects.requireNonNull(suite, "suite");
        Objects.requireNonNull(sum, "sum");
        return Native.subtract(suite.number(), sum, Bytes.joined("parts", parts, suite.signatureLength()));
    }
}
