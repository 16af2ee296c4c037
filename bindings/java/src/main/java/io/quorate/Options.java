package io.quorate;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** The settings that a verifier and a batcher share, as the native library takes them: zeros are its defaults. */
final class Options {
    /** All processors of the machine, as a number of threads. */
    private static final int ALL = -1;

    /** The most threads that the native library takes. */
    private static final int MOST_THREADS = 1024;

    int threads;
    int soundness;
    String backend = "";

    void threads(int threads) {
        if (threads < 1 || threads > MOST_THREADS) {
            throw new IllegalArgumentException("threads: found " + threads + ", expected 1 to " + MOST_THREADS);
        }
        this.threads = threads;
    }

    void allThreads() {
        threads = ALL;
    }

    void soundness(int bits) {
        if (bits != 64 && bits != 128) {
            throw new IllegalArgumentException("soundness: found " + bits + ", expected 64 or 128");
        }
        soundness = bits;
    }

    void backend(String name) {
        if (Objects.requireNonNull(name, "backend").isEmpty()) {
            throw new IllegalArgumentException("backend: the name is empty");
        }
        backend = name;
    }

    byte[] backendBytes() {
        return backend.getBytes(StandardCharsets.UTF_8);
    }
}
