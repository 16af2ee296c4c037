package io.quorate;

import static io.quorate.Testing.bytes;
import static io.quorate.Testing.throwsArgument;
import static io.quorate.Testing.throwsNull;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ClaimTest {
    private static final byte[] A = bytes("a");
    private static final byte[] BC = bytes("bc");

    @Test
    void aClaimHasItsParts() {
        Claim claim = Claim.each(Suite.CHIA, List.of(A, BC), List.of(new byte[0], BC, A), BC).withSource("peer é 🂡");
        assertEquals(Suite.CHIA, claim.suite());
        assertEquals(2, claim.statements());
        assertArrayEquals(new byte[][] {A, BC}, claim.publicKeys().toArray());
        assertArrayEquals(new byte[][] {{}, BC, A}, claim.messages().toArray());
        assertArrayEquals(BC, claim.signature());
        assertEquals(Optional.of("peer é 🂡"), claim.source());
        assertEquals(Optional.of("b"), claim.withSource("b").source());
        assertEquals("Claim[chia, keys: 2, bytes: 64]", claim.toString());
        Claim possession = Claim.possession(Suite.ETH2, A, BC);
        assertTrue(possession.isPossession());
        assertEquals(List.of(), possession.messages());
        assertEquals(Optional.empty(), possession.source());
    }

    @Test
    void aClaimKeepsCopies() {
        byte[] key = {1};
        Claim claim = Claim.single(Suite.ETH2, key, A, BC);
        key[0] = 2;
        claim.publicKeys().get(0)[0] = 3;
        assertEquals(1, claim.publicKeys().get(0)[0]);
    }

    @Test
    void equalClaimsHaveEqualBytes() {
        Claim claim = Claim.single(Suite.ETH2, A, A, BC);
        assertEquals(claim, Claim.shared(Suite.ETH2, List.of(A), A, BC));
        assertEquals(claim.hashCode(), Claim.shared(Suite.ETH2, List.of(A), A, BC).hashCode());
        assertNotEquals(claim, Claim.each(Suite.ETH2, List.of(A), List.of(A), BC));
        assertNotEquals(claim, claim.withSource("a"));
        assertNotEquals(claim, Claim.single(Suite.CHIA, A, A, BC));
    }

    @Test
    void nullsAreNamed() {
        throwsNull("suite", () -> Claim.single(null, A, A, A));
        throwsNull("publicKey", () -> Claim.single(Suite.ETH2, null, A, A));
        throwsNull("message", () -> Claim.single(Suite.ETH2, A, null, A));
        throwsNull("signature", () -> Claim.single(Suite.ETH2, A, A, null));
        throwsNull("publicKeys", () -> Claim.shared(Suite.ETH2, null, A, A));
        throwsNull("publicKeys[1]", () -> Claim.shared(Suite.ETH2, Arrays.asList(A, null), A, A));
        throwsNull("message", () -> Claim.shared(Suite.ETH2, List.of(A), null, A));
        throwsNull("messages", () -> Claim.each(Suite.ETH2, List.of(A), null, A));
        throwsNull("messages[0]", () -> Claim.each(Suite.ETH2, List.of(A), Arrays.asList((byte[]) null), A));
        throwsNull("publicKey", () -> Claim.possession(Suite.ETH2, null, A));
        throwsNull("proof", () -> Claim.possession(Suite.ETH2, A, null));
        throwsNull("source", () -> Claim.single(Suite.ETH2, A, A, A).withSource(null));
    }

    @Test
    void sourcesAreTexts() {
        Claim claim = Claim.single(Suite.ETH2, A, A, A);
        throwsArgument("source", () -> claim.withSource(""));
        throwsArgument("source", () -> claim.withSource("\ud800"));
    }

    @Test
    void aClaimFitsIntoAnArray() {
        byte[] part = new byte[64 << 20];
        throwsArgument("the claim", () -> Claim.each(Suite.ETH2, List.of(), java.util.Collections.nCopies(40, part), A));
    }
}
