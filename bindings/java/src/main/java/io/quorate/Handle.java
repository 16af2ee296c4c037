package io.quorate;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;

/**
 * The number of a native object. {@link #close} frees it, or if calls use it, the last of them does. The garbage collector frees it too:
 * for memory alone, as nothing else depends on when an object is freed.
 */
final class Handle implements AutoCloseable {
    private static final Cleaner CLEANER = Cleaner.create();

    private final State state;
    private final Cleaner.Cleanable cleanable;

    Handle(String what, long number, LongConsumer free) {
        state = new State(what, number, free);
        cleanable = CLEANER.register(this, state);
    }

    /**
     * Calls a function with the number. The object is neither freed nor collected meanwhile.
     *
     * @throws IllegalStateException if it is closed
     */
    <T> T with(LongFunction<T> call) {
        state.begin();
        try {
            return call.apply(state.number);
        } finally {
            state.end();
            Reference.reachabilityFence(this);
        }
    }

    /** The same for a function without a result. */
    void run(LongConsumer call) {
        with(number -> {
            call.accept(number);
            return null;
        });
    }

    @Override
    public void close() {
        cleanable.clean();
    }

    /** What the collector needs to free the object, without the object itself. */
    private static final class State implements Runnable {
        private final String what;
        private final long number;
        private final LongConsumer free;
        private boolean closed;
        /** Calls that use the object. */
        private int calls;

        State(String what, long number, LongConsumer free) {
            this.what = what;
            this.number = number;
            this.free = free;
        }

        synchronized void begin() {
            if (closed) {
                throw new IllegalStateException("the " + what + " is closed");
            }
            calls++;
        }

        synchronized void end() {
            calls--;
            freeUnused();
        }

        /** Closes it. A {@code Cleanable} does so once. */
        @Override
        public synchronized void run() {
            closed = true;
            freeUnused();
        }

        private void freeUnused() {
            if (closed && calls == 0) {
                free.accept(number);
            }
        }
    }
}
