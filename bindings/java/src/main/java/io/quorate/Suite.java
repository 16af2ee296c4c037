package io.quorate;

import java.util.Objects;

/**
 * A signature suite: curve, hash, scheme and encodings. {@link #named} is its name in files and on the command line.
 *
 * <p>Keys and signatures of BLS12-381 are compressed points. Those on BN254, which gives about 100 bits of security, are the words of the
 * EVM: {@link #EIGENLAYER} and all below it.
 */
public enum Suite {
    /** Ethereum's consensus layer: one message signed by keys whose owners have proven possession. */
    ETH2(1, "eth2", 48, 96),
    /** Ethereum's sync aggregate: as {@link #ETH2}, but the identity is the valid signature of no keys. */
    ETH2_SYNC_AGGREGATE(2, "eth2-sync-aggregate", 48, 96),
    /** Chia's scheme, in which each key signs itself with the message. */
    CHIA(3, "chia", 48, 96),
    /** drand's chained beacon. */
    DRAND_CHAINED(4, "drand-chained", 48, 96),
    /** drand's beacon without a chain. */
    DRAND_UNCHAINED(5, "drand-unchained", 48, 96),
    /** The basic scheme, keys in G1. */
    BASIC(6, "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_", 48, 96),
    /** The scheme that signs the key with the message, keys in G1. */
    AUGMENTED(7, "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_AUG_", 48, 96),
    /** The scheme with proofs of possession, keys in G1. */
    PROOF_OF_POSSESSION(8, "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_", 48, 96),
    /** Keys summed with coefficients (Boneh, Drijvers, Neven), keys in G1. */
    BDN(9, "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_BDN_", 48, 96),
    /** drand's quicknet. */
    DRAND_QUICKNET(20, "drand-quicknet", 96, 48),
    /** drand's first beacon with signatures in G1. */
    DRAND_G1_LEGACY(21, "drand-g1-legacy", 96, 48),
    /** The basic scheme, signatures in G1. */
    MIN_SIG_BASIC(22, "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_", 96, 48),
    /** The scheme that signs the key with the message, signatures in G1. */
    MIN_SIG_AUGMENTED(23, "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_AUG_", 96, 48),
    /** The scheme with proofs of possession, signatures in G1. */
    MIN_SIG_PROOF_OF_POSSESSION(24, "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_", 96, 48),
    /** Keys summed with coefficients, signatures in G1. */
    MIN_SIG_BDN(25, "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_BDN_", 96, 48),
    /** EigenLayer's: messages of 32 bytes; a key is its points in G1 and in G2. */
    EIGENLAYER(40, "eigenlayer", 192, 64),
    /** drand's evmnet. */
    DRAND_EVMNET(41, "drand-evmnet", 128, 64),
    /** The basic scheme, hashed with Keccak-256. */
    KECCAK_BASIC(42, "BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_NUL_", 128, 64),
    /** The scheme that signs the key with the message, hashed with Keccak-256. */
    KECCAK_AUGMENTED(43, "BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_AUG_", 128, 64),
    /** The scheme with proofs of possession, hashed with Keccak-256. */
    KECCAK_PROOF_OF_POSSESSION(44, "BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_POP_", 128, 64),
    /** The basic scheme, hashed with SHA-256. */
    SHA256_BASIC(45, "BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_NUL_", 128, 64),
    /** The scheme that signs the key with the message, hashed with SHA-256. */
    SHA256_AUGMENTED(46, "BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_AUG_", 128, 64),
    /** The scheme with proofs of possession, hashed with SHA-256. */
    SHA256_PROOF_OF_POSSESSION(47, "BLS_SIG_BN254G1_XMD:SHA-256_SVDW_RO_POP_", 128, 64);

    private final int number;
    private final String named;
    private final int keyLength;
    private final int signatureLength;

    Suite(int number, String named, int keyLength, int signatureLength) {
        this.number = number;
        this.named = named;
        this.keyLength = keyLength;
        this.signatureLength = signatureLength;
    }

    /**
     * The suite of a name such as {@code eth2}.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static Suite of(String name) {
        Objects.requireNonNull(name, "name");
        for (Suite suite : values()) {
            if (suite.named.equals(name)) {
                return suite;
            }
        }
        throw new IllegalArgumentException("there is no suite with the name " + name);
    }

    /** Its number in the C interface, which never changes. */
    public int number() {
        return number;
    }

    /** Its name in files and on the command line. */
    public String named() {
        return named;
    }

    /** How many bytes a public key has. */
    public int keyLength() {
        return keyLength;
    }

    /** How many bytes a signature has. */
    public int signatureLength() {
        return signatureLength;
    }
}
