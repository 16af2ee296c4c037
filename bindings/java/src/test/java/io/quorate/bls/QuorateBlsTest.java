package io.quorate.bls;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.quorate.QuorateException;
import io.quorate.Verdict;
import io.quorate.Verifier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

class QuorateBlsTest {
    private static final Verifier VERIFIER = Verifier.create();
    private static final QuorateBls BLS = new QuorateBls(VERIFIER);
    private static final List<KeyPair> PAIRS = IntStream.range(0, 6).mapToObj(seed -> BLS.generateKeyPair(new Random(seed))).toList();

    @AfterAll
    static void close() {
        PAIRS.forEach(pair -> pair.secretKey().destroy());
        VERIFIER.close();
    }

    private static byte[] message(int number) {
        return ("message " + number).getBytes(StandardCharsets.UTF_8);
    }

    private static SemiAggregate prepared(int key, int message, int signed) {
        KeyPair pair = PAIRS.get(key);
        return BLS.prepareBatchVerify(key, List.of(pair.publicKey()), message(message), pair.secretKey().sign(message(signed)));
    }

    @Test
    void aBatchIsTrueIfAllOfItIs() {
        List<SemiAggregate> batch = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            batch.add(prepared(i, i, i));
        }
        Signature both = BLS.aggregateSignatures(List.of(PAIRS.get(4).secretKey().sign(message(9)), PAIRS.get(5).secretKey().sign(message(9))));
        List<PublicKey> keys = List.of(PAIRS.get(4).publicKey(), PAIRS.get(5).publicKey());
        Signature single = PAIRS.get(0).secretKey().sign(message(8));
        batch.add(BLS.prepareBatchVerify2(4, keys, message(9), both, List.of(PAIRS.get(0).publicKey()), message(8), single));
        assertTrue(BLS.completeBatchVerify(batch));
        assertEquals(6, BLS.verdicts(batch).size());

        batch.add(2, prepared(2, 2, 3));
        assertFalse(BLS.completeBatchVerify(batch));
        List<Boolean> valid = BLS.verdicts(batch).stream().map(Verdict::valid).toList();
        assertEquals(List.of(true, true, false, true, true, true, true), valid);
    }

    @Test
    void nothingIsNotTrue() {
        assertFalse(BLS.completeBatchVerify(List.of()));
        assertFalse(BLS.completeBatchVerify(List.of(new SemiAggregate() {}, prepared(0, 0, 0))));
        assertFalse(BLS.verdicts(List.of(new SemiAggregate() {}, prepared(0, 0, 0))).get(0).decided());
        byte[] infinity = new byte[96];
        infinity[0] = (byte) 0xc0;
        Signature none = BLS.signatureFromCompressed(infinity);
        assertTrue(none.isInfinity());
        assertTrue(none.isInGroup());
        assertFalse(none.verify(List.of(), message(1)));
        assertFalse(none.verify(List.of()));
        assertFalse(BLS.completeBatchVerify(List.of(BLS.prepareBatchVerify(0, List.of(), message(1), none))));
    }

    @Test
    void signaturesVerify() {
        Signature a = PAIRS.get(0).secretKey().sign(message(1));
        Signature b = PAIRS.get(1).secretKey().sign(message(2));
        PublicKey first = PAIRS.get(0).publicKey();
        PublicKey second = PAIRS.get(1).publicKey();
        assertTrue(a.verify(first, message(1)));
        assertTrue(first.verifySignature(a, message(1)));
        assertFalse(a.verify(first, message(2)));
        Signature sum = BLS.aggregateSignatures(List.of(a, b));
        assertTrue(sum.verify(List.of(new PublicKeyMessagePair(first, message(1)), new PublicKeyMessagePair(second, message(2)))));
        assertFalse(sum.verify(List.of(new PublicKeyMessagePair(first, message(2)), new PublicKeyMessagePair(second, message(1)))));
        assertFalse(a.isInfinity());
        PublicKey keys = BLS.aggregatePublicKeys(List.of(first, second));
        Signature one = BLS.aggregateSignatures(List.of(a, PAIRS.get(1).secretKey().sign(message(1))));
        assertTrue(one.verify(keys, message(1)));
    }

    @Test
    void encodingsAreReadLate() {
        PublicKey key = PAIRS.get(0).publicKey();
        assertEquals(key, BLS.publicKeyFromCompressed(key.toBytesCompressed()));
        assertEquals(key.hashCode(), BLS.publicKeyFromCompressed(key.toBytesCompressed()).hashCode());
        assertNotEquals(key, PAIRS.get(1).publicKey());
        assertTrue(key.isValid());
        key.forceValidation();
        PublicKey wrong = BLS.publicKeyFromCompressed(new byte[48]);
        assertFalse(wrong.isValid());
        assertFalse(wrong.isInGroup());
        assertThrows(IllegalArgumentException.class, wrong::forceValidation);
        byte[] identity = new byte[48];
        identity[0] = (byte) 0xc0;
        assertTrue(BLS.publicKeyFromCompressed(identity).isInGroup());
        assertFalse(BLS.publicKeyFromCompressed(identity).isValid());
        assertFalse(BLS.signatureFromCompressed(new byte[96]).isInGroup());
        assertThrows(IllegalArgumentException.class, () -> BLS.publicKeyFromCompressed(new byte[47]));
        assertThrows(IllegalArgumentException.class, () -> BLS.signatureFromCompressed(new byte[97]));
        assertThrows(QuorateException.class, () -> BLS.secretKeyFromBytes(new byte[32]));
        assertThrows(QuorateException.class, () -> BLS.aggregatePublicKeys(List.of(key, wrong)));
        assertThrows(QuorateException.class, () -> BLS.aggregatePublicKeys(List.of()));
    }

    @Test
    void secretsAreDestroyed() {
        KeyPair pair = BLS.generateKeyPair();
        try (SecretKey again = BLS.secretKeyFromBytes(pair.secretKey().toBytes())) {
            assertEquals(pair.publicKey(), again.derivePublicKey());
            assertArrayEquals(pair.secretKey().sign(message(1)).toBytesCompressed(), again.sign(message(1)).toBytesCompressed());
        }
        pair.secretKey().destroy();
        assertThrows(IllegalStateException.class, () -> pair.secretKey().sign(message(1)));
        assertFalse(pair.toString().matches(".*[0-9a-f]{97}.*"));
    }
}
