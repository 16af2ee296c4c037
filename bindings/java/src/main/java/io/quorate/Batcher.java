package io.quorate;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * Verifies claims as they come, in batches, on native threads of its own. Any number of threads can hand claims in.
 *
 * <p>Every claim is answered once. Futures are completed on an executor, by default that of
 * {@link CompletableFuture#defaultExecutor() CompletableFuture} (the common pool, or a thread for each where that pool has fewer than two),
 * so what you attach to them never runs on the batcher's threads. If the executor throws, the future is completed on the thread that
 * fetches answers.
 *
 * <p>A refusal, because of too much work, a ban, a deadline or the end, completes the future normally with a verdict that is not
 * {@link Verdict#decided() decided}. It says nothing about the claim.
 *
 * <p>Close it: nobody else ends its threads.
 */
public final class Batcher implements AutoCloseable {
    private final long number;
    private final Executor executor;
    private final ConcurrentHashMap<Long, CompletableFuture<Verdict>> waiting = new ConcurrentHashMap<>();
    private final AtomicLong last = new AtomicLong();
    private volatile boolean closed;

    private Batcher(Builder builder) {
        Options options = builder.options;
        executor = builder.executor;
        number = Native.batcherNew(
                options.threads,
                options.soundness,
                options.backendBytes(),
                builder.lingerMicros,
                builder.targetMicros,
                builder.queueMicros,
                builder.queueBytes);
        Thread answers = new Thread(this::answer, "quorate-answers-" + number);
        answers.setDaemon(true);
        try {
            answers.start();
        } catch (Throwable failed) {
            // The machine has no thread left. The one call fetches that nothing was handed in, and frees the number.
            Native.batcherClose(number);
            Native.batcherAnswers(number);
            throw failed;
        }
    }

    /** A batcher with the defaults: a thread on each processor. */
    public static Batcher create() {
        return builder().build();
    }

    /** A batcher's settings. */
    public static Builder builder() {
        return new Builder();
    }

    /** Hands a claim in, which is {@link Urgency#GOSSIP} and has no deadline. */
    public CompletableFuture<Verdict> submit(Claim claim) {
        return submit(claim, Urgency.GOSSIP);
    }

    /** Hands a claim in that has no deadline. It does not wait. */
    public CompletableFuture<Verdict> submit(Claim claim, Urgency urgency) {
        return hand(claim, urgency, 0);
    }

    /**
     * Hands a claim in, and does not wait. If no thread has taken it up when the deadline, a time from now, has passed, it is refused.
     *
     * <p>Cancelling the future changes nothing for the batcher.
     *
     * @throws IllegalArgumentException if the deadline is not positive
     * @throws IllegalStateException if the batcher is closed, or the key set that the claim names
     */
    public CompletableFuture<Verdict> submit(Claim claim, Urgency urgency, Duration deadline) {
        Objects.requireNonNull(deadline, "deadline");
        return hand(claim, urgency, micros("deadline", deadline));
    }

    private CompletableFuture<Verdict> hand(Claim claim, Urgency urgency, long deadline) {
        Objects.requireNonNull(claim, "claim");
        Objects.requireNonNull(urgency, "urgency");
        open();
        CompletableFuture<Verdict> future = new CompletableFuture<>();
        long id = last.incrementAndGet();
        waiting.put(id, future);
        try {
            Native.batcherSubmit(number, id, claim.packed(), urgency.ordinal(), deadline);
        } catch (Throwable failed) {
            waiting.remove(id);
            throw failed;
        } finally {
            // The key set that it names is there until the library has read the claim.
            Reference.reachabilityFence(claim);
        }
        return future;
    }

    /**
     * Takes no more claims, and waits: first for the claims that wait, but not longer than this; then for the batches in progress. What is
     * not verified by then is refused, and so is what comes later. If several threads call it at the same time, the shortest time counts
     * for all, and all but one may return before the batches in progress have ended.
     *
     * @throws IllegalArgumentException if the time is negative
     */
    public void stop(Duration within) {
        Objects.requireNonNull(within, "within");
        if (within.isNegative()) {
            throw new IllegalArgumentException("within: found " + within + ", expected no negative time");
        }
        open();
        Native.batcherStop(number, within.isZero() ? 0 : micros("within", within));
    }

    /** Refuses what waits, and ends after the batches in progress. Every future is completed; some soon after this returns. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        Native.batcherClose(number);
    }

    private void open() {
        if (closed) {
            throw new IllegalStateException("the batcher is closed");
        }
    }

    /** Fetches answers until the batcher is closed and has answered everything. */
    private void answer() {
        try {
            while (true) {
                ByteBuffer answers = ByteBuffer.wrap(Native.batcherAnswers(number)).order(ByteOrder.LITTLE_ENDIAN);
                if (!answers.hasRemaining()) {
                    return;
                }
                while (answers.hasRemaining()) {
                    long id = answers.getLong();
                    Verdict.Code code = Verdict.Code.of(answers.get());
                    Verdict verdict = Verdict.of(code, Verdict.reason(answers));
                    // Nothing that needs memory is left to do for the future that is taken out.
                    CompletableFuture<Verdict> future = waiting.remove(id);
                    if (future != null) {
                        complete(future, verdict);
                    }
                }
            }
        } finally {
            // Something is left only if this thread fails, for example without memory.
            try {
                close();
            } finally {
                waiting.values().forEach(future -> complete(future, UNANSWERED));
            }
        }
    }

    private static final Verdict UNANSWERED = Verdict.of(Verdict.Code.FAILED, "the thread that fetches answers failed");

    /** Completes a future on the executor, or here if that throws. It throws nothing itself: other futures wait behind this one. */
    private void complete(CompletableFuture<Verdict> future, Verdict verdict) {
        try {
            executor.execute(() -> future.complete(verdict));
        } catch (Throwable refused) {
            // Also an error: an executor that can start no thread throws an OutOfMemoryError.
            try {
                // Completing it twice changes nothing.
                future.complete(verdict);
            } catch (Throwable failed) {
                // It is complete: a step that somebody attached to it has failed.
            }
        }
    }

    /** A positive time in microseconds, at least one. */
    private static long micros(String what, Duration time) {
        if (time.isNegative() || time.isZero()) {
            throw new IllegalArgumentException(what + ": found " + time + ", expected a positive time");
        }
        return time.compareTo(FOREVER) >= 0 ? FOREVER.toSeconds() * 1_000_000 : Math.max(1, time.toNanos() / 1000);
    }

    /** No time is longer for a batcher. */
    private static final Duration FOREVER = Duration.ofDays(36_500);

    /** How a batcher works. What is not set has the default of {@code docs/batcher.md}. */
    public static final class Builder {
        private final Options options = new Options();
        // Not the common pool itself, which runs nothing in a program that has set its parallelism to 0.
        private Executor executor = new CompletableFuture<Void>().defaultExecutor();
        private long lingerMicros;
        private long targetMicros;
        private long queueMicros;
        private long queueBytes;

        private Builder() {}

        /** How many batches are verified at the same time, each on a thread of its own: 1 to 1,024. */
        public Builder threads(int threads) {
            options.threads(threads);
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

        /** On what futures are completed. */
        public Builder executor(Executor executor) {
            this.executor = Objects.requireNonNull(executor, "executor");
            return this;
        }

        /**
         * The longest that a claim waits for others while a thread is idle. It waits if batches begin so soon after one another that this
         * takes an eighth of the threads' time: docs/batcher.md, "When a batch closes".
         */
        public Builder linger(Duration time) {
            return micros("linger", time, micros -> lingerMicros = micros);
        }

        /** The planned work at which a batch is full. */
        public Builder target(Duration time) {
            return micros("target", time, micros -> targetMicros = micros);
        }

        /** The planned work that may wait for each thread. What comes beyond it is refused. */
        public Builder queue(Duration time) {
            return micros("queue", time, micros -> queueMicros = micros);
        }

        /** The most memory that waiting claims may take, in bytes, and the most bytes of messages that are hashed for one claim. */
        public Builder queueBytes(long bytes) {
            if (bytes < 1) {
                throw new IllegalArgumentException("queueBytes: found " + bytes + ", expected at least 1");
            }
            queueBytes = bytes;
            return this;
        }

        private Builder micros(String what, Duration time, LongConsumer set) {
            set.accept(Batcher.micros(what, Objects.requireNonNull(time, what)));
            return this;
        }

        /**
         * Starts the threads.
         *
         * @throws QuorateException with {@link QuorateException.Code#MISUSE} or {@link QuorateException.Code#SYSTEM}
         */
        public Batcher build() {
            return new Batcher(this);
        }
    }
}
