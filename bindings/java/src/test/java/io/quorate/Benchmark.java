package io.quorate;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * What calls cost on one thread: the median of 31 samples after a warm-up, and the quartiles. Every result is asserted.
 *
 * <p>{@code mvn -q -Pbench test-compile exec:exec} runs it beside blst for Java.
 */
final class Benchmark {
    /** How many claims with different keys and messages stand in a batch. */
    static final int BATCH = 250;

    private static final int SAMPLES = 31;
    private static final int SHARED = 128;

    private static final List<SecretKey> SECRETS = IntStream.range(0, BATCH).mapToObj(i -> Testing.secret(Suite.ETH2, i)).toList();
    private static final List<byte[]> KEYS = SECRETS.stream().map(SecretKey::publicKey).toList();

    private Benchmark() {}

    /** Prints a row for each measurement. */
    public static void main(String[] arguments) {
        System.out.println("backend " + Verifier.backends().get(0) + ", one thread, Java " + Runtime.version());
        try (Verifier verifier = Verifier.create()) {
            row("known(), the cheapest call", "ns", 1, 100_000, sample -> () -> verifier.known() == 0);
            row("Claim.single", "ns", 1, 100_000, sample -> {
                Claim claim = batch(1, sample, false).get(0);
                byte[] key = KEYS.get(0);
                byte[] message = claim.messages().get(0);
                byte[] signature = claim.signature();
                return () -> Claim.single(Suite.ETH2, key, message, signature).statements() == 1;
            });
            row("verifyOne, key seen, new message", "us", 1000, 1, sample -> {
                Claim claim = batch(1, sample, false).get(0);
                return () -> verifier.verifyOne(claim).valid();
            });
            row("verify, 250 new messages, keys seen", "us a claim", 1000 * BATCH, 1, sample -> {
                List<Claim> claims = batch(BATCH, sample, false);
                return () -> all(verifier.verify(claims));
            });
            row("verify, 128 over one new message, keys seen", "us a claim", 1000 * SHARED, 1, sample -> {
                List<Claim> claims = batch(SHARED, sample, true);
                return () -> all(verifier.verify(claims));
            });
        }
        row("verify, 250 new messages, new keys", "us a claim", 1000 * BATCH, 1, sample -> {
            List<Claim> claims = batch(BATCH, sample, false);
            return () -> {
                try (Verifier verifier = Verifier.create()) {
                    return all(verifier.verify(claims));
                }
            };
        });
    }

    /** True claims with different keys, over messages that no other sample has. */
    static List<Claim> batch(int claims, int sample, boolean oneMessage) {
        List<Claim> batch = new ArrayList<>();
        for (int i = 0; i < claims; i++) {
            byte[] message = Testing.message(sample * BATCH + (oneMessage ? 0 : i));
            batch.add(Claim.single(Suite.ETH2, KEYS.get(i), message, SECRETS.get(i).sign(message)));
        }
        return batch;
    }

    /** The samples of all rows have different numbers. */
    private static int number;

    /** Measures a call that is prepared for each sample: a sample is this many calls, whose nanoseconds are divided by a unit. */
    static void row(String name, String unit, double divisor, int calls, IntFunction<BooleanSupplier> prepared) {
        // In the warm-up the Java machine compiles what it will.
        for (long spent = 0; spent < 300_000_000; spent += sample(calls, prepared.apply(number++))) {}
        double[] samples = new double[SAMPLES];
        for (int i = 0; i < SAMPLES; i++) {
            samples[i] = sample(calls, prepared.apply(number++)) / (double) calls / divisor;
        }
        Arrays.sort(samples);
        System.out.printf(Locale.ROOT, "%-45s %9.2f %-10s (%.2f to %.2f)%n", name, samples[SAMPLES / 2], unit, samples[SAMPLES / 4], samples[SAMPLES * 3 / 4]);
    }

    private static boolean all(List<Verdict> verdicts) {
        return !verdicts.isEmpty() && verdicts.stream().allMatch(Verdict::valid);
    }

    private static long sample(int calls, BooleanSupplier call) {
        long start = System.nanoTime();
        for (int i = 0; i < calls; i++) {
            if (!call.getAsBoolean()) {
                throw new AssertionError("a wrong result");
            }
        }
        return System.nanoTime() - start;
    }
}
