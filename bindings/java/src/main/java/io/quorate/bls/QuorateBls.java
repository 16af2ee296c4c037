package io.quorate.bls;

import io.quorate.Claim;
import io.quorate.Keys;
import io.quorate.QuorateException;
import io.quorate.Signatures;
import io.quorate.Suite;
import io.quorate.Verdict;
import io.quorate.Verifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Random;

/**
 * {@link Bls12381} by quorate. Any number of threads can use one.
 *
 * <p>{@link #verdicts} says which parts of a batch are false, at the cost of completing it.
 */
public final class QuorateBls implements Bls12381 {
    private static final Suite SUITE = Suite.ETH2;

    private final Verifier verifier;

    /** With a verifier of yours, which stays yours to close: its threads and its soundness are those of a batch. */
    public QuorateBls(Verifier verifier) {
        this.verifier = Objects.requireNonNull(verifier, "verifier");
    }

    @Override
    public KeyPair generateKeyPair() {
        return pair(io.quorate.SecretKey.generate(SUITE));
    }

    @Override
    public KeyPair generateKeyPair(Random random) {
        byte[] material = new byte[32];
        random.nextBytes(material);
        try {
            return pair(io.quorate.SecretKey.derive(SUITE, material, new byte[0]));
        } finally {
            Arrays.fill(material, (byte) 0);
        }
    }

    private KeyPair pair(io.quorate.SecretKey secret) {
        Secret own = new Secret(secret);
        return new KeyPair(own, own.derivePublicKey());
    }

    @Override
    public PublicKey publicKeyFromCompressed(byte[] bytes) {
        return new Key(exactly("bytes", bytes, SUITE.keyLength()));
    }

    @Override
    public Signature signatureFromCompressed(byte[] bytes) {
        return new Signed(exactly("bytes", bytes, SUITE.signatureLength()));
    }

    @Override
    public SecretKey secretKeyFromBytes(byte[] bytes) {
        return new Secret(io.quorate.SecretKey.fromBytes(SUITE, bytes));
    }

    @Override
    public PublicKey aggregatePublicKeys(List<? extends PublicKey> publicKeys) {
        return new Key(Keys.aggregatePublicKeys(SUITE, bytes(publicKeys)));
    }

    @Override
    public Signature aggregateSignatures(List<? extends Signature> signatures) {
        Objects.requireNonNull(signatures, "signatures");
        return new Signed(Signatures.aggregate(SUITE, signatures.stream().map(Signature::toBytesCompressed).toList()));
    }

    @Override
    public SemiAggregate prepareBatchVerify(int index, List<? extends PublicKey> publicKeys, byte[] message, Signature signature) {
        return new Prepared(List.of(claim(publicKeys, message, signature)));
    }

    @Override
    public SemiAggregate prepareBatchVerify2(
            int index,
            List<? extends PublicKey> publicKeys1,
            byte[] message1,
            Signature signature1,
            List<? extends PublicKey> publicKeys2,
            byte[] message2,
            Signature signature2) {
        return new Prepared(List.of(claim(publicKeys1, message1, signature1), claim(publicKeys2, message2, signature2)));
    }

    @Override
    public boolean completeBatchVerify(List<? extends SemiAggregate> prepared) {
        List<Verdict> verdicts = verdicts(prepared);
        return !verdicts.isEmpty() && verdicts.stream().allMatch(Verdict::valid);
    }

    /**
     * The verdicts about a batch: one for each set, in the order of the parts. A part of two sets has two, and a part that another
     * implementation prepared has one, which is {@link Verdict#UNDECIDED}.
     */
    public List<Verdict> verdicts(List<? extends SemiAggregate> prepared) {
        Objects.requireNonNull(prepared, "prepared");
        List<Claim> claims = new ArrayList<>();
        for (SemiAggregate part : prepared) {
            if (part instanceof Prepared own) {
                claims.addAll(own.claims);
            }
        }
        var decided = verifier.verify(claims).iterator();
        List<Verdict> verdicts = new ArrayList<>();
        for (SemiAggregate part : prepared) {
            if (part instanceof Prepared own) {
                own.claims.forEach(claim -> verdicts.add(decided.next()));
            } else {
                verdicts.add(Verdict.UNDECIDED);
            }
        }
        return verdicts;
    }

    private static Claim claim(List<? extends PublicKey> publicKeys, byte[] message, Signature signature) {
        Objects.requireNonNull(signature, "signature");
        return Claim.shared(SUITE, bytes(publicKeys), message, signature.toBytesCompressed());
    }

    private static List<byte[]> bytes(List<? extends PublicKey> publicKeys) {
        Objects.requireNonNull(publicKeys, "publicKeys");
        return publicKeys.stream().map(PublicKey::toBytesCompressed).toList();
    }

    private static byte[] exactly(String what, byte[] bytes, int length) {
        Objects.requireNonNull(bytes, what);
        if (bytes.length != length) {
            throw new IllegalArgumentException(what + ": found " + bytes.length + ", expected " + length);
        }
        return bytes.clone();
    }

    /** Whether a call finds bytes that do not decode. */
    private static boolean reads(Runnable check) {
        try {
            check.run();
            return true;
        } catch (QuorateException error) {
            if (error.code() != QuorateException.Code.ENCODING) {
                throw error;
            }
            return false;
        }
    }

    /** Whether a compressed point is the identity: its two flags, and zeros. */
    private static boolean isIdentity(byte[] bytes) {
        byte[] identity = new byte[bytes.length];
        identity[0] = (byte) 0xc0;
        return Arrays.equals(bytes, identity);
    }

    private record Prepared(List<Claim> claims) implements SemiAggregate {}

    private static final class Key implements PublicKey {
        private final byte[] bytes;

        Key(byte[] bytes) {
            this.bytes = bytes;
        }

        @Override
        public byte[] toBytesCompressed() {
            return bytes.clone();
        }

        @Override
        public void forceValidation() {
            try {
                Keys.check(SUITE, bytes);
            } catch (QuorateException error) {
                throw new IllegalArgumentException(error.getMessage(), error);
            }
        }

        @Override
        public boolean isInGroup() {
            return isIdentity(bytes) || isValid();
        }

        @Override
        public boolean isValid() {
            return reads(() -> Keys.check(SUITE, bytes));
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof PublicKey key && Arrays.equals(bytes, key.toBytesCompressed());
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(bytes);
        }

        @Override
        public String toString() {
            return HexFormat.of().formatHex(bytes);
        }
    }

    private final class Signed implements Signature {
        private final byte[] bytes;

        Signed(byte[] bytes) {
            this.bytes = bytes;
        }

        @Override
        public byte[] toBytesCompressed() {
            return bytes.clone();
        }

        @Override
        public boolean verify(List<PublicKeyMessagePair> keysToMessages) {
            Objects.requireNonNull(keysToMessages, "keysToMessages");
            List<byte[]> keys = keysToMessages.stream().map(pair -> pair.publicKey().toBytesCompressed()).toList();
            List<byte[]> messages = keysToMessages.stream().map(PublicKeyMessagePair::message).toList();
            return verifier.verifyOne(Claim.each(SUITE, keys, messages, bytes)).valid();
        }

        @Override
        public boolean verify(List<? extends PublicKey> publicKeys, byte[] message) {
            return verifier.verifyOne(claim(publicKeys, message, this)).valid();
        }

        @Override
        public boolean isInfinity() {
            return isIdentity(bytes);
        }

        @Override
        public boolean isInGroup() {
            return reads(() -> Signatures.check(SUITE, bytes));
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Signature signature && Arrays.equals(bytes, signature.toBytesCompressed());
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(bytes);
        }

        @Override
        public String toString() {
            return HexFormat.of().formatHex(bytes);
        }
    }

    private final class Secret implements SecretKey {
        private final io.quorate.SecretKey secret;

        Secret(io.quorate.SecretKey secret) {
            this.secret = secret;
        }

        @Override
        public byte[] toBytes() {
            return secret.toBytes();
        }

        @Override
        public PublicKey derivePublicKey() {
            return new Key(secret.publicKey());
        }

        @Override
        public Signature sign(byte[] message) {
            return new Signed(secret.sign(message));
        }

        @Override
        public void destroy() {
            secret.close();
        }

        @Override
        public String toString() {
            return secret.toString();
        }
    }
}
