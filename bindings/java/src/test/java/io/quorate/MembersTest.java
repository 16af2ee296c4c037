package io.quorate;

import static io.quorate.Testing.bytes;
import static io.quorate.Testing.secret;
import static io.quorate.Testing.throwsArgument;
import static io.quorate.Testing.throwsNull;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.quorate.Verdict.Code;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Claims that name members of key sets. */
class MembersTest {
    private static final byte[] VOTE = bytes("vote");
    private static final List<byte[]> KEYS = new ArrayList<>();
    private static final List<byte[]> VOTES = new ArrayList<>();

    static {
        for (int i = 0; i < 10; i++) {
            try (SecretKey secret = secret(Suite.ETH2, i)) {
                KEYS.add(secret.publicKey());
                VOTES.add(secret.sign(VOTE));
            }
        }
    }

    private static KeySet committee() {
        KeySet set = new KeySet(Suite.ETH2);
        set.pushAssumed(KEYS);
        return set;
    }

    private static byte[] sum(int... members) {
        return Signatures.aggregate(Suite.ETH2, Arrays.stream(members).mapToObj(VOTES::get).toList());
    }

    private static BitSet bits(int... members) {
        BitSet bits = new BitSet();
        Arrays.stream(members).forEach(bits::set);
        return bits;
    }

    private record Case(Claim claim, Code code, String reason) {
        Case(Claim claim) {
            this(claim, Code.VALID, "");
        }
    }

    @Test
    void claimsNameMembersOfKeySets() throws Exception {
        byte[] identity = new byte[96];
        identity[0] = (byte) 0xc0;
        byte[] three = sum(0, 2, 9);
        try (KeySet set = committee();
                KeySet unproven = new KeySet(Suite.ETH2);
                KeySet sync = new KeySet(Suite.ETH2_SYNC_AGGREGATE);
                SecretKey fourth = secret(Suite.ETH2, 4);
                Verifier verifier = Verifier.create();
                Batcher batcher = Batcher.create()) {
            unproven.push(KEYS.subList(0, 2));
            byte[] two = Signatures.aggregate(Suite.ETH2, List.of(fourth.sign(bytes("four")), VOTES.get(3)));
            List<byte[]> messages = List.of(bytes("four"), VOTE);
            List<Case> cases = List.of(
                    new Case(Claim.ofMembers(set, bits(0, 2, 9), VOTE, three)),
                    new Case(Claim.ofMembers(set, new int[] {9, 0, 2}, VOTE, three)),
                    new Case(Claim.ofMembers(set, bits(0, 1, 9), VOTE, three), Code.MISMATCH, "does not match"),
                    new Case(Claim.ofMembers(set, new int[] {0, 0}, VOTE, sum(0, 0))),
                    new Case(Claim.ofMembers(set, new int[] {0, 0}, VOTE, sum(0)), Code.MISMATCH, "does not match"),
                    new Case(Claim.ofMembers(set, bits(), VOTE, three), Code.RULE, "the claim has no keys and messages"),
                    new Case(Claim.ofMembers(set, new int[] {}, VOTE, three), Code.RULE, "the claim has no keys and messages"),
                    new Case(Claim.ofMembers(sync, bits(), VOTE, identity)),
                    new Case(Claim.ofMembers(set, bits(0, 10), VOTE, three), Code.KEY_SET, "member 10 of a key set of 10"),
                    new Case(
                            Claim.ofMembers(set, new int[] {Integer.MAX_VALUE}, VOTE, three),
                            Code.KEY_SET,
                            "member 2147483647 of a key set of 10"),
                    new Case(Claim.ofMembers(unproven, bits(0, 1), VOTE, sum(0, 1)), Code.KEY_SET, "member 0 of the key set has not proven"),
                    new Case(Claim.ofMembers(unproven, bits(1), VOTE, sum(1))),
                    new Case(Claim.eachOfMembers(set, new int[] {4, 3}, messages, two)),
                    new Case(Claim.eachOfMembers(set, new int[] {4, 3, 2}, messages, two), Code.RULE, "3 public keys, but 2 messages"),
                    new Case(Claim.single(Suite.ETH2, KEYS.get(7), VOTE, sum(7))));
            List<Verdict> verdicts = verifier.verify(cases.stream().map(Case::claim).toList());
            List<CompletableFuture<Verdict>> answers = cases.stream().map(one -> batcher.submit(one.claim(), Urgency.BLOCK)).toList();
            for (int i = 0; i < cases.size(); i++) {
                Case expected = cases.get(i);
                Verdict found = verdicts.get(i);
                assertEquals(expected.code(), found.code(), "case " + i + ": " + found);
                assertTrue(found.reason().contains(expected.reason()), "case " + i + ": " + found);
                assertEquals(expected.code() != Code.KEY_SET, found.decided(), "case " + i);
                assertEquals(found, verifier.verifyOne(expected.claim()), "case " + i);
                assertEquals(found, answers.get(i).get(), "case " + i);
            }
            assertFalse(verifier.plan(List.of(cases.get(0).claim())).isEmpty());
        }
    }

    @Test
    void aRepeatedMemberBreaksARuleOfABdnSuite() {
        Suite suite = Suite.of("BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_BDN_");
        try (KeySet set = new KeySet(suite); SecretKey secret = secret(suite, 1); Verifier verifier = Verifier.create()) {
            set.push(List.of(secret.publicKey()));
            Verdict verdict = verifier.verifyOne(Claim.ofMembers(set, new int[] {0, 0}, VOTE, secret.sign(VOTE)));
            assertEquals(Code.RULE, verdict.code(), verdict.toString());
        }
    }

    /** A set that grows is another one for the claims after it. */
    @Test
    void aSetThatGrows() {
        try (KeySet set = new KeySet(Suite.ETH2); Verifier verifier = Verifier.create()) {
            set.pushAssumed(KEYS.subList(0, 2));
            Claim claim = Claim.ofMembers(set, bits(0, 2), VOTE, sum(0, 2));
            assertEquals(Code.KEY_SET, verifier.verifyOne(claim).code());
            set.pushAssumed(KEYS.subList(2, 3));
            assertTrue(verifier.verifyOne(claim).valid());
        }
    }

    @Test
    void aClosedSetIsAnIllegalState() throws Exception {
        KeySet set = committee();
        Claim claim = Claim.ofMembers(set, bits(0), VOTE, sum(0));
        try (Verifier verifier = Verifier.create(); Batcher batcher = Batcher.create()) {
            // A claim that was handed in keeps its set.
            CompletableFuture<Verdict> answer = batcher.submit(claim);
            set.close();
            assertTrue(answer.get().valid());
            String text = assertThrows(IllegalStateException.class, () -> verifier.verify(List.of(claim))).getMessage();
            assertTrue(text.startsWith("claim 0: there is no key set with the number "), text);
            assertThrows(IllegalStateException.class, () -> verifier.verifyOne(claim));
            assertThrows(IllegalStateException.class, () -> batcher.submit(claim));
        }
    }

    @Test
    void aClaimOfMembersSaysWhatItHolds() {
        try (KeySet set = committee(); KeySet other = committee()) {
            Claim bitmap = Claim.ofMembers(set, bits(0, 2, 9), VOTE, sum(0, 2, 9)).withSource("peer");
            Claim indices = Claim.ofMembers(set, new int[] {0, 0}, VOTE, sum(0));
            Claim each = Claim.eachOfMembers(set, new int[] {1, 2}, List.of(VOTE, bytes("other")), sum(0));
            assertEquals(List.of(3, 2, 2), List.of(bitmap.statements(), indices.statements(), each.statements()));
            assertEquals(Optional.of(set), bitmap.keySet());
            assertSame(Suite.ETH2, bitmap.suite());
            assertEquals(List.of(), bitmap.publicKeys());
            assertArrayEquals(VOTE, bitmap.messages().get(0));
            assertArrayEquals(bytes("other"), each.messages().get(1));
            assertArrayEquals(sum(0, 2, 9), bitmap.signature());
            assertEquals(Optional.of("peer"), bitmap.source());
            assertEquals(Optional.empty(), indices.source());
            assertFalse(bitmap.isPossession());
            assertEquals(bitmap, Claim.ofMembers(set, bits(0, 2, 9), VOTE, sum(0, 2, 9)).withSource("peer"));
            assertNotEquals(indices, Claim.ofMembers(other, new int[] {0, 0}, VOTE, sum(0)), "another set with the same keys");
            assertEquals(Optional.empty(), Claim.single(Suite.ETH2, KEYS.get(0), VOTE, sum(0)).keySet());
        }
    }

    /** The collector frees no set that a claim names. */
    @Test
    void aClaimHoldsItsSet() throws Exception {
        Claim claim = Claim.ofMembers(committee(), bits(0), VOTE, sum(0));
        for (int round = 0; round < 5; round++) {
            System.gc();
            Thread.sleep(10);
        }
        try (Verifier verifier = Verifier.create()) {
            assertTrue(verifier.verifyOne(claim).valid());
        }
    }

    @Test
    void wrongArgumentsAreNamed() {
        try (KeySet set = committee()) {
            throwsArgument("indices[1]: found -1", () -> Claim.ofMembers(set, new int[] {0, -1}, VOTE, VOTE));
            throwsNull("set", () -> Claim.ofMembers(null, bits(), VOTE, VOTE));
            throwsNull("members", () -> Claim.ofMembers(set, (BitSet) null, VOTE, VOTE));
            throwsNull("indices", () -> Claim.ofMembers(set, (int[]) null, VOTE, VOTE));
            throwsNull("message", () -> Claim.ofMembers(set, bits(), null, VOTE));
            throwsNull("signature", () -> Claim.ofMembers(set, bits(), VOTE, null));
            throwsNull("messages", () -> Claim.eachOfMembers(set, new int[] {}, null, VOTE));
        }
    }
}
