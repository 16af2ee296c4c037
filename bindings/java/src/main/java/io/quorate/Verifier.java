package io.quorate;

import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * Verifies claims in bulk, and says which are false.
 *
 * <p>Any number of threads can use one at the same time. They share the keys that it has decoded, hashes of recent messages, and the
 * statements that it knows. Closing it during calls is safe: those calls end as if nothing had happened.
 */
public final class Verifier implements AutoCloseable {
    /** Claims are handed over in pieces of at most this many bytes, but a longer claim is a piece of its own. */
    private static final int WINDOW = 64 << 20;

    private final Handle handle;

    private Verifier(Builder builder) {
        Options options = builder.options;
        long number = Native.verifierNew(options.threads, options.soundness, options.backendBytes(), builder.mostKnown);
        handle = new Handle("verifier", number, Native::verifierFree);
    }

    /** A verifier with the defaults: one thread for a call, 64 bits, the fastest backend, any number of known statements. */
    public static Verifier create() {
        return builder().build();
    }

    /** A verifier's settings. */
    public static Builder builder() {
        return new Builder();
    }

    /** The names of the backends of this machine, the fastest first. */
    public static List<String> backends() {
        return new String(Native.backends(), StandardCharsets.UTF_8).lines().toList();
    }

    /**
     * One verdict for each claim, in their order; none for an empty list.
     *
     * <p>Cost: a claim in a batch of many takes a fraction of {@link #verifyOne}. Memory: up to about twenty times the bytes of the
     * claims, for 64 MiB of them at a time, or for one claim that is longer.
     *
     * @throws QuorateException with {@link QuorateException.Code#SYSTEM}, if the operating system has no random numbers
     * @throws IllegalStateException if the verifier is closed, or a key set that a claim names
     */
    public List<Verdict> verify(List<Claim> claims) {
        return verify(claims, false);
    }

    /**
     * The same. Valid claims of one key are known from then on: when a later claim repeats one, alone or among others, the part that is
     * known costs an addition.
     */
    public List<Verdict> verifyAndRemember(List<Claim> claims) {
        return verify(claims, true);
    }

    /** The verdict about one claim. */
    public Verdict verifyOne(Claim claim) {
        Objects.requireNonNull(claim, "claim");
        try {
            return handle.with(number -> Verdict.read(Native.verify(number, claim.packed(), 1, false), 1)).get(0);
        } finally {
            Reference.reachabilityFence(claim);
        }
    }

    /** What would be computed to verify claims, for people. Nothing is verified. */
    public String plan(List<Claim> claims) {
        StringBuilder plans = new StringBuilder();
        windows(elements(claims), (number, packed, count) ->
                plans.append(new String(Native.plan(number, packed, count), StandardCharsets.UTF_8)));
        return plans.toString();
    }

    /** How many statements it knows. */
    public long known() {
        return handle.with(Native::known);
    }

    /** Forgets all statements that it knows. */
    public void forget() {
        handle.run(Native::forget);
    }

    /** Frees it. Calls in progress end as usual, and later ones are an {@link IllegalStateException}. */
    @Override
    public void close() {
        handle.close();
    }

    private List<Verdict> verify(List<Claim> claims, boolean remember) {
        Claim[] elements = elements(claims);
        List<Verdict> verdicts = new ArrayList<>(elements.length);
        windows(elements, (number, packed, count) ->
                verdicts.addAll(Verdict.read(Native.verify(number, packed, count, remember), count)));
        return Collections.unmodifiableList(verdicts);
    }

    private static Claim[] elements(List<Claim> claims) {
        Claim[] elements = Objects.requireNonNull(claims, "claims").toArray(new Claim[0]);
        for (int i = 0; i < elements.length; i++) {
            if (elements[i] == null) {
                throw new NullPointerException("claims[" + i + "]");
            }
        }
        return elements;
    }

    /** Calls a function with the claims, as many at a time as have a window's bytes, and once if there are none. */
    private void windows(Claim[] claims, Window window) {
        // One call for all windows, so that nobody frees the verifier between two of them.
        try {
            handle.run(number -> windows(number, claims, window));
        } finally {
            // The key sets that they name are there until the library has read them.
            Reference.reachabilityFence(claims);
        }
    }

    private static void windows(long number, Claim[] claims, Window window) {
        int from = 0;
        do {
            int to = from;
            long bytes = 0;
            while (to < claims.length && (to == from || bytes + claims[to].packed().length <= WINDOW)) {
                bytes += claims[to].packed().length;
                to++;
            }
            byte[] packed = new byte[(int) bytes];
            int end = 0;
            for (int i = from; i < to; i++) {
                byte[] claim = claims[i].packed();
                System.arraycopy(claim, 0, packed, end, claim.length);
                end += claim.length;
            }
            int count = to - from;
            window.take(number, packed, count);
            from = to;
        } while (from < claims.length);
    }

    /** Takes some packed claims. */
    private interface Window {
        void take(long verifier, byte[] packed, int count);
    }

    /** How a verifier works. */
    public static final class Builder {
        private final Options options = new Options();
        private long mostKnown;

        private Builder() {}

        /** How many threads a call uses, its own included: 1 to 1,024. They start and end in the call. */
        public Builder threads(int threads) {
            options.threads(threads);
            return this;
        }

        /** A call uses all processors of the machine. */
        public Builder allThreads() {
            options.allThreads();
            return this;
        }

        /** How unlikely it must be that a false claim passes: at most 2^-64 or 2^-128. */
        public Builder soundness(int bits) {
            options.soundness(bits);
            return this;
        }

        /** What does the arithmetic: one of {@link Verifier#backends()}. */
        public Builder backend(String name) {
            options.backend(name);
            return this;
        }

        /** The most known statements that it keeps of each variant, at least 1. When there are more, it forgets the older half. */
        public Builder mostKnown(long statements) {
            if (statements < 1) {
                throw new IllegalArgumentException("mostKnown: found " + statements + ", expected at least 1");
            }
            mostKnown = statements;
            return this;
        }

        /**
         * Makes the verifier.
         *
         * @throws QuorateException with {@link QuorateException.Code#MISUSE}, if this machine has no such backend
         */
        public Verifier build() {
            return new Verifier(this);
        }
    }
}
