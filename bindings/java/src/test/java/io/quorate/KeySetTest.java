package io.quorate;

import static io.quorate.Testing.bytes;
import static io.quorate.Testing.secret;
import static io.quorate.Testing.throwsCode;
import static io.quorate.Testing.throwsNull;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.quorate.QuorateException.Code;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class KeySetTest {
    private static final byte[] MESSAGE = bytes("message");

    @Test
    void membersSignOneMessage() {
        try (KeySet set = new KeySet(Suite.ETH2)) {
            List<byte[]> keys = new ArrayList<>();
            List<byte[]> signatures = new ArrayList<>();
            BitSet members = new BitSet();
            for (int i = 0; i < 20; i++) {
                try (SecretKey secret = secret(Suite.ETH2, i)) {
                    keys.add(secret.publicKey());
                    if (i % 3 == 0) {
                        signatures.add(secret.sign(MESSAGE));
                        members.set(i);
                    }
                }
            }
            set.pushAssumed(keys);
            assertEquals(20, set.size());
            byte[] sum = Signatures.aggregate(Suite.ETH2, signatures);
            assertTrue(set.verify(members, MESSAGE, sum).valid());
            assertEquals(Verdict.Code.MISMATCH, set.verify(members, bytes("other"), sum).code());
            throwsCode(Code.ENCODING, () -> set.verify(members, MESSAGE, new byte[96]));
            throwsCode(Code.ENCODING, () -> set.verify(members, MESSAGE, new byte[95]));
            assertArrayEquals(Keys.aggregatePublicKeys(Suite.ETH2, members.stream().mapToObj(keys::get).toList()), set.sum(members));
            members.set(19);
            assertEquals(Verdict.Code.MISMATCH, set.verify(members, MESSAGE, sum).code());
            members.set(20);
            throwsCode(Code.MISUSE, () -> set.verify(members, MESSAGE, sum));
            throwsCode(Code.MISUSE, () -> set.sum(members));
            throwsCode(Code.MISUSE, () -> set.verify(new BitSet(), MESSAGE, sum));
        }
    }

    @Test
    void aMemberProvesItsKey() {
        try (KeySet set = new KeySet(Suite.ETH2); SecretKey own = secret(Suite.ETH2, 1); SecretKey other = secret(Suite.ETH2, 2)) {
            set.push(List.of(own.publicKey(), other.publicKey()));
            BitSet both = BitSet.valueOf(new long[] {3});
            byte[] sum = Signatures.aggregate(Suite.ETH2, List.of(own.sign(MESSAGE), other.sign(MESSAGE)));
            throwsCode(Code.MISUSE, () -> set.verify(both, MESSAGE, sum));
            assertFalse(set.prove(0, other.prove()));
            assertTrue(set.prove(1, other.prove()));
            throwsCode(Code.MISUSE, () -> set.verify(both, MESSAGE, sum));
            assertTrue(set.verify(BitSet.valueOf(new long[] {1}), MESSAGE, own.sign(MESSAGE)).valid(), "alone it needs no proof");
            assertTrue(set.prove(0, own.prove()));
            assertTrue(set.verify(both, MESSAGE, sum).valid());
            throwsCode(Code.MISUSE, () -> set.prove(2, own.prove()));
            throwsCode(Code.MISUSE, () -> set.prove(-1, own.prove()));
            throwsCode(Code.ENCODING, () -> set.prove(0, new byte[3]));
        }
    }

    @Test
    void aSyncAggregateMayHaveNoParticipants() {
        byte[] identity = new byte[96];
        identity[0] = (byte) 0xc0;
        try (KeySet set = new KeySet(Suite.ETH2_SYNC_AGGREGATE)) {
            assertTrue(set.verify(new BitSet(), MESSAGE, identity).valid());
        }
    }

    @Test
    void allKeysAreAddedOrNone() {
        try (KeySet set = new KeySet(Suite.ETH2); SecretKey own = secret(Suite.ETH2, 1)) {
            throwsCode(Code.ENCODING, () -> set.push(List.of(own.publicKey(), new byte[48])));
            set.push(List.of());
            throwsNull("keys", () -> set.push(null));
            throwsNull("proof", () -> set.prove(0, null));
            throwsNull("members", () -> set.sum(null));
            throwsNull("members", () -> set.verify(null, MESSAGE, MESSAGE));
            throwsNull("message", () -> set.verify(new BitSet(), null, MESSAGE));
            throwsNull("signature", () -> set.verify(new BitSet(), MESSAGE, null));
            throwsNull("suite", () -> new KeySet(null));
            assertEquals(0, set.size());
        }
    }

    @Test
    void aClosedSetIsAnIllegalState() {
        KeySet set = new KeySet(Suite.ETH2);
        set.close();
        assertThrows(IllegalStateException.class, set::size);
        assertThrows(IllegalStateException.class, () -> set.push(List.of(new byte[48])));
        assertThrows(IllegalStateException.class, () -> set.sum(new BitSet()));
    }
}
