package io.quorate;

import static io.quorate.Testing.bytes;
import static io.quorate.Testing.claim;
import static io.quorate.Testing.codes;
import static io.quorate.Testing.message;
import static io.quorate.Testing.secret;
import static io.quorate.Testing.throwsArgument;
import static io.quorate.Testing.throwsCode;
import static io.quorate.Testing.throwsNull;
import static io.quorate.Verdict.Code.ENCODING;
import static io.quorate.Verdict.Code.MISMATCH;
import static io.quorate.Verdict.Code.RULE;
import static io.quorate.Verdict.Code.VALID;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class VerifierTest {
    @ParameterizedTest
    @EnumSource
    void everySuiteTellsTrueFromFalse(Suite suite) {
        Claim good = claim(suite, 1);
        byte[] key = good.publicKeys().get(0);
        byte[] cut = Arrays.copyOf(key, key.length - 1);
        List<Claim> claims = List.of(
                good,
                claim(suite, 2, 3),
                Claim.single(suite, cut, message(1), good.signature()),
                Claim.single(suite, key, message(1), new byte[] {1, 2, 3}),
                claim(suite, 4),
                Claim.shared(suite, List.of(), message(1), good.signature()),
                Claim.each(suite, List.of(key), List.of(), good.signature()));
        try (Verifier verifier = Verifier.create()) {
            List<Verdict> verdicts = verifier.verify(claims);
            // Under the rules of sync aggregates the identity is the signature of no keys, so any other one does not match.
            Verdict.Code ofNoKeys = suite == Suite.ETH2_SYNC_AGGREGATE ? MISMATCH : RULE;
            assertEquals(List.of(VALID, MISMATCH, ENCODING, ENCODING, VALID, ofNoKeys, RULE), codes(verdicts));
            for (int i = 0; i < claims.size(); i++) {
                assertEquals(verdicts.get(i), verifier.verifyOne(claims.get(i)));
                assertEquals(verdicts.get(i).valid(), verdicts.get(i).reason().isEmpty());
                assertTrue(verdicts.get(i).decided());
            }
            assertEquals("valid", verdicts.get(0).toString());
            assertEquals("invalid: the signature does not match the keys and messages", verdicts.get(1).toString());
        }
    }

    @Test
    void possessionIsAClaim() {
        try (Verifier verifier = Verifier.create(); SecretKey own = secret(Suite.ETH2, 1); SecretKey other = secret(Suite.ETH2, 2)) {
            assertTrue(verifier.verifyOne(Claim.possession(Suite.ETH2, own.publicKey(), own.prove())).valid());
            assertEquals(MISMATCH, verifier.verifyOne(Claim.possession(Suite.ETH2, own.publicKey(), other.prove())).code());
            Claim none = Claim.possession(Suite.BASIC, own.publicKey(), own.prove());
            assertEquals(RULE, verifier.verifyOne(none).code());
        }
    }

    @Test
    void theExamplesHaveTheVerdictsOfTheCommandLine() throws Exception {
        try (Verifier verifier = Verifier.builder().allThreads().soundness(128).build()) {
            assertEquals(Collections.nCopies(6, VALID), codes(verifier.verify(Testing.examples("claims.jsonl"))));
            List<Verdict> verdicts = verifier.verify(Testing.examples("one-false.jsonl"));
            assertEquals(List.of(VALID, VALID, VALID, MISMATCH), codes(verdicts));
            assertEquals("the signature does not match the keys and messages", verdicts.get(3).reason());
        }
    }

    @Test
    void everyBackendAgrees() {
        List<Claim> claims = List.of(claim(Suite.ETH2, 1), claim(Suite.ETH2, 2, 3), claim(Suite.DRAND_QUICKNET, 4));
        for (String backend : Verifier.backends()) {
            try (Verifier verifier = Verifier.builder().backend(backend).threads(2).build()) {
                assertEquals(List.of(VALID, MISMATCH, VALID), codes(verifier.verify(claims)), backend);
            }
        }
        assertTrue(Verifier.backends().contains("portable"));
    }

    @Test
    void nothingToVerifyHasNoVerdict() {
        try (Verifier verifier = Verifier.create()) {
            assertEquals(List.of(), verifier.verify(List.of()));
            assertEquals(0, verifier.known());
        }
        assertFalse(Verdict.UNDECIDED.valid());
        assertFalse(Verdict.UNDECIDED.decided());
        assertEquals(Verdict.Code.UNDECIDED, Verdict.Code.of((byte) 200));
        throwsCode(QuorateException.Code.INTERNAL, () -> Verdict.read(null, 1));
        throwsCode(QuorateException.Code.INTERNAL, () -> Verdict.read(new byte[] {1}, 2));
        // A byte that is missing is not valid, and neither is one that nobody wrote.
        assertEquals(List.of(VALID, Verdict.Code.UNDECIDED), codes(Verdict.read(new byte[] {1, 0, 0, 0, 0, 0}, 2)));
    }

    @Test
    void itRemembersOnlyWhatItIsAskedTo() {
        try (Verifier verifier = Verifier.builder().mostKnown(1000).build()) {
            List<Claim> claims = List.of(claim(Suite.ETH2, 1), claim(Suite.ETH2, 2), claim(Suite.ETH2, 3, 4));
            verifier.verify(claims);
            assertEquals(0, verifier.known());
            assertEquals(List.of(VALID, VALID, MISMATCH), codes(verifier.verifyAndRemember(claims)));
            assertEquals(2, verifier.known());
            assertEquals(List.of(VALID, VALID, MISMATCH), codes(verifier.verify(claims)));
            verifier.forget();
            assertEquals(0, verifier.known());
            assertTrue(verifier.plan(claims).contains("3"), verifier.plan(claims));
        }
    }

    @Test
    void eightThreadsShareAVerifier() throws Exception {
        List<Claim> claims = new ArrayList<>();
        List<Verdict.Code> expected = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            claims.add(claim(Suite.ETH2, i, i % 5 == 3 ? i + 1 : i));
            expected.add(i % 5 == 3 ? MISMATCH : VALID);
        }
        try (Verifier verifier = Verifier.create()) {
            for (Future<List<Verdict>> verdicts : eight(() -> verifier.verify(claims))) {
                assertEquals(expected, codes(verdicts.get()));
            }
        }
    }

    @Test
    void closingDuringCallsIsSafe() throws Exception {
        Claim claim = claim(Suite.ETH2, 1);
        for (int round = 0; round < 10; round++) {
            Verifier verifier = Verifier.create();
            CountDownLatch running = new CountDownLatch(8);
            List<Future<Integer>> counts = eight(() -> {
                int verified = 0;
                while (true) {
                    try {
                        assertTrue(verifier.verifyOne(claim).valid());
                        if (verified++ == 0) {
                            running.countDown();
                        }
                    } catch (IllegalStateException closed) {
                        return verified;
                    }
                }
            }, () -> {
                awaited(running);
                verifier.close();
            });
            for (Future<Integer> count : counts) {
                assertTrue(count.get() > 0);
            }
        }
    }

    @Test
    void afterCloseEveryCallIsAnIllegalState() {
        Verifier verifier = Verifier.create();
        verifier.close();
        verifier.close();
        assertEquals("the verifier is closed", assertThrows(IllegalStateException.class, verifier::known).getMessage());
        assertThrows(IllegalStateException.class, verifier::forget);
        assertThrows(IllegalStateException.class, () -> verifier.verify(List.of()));
        assertThrows(IllegalStateException.class, () -> verifier.verifyOne(claim(Suite.ETH2, 1)));
        assertThrows(IllegalStateException.class, () -> verifier.plan(List.of()));
    }

    @Test
    void inventedHandlesAreIllegalStates() {
        byte[] none = {};
        for (long handle : new long[] {0, -1, 1L << 40, Long.MAX_VALUE, Long.MIN_VALUE}) {
            assertThrows(IllegalStateException.class, () -> Native.verify(handle, none, 0, false));
            assertThrows(IllegalStateException.class, () -> Native.known(handle));
            assertThrows(IllegalStateException.class, () -> Native.secretBytes(handle));
            assertThrows(IllegalStateException.class, () -> Native.secretSign(handle, none));
            assertThrows(IllegalStateException.class, () -> Native.committeeMembers(handle));
            assertThrows(IllegalStateException.class, () -> Native.batcherAnswers(handle));
            assertThrows(IllegalStateException.class, () -> Native.batcherStop(handle, 0));
            assertThrows(IllegalStateException.class, () -> Native.batcherClose(handle));
            Native.verifierFree(handle);
            Native.secretFree(handle);
            Native.committeeFree(handle);
        }
        // A number names an object of one kind, and no later object gets it.
        long verifier = Native.verifierNew(1, 64, none, 0);
        assertThrows(IllegalStateException.class, () -> Native.secretBytes(verifier));
        Native.verifierFree(verifier);
        long next = Native.verifierNew(1, 64, none, 0);
        assertThrows(IllegalStateException.class, () -> Native.known(verifier));
        Native.verifierFree(next);
    }

    @Test
    void wrongBytesAtTheBoundaryAreExceptions() {
        long verifier = Native.verifierNew(1, 64, new byte[0], 0);
        byte[] packed = claim(Suite.ETH2, 1).packed();
        throwsCode(QuorateException.Code.INTERNAL, () -> Native.verify(verifier, packed, 2, false));
        throwsCode(QuorateException.Code.INTERNAL, () -> Native.verify(verifier, packed, -1, false));
        throwsCode(QuorateException.Code.INTERNAL, () -> Native.verify(verifier, Arrays.copyOf(packed, 50), 1, false));
        throwsCode(QuorateException.Code.INTERNAL, () -> Native.verify(verifier, null, 1, false));
        throwsCode(QuorateException.Code.INTERNAL, () -> Native.checkPublicKey(19, packed));
        throwsCode(QuorateException.Code.MISUSE, () -> Native.verifierNew(1, 64, new byte[] {(byte) 0xff}, 0));
        Native.verifierFree(verifier);
    }

    @Test
    void wrongOptionsAreNamed() {
        throwsArgument("threads", () -> Verifier.builder().threads(0));
        throwsArgument("threads", () -> Verifier.builder().threads(1025));
        Verifier.builder().threads(1024).build().close();
        throwsArgument("soundness", () -> Verifier.builder().soundness(80));
        throwsArgument("backend", () -> Verifier.builder().backend(""));
        throwsArgument("mostKnown", () -> Verifier.builder().mostKnown(0));
        throwsCode(QuorateException.Code.MISUSE, () -> Verifier.builder().backend("abacus").build());
    }

    @Test
    void nullsAreNamed() {
        throwsNull("backend", () -> Verifier.builder().backend(null));
        try (Verifier verifier = Verifier.create()) {
            throwsNull("claims", () -> verifier.verify(null));
            throwsNull("claims", () -> verifier.verifyAndRemember(null));
            throwsNull("claims", () -> verifier.plan(null));
            throwsNull("claims[1]", () -> verifier.verify(Arrays.asList(claim(Suite.ETH2, 1), null)));
            throwsNull("claim", () -> verifier.verifyOne(null));
        }
    }

    @Test
    void hugeListsAreVerifiedInWindows() {
        try (Verifier verifier = Verifier.create()) {
            // 200,000 claims with verdicts of their own.
            List<Claim> many = new ArrayList<>(Collections.nCopies(200_000, Claim.single(Suite.ETH2, bytes("abc"), bytes("m"), bytes("s"))));
            many.set(123_456, claim(Suite.ETH2, 1));
            List<Verdict.Code> codes = codes(verifier.verify(many));
            assertEquals(200_000, codes.size());
            assertEquals(VALID, codes.get(123_456));
            assertEquals(199_999, Collections.frequency(codes, ENCODING));
            // 160 MB of claims, of which a window holds three.
            Claim large = Claim.single(Suite.ETH2, bytes("abc"), new byte[20 << 20], bytes("s"));
            List<Claim> long1 = new ArrayList<>(Collections.nCopies(8, large));
            long1.set(4, claim(Suite.ETH2, 1));
            codes = codes(verifier.verify(long1));
            assertEquals(7, Collections.frequency(codes, ENCODING));
            assertEquals(VALID, codes.get(4));
        }
    }

    @Test
    void closingBetweenWindowsIsSafe() throws Exception {
        // A window has one valid claim, and two or three of 20 MiB.
        List<Claim> claims = new ArrayList<>(Collections.nCopies(24, Claim.single(Suite.ETH2, bytes("abc"), new byte[20 << 20], bytes("s"))));
        claims.set(0, claim(Suite.ETH2, 1));
        Verifier verifier = Verifier.create();
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            Future<List<Verdict>> verdicts = thread.submit(() -> verifier.verifyAndRemember(claims));
            // The claim is known after the first window.
            while (!verdicts.isDone() && verifier.known() == 0) {
                Thread.onSpinWait();
            }
            verifier.close();
            assertEquals(23, Collections.frequency(codes(verdicts.get()), ENCODING));
        } finally {
            thread.shutdown();
        }
        assertThrows(IllegalStateException.class, verifier::known);
    }

    private static void awaited(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }

    private static <T> List<Future<T>> eight(Callable<T> task) throws Exception {
        return eight(task, () -> {});
    }

    /** Runs a task on eight threads, and another one on a ninth. */
    private static <T> List<Future<T>> eight(Callable<T> task, Runnable beside) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(9);
        try {
            threads.execute(beside);
            return threads.invokeAll(Collections.nCopies(8, task));
        } finally {
            threads.shutdown();
        }
    }
}
