package io.quorate;

import static io.quorate.Testing.claim;
import static io.quorate.Testing.secret;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class MemoryTest {
    private static final Path STATUS = Path.of("/proc/self/status");

    /** The variable QUORATE_CALLS is how many calls are counted, if not a million. */
    @Test
    void callsLeaveNothingBehind() throws Exception {
        long calls = Long.parseLong(System.getenv().getOrDefault("QUORATE_CALLS", "1000000"));
        try (Verifier verifier = Verifier.create()) {
            // The Java machine has compiled everything, and its heap has its size.
            cheap(verifier, 300_000);
            System.gc();
            long before = resident();
            cheap(verifier, calls);
            System.gc();
            long after = resident();
            System.out.printf("resident memory: %.1f MiB before, %.1f MiB after %d more calls%n", before / 1024.0, after / 1024.0, calls);
            // 16 bytes a call would be 16 MB.
            assertTrue(after - before < 12_000, after - before + " KB more after " + calls + " calls");
        }
    }

    /** Calls that compute little: an error each time, and each hundredth time a claim that does not decode, a set and a secret. */
    private static void cheap(Verifier verifier, long calls) {
        byte[] three = {1, 2, 3};
        List<Claim> claims = List.of(Claim.single(Suite.ETH2, three, three, new byte[96]));
        byte[] secret = new byte[32];
        secret[31] = 1;
        for (long i = 0; i < calls; i++) {
            try {
                Keys.check(Suite.ETH2, three);
                throw new AssertionError("three bytes are a key");
            } catch (QuorateException expected) {
                assertEquals(QuorateException.Code.ENCODING, expected.code());
            }
            if (i % 100 == 0) {
                assertEquals(Verdict.Code.ENCODING, verifier.verify(claims).get(0).code());
                try (KeySet set = new KeySet(Suite.ETH2); SecretKey key = SecretKey.fromBytes(Suite.ETH2, secret)) {
                    assertEquals(set.suite(), key.suite());
                }
            }
        }
    }

    @Test
    void objectsThatAreClosedLeaveNothingBehind() throws Exception {
        List<Claim> claims = List.of(claim(Suite.ETH2, 1));
        Runnable thousand = () -> {
            for (int i = 0; i < 1000; i++) {
                try (Verifier verifier = Verifier.create(); KeySet set = new KeySet(Suite.ETH2); SecretKey key = secret(Suite.ETH2, i)) {
                    assertEquals(0, verifier.known() + set.size());
                    assertEquals(48, key.publicKey().length);
                }
            }
            try (Verifier verifier = Verifier.create(); Batcher batcher = Batcher.create()) {
                assertTrue(verifier.verify(claims).get(0).valid());
                assertTrue(batcher.submit(claims.get(0)).join().valid());
            }
        };
        for (int i = 0; i < 3; i++) {
            thousand.run();
        }
        System.gc();
        long before = resident();
        for (int i = 0; i < 10; i++) {
            thousand.run();
        }
        System.gc();
        long grown = resident() - before;
        assertTrue(grown < 12_000, grown + " KB more after 10,000 objects of each kind");
    }

    @Test
    void aForgottenObjectIsFreedByTheCollector() throws Exception {
        List<Long> numbers = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            long number = Native.secretGenerate(Suite.ETH2.number());
            new Handle("secret key", number, Native::secretFree);
            numbers.add(number);
        }
        for (long number : numbers) {
            while (true) {
                try {
                    Native.secretPublicKey(number);
                } catch (IllegalStateException freed) {
                    break;
                }
                System.gc();
                Thread.sleep(10);
            }
        }
        assertThrows(IllegalStateException.class, () -> Native.secretPublicKey(numbers.get(0)));
    }

    @Test
    void anEmptyMessageTakesNoMoreThanTwentyTimesItsBytes() throws Exception {
        // An empty message is a length of 4 bytes.
        int messages = 4 << 20;
        byte[] signature = claim(Suite.ETH2, 1).signature();
        Claim many = Claim.each(Suite.ETH2, List.of(), Collections.nCopies(messages, new byte[0]), signature);
        try (Verifier verifier = Verifier.create()) {
            System.gc();
            long before = resident();
            // The highest resident memory counts from now on.
            Files.writeString(Path.of("/proc/self/clear_refs"), "5");
            assertEquals(Verdict.Code.RULE, verifier.verify(List.of(many)).get(0).code());
            long grown = status("VmHWM:") - before;
            assertTrue(grown < 20 * 4 * (messages >> 10), grown + " KB for " + (4 * (messages >> 10)) + " KB of messages");
        }
    }

    /** The resident memory of this process, in KB. */
    private static long resident() throws IOException {
        return status("VmRSS:");
    }

    /** A field of the status of this process, in KB. */
    private static long status(String field) throws IOException {
        String line = Files.readAllLines(STATUS).stream().filter(found -> found.startsWith(field)).findFirst().orElseThrow();
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
    }
}
