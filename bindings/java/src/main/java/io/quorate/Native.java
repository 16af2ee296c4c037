package io.quorate;

/**
 * The functions of the native library. Suites and objects are numbers; claims, texts and verdicts are arrays of bytes.
 *
 * <p>A number that names no open object is an {@link IllegalStateException}. Every other failure is a {@link QuorateException}.
 */
final class Native {
    /** The interface that this class expects: the number changes with every function's arguments or answers. */
    private static final int INTERFACE = 2;

    static {
        Library.load();
        int found = interfaceNumber();
        if (found != INTERFACE) {
            throw new UnsatisfiedLinkError("the native library of quorate has the interface " + found + ", and this jar needs " + INTERFACE
                    + ": use the library that came with the jar");
        }
    }

    private Native() {}

    private static native int interfaceNumber();

    /** A line for each suite: number, name, bytes of a key, bytes of a signature. */
    static native byte[] suites();

    /** The names of the backends of this machine, one a line, the fastest first. */
    static native byte[] backends();

    static native long verifierNew(int threads, int soundness, byte[] backend, long mostKnown);

    static native void verifierFree(long verifier);

    /** A code for each claim; then, for each code that is not 1, the length of its reason and the reason. */
    static native byte[] verify(long verifier, byte[] packed, int count, boolean remember);

    static native byte[] plan(long verifier, byte[] packed, int count);

    static native long known(long verifier);

    static native void forget(long verifier);

    static native void checkPublicKey(int suite, byte[] key);

    static native void checkSignature(int suite, byte[] signature);

    static native byte[] aggregate(int suite, byte[] signatures);

    static native byte[] bdnAggregate(int suite, byte[] keys, byte[] signatures);

    static native byte[] aggregatePublicKeys(int suite, byte[] keys);

    static native byte[] subtract(int suite, byte[] sum, byte[] parts);

    static native long secretGenerate(int suite);

    static native long secretDerive(int suite, byte[] material, byte[] info);

    static native long secretRead(int suite, byte[] secret);

    static native void secretFree(long secret);

    static native byte[] secretBytes(long secret);

    static native byte[] secretPublicKey(long secret);

    static native byte[] secretSign(long secret, byte[] message);

    static native byte[] secretProve(long secret);

    static native long committeeNew(int suite);

    static native void committeeFree(long committee);

    /** The number by which packed claims name the set. */
    static native long committeeNumber(long committee);

    static native void committeePush(long committee, byte[] keys, boolean assumed);

    static native boolean committeeProve(long committee, int index, byte[] proof);

    static native int committeeMembers(long committee);

    static native byte[] committeeSum(long committee, byte[] members);

    /** The verdict about one claim, as {@link #verify} writes it. */
    static native byte[] committeeVerify(long committee, byte[] members, byte[] message, byte[] signature);

    static native long batcherNew(
            int threads, int soundness, byte[] backend, long lingerMicros, long targetMicros, long queueMicros, long queueBytes);

    /** Hands one packed claim in. Its answer comes under the id. Without a deadline, {@code deadlineMicros} is 0. */
    static native void batcherSubmit(long batcher, long id, byte[] packed, int urgency, long deadlineMicros);

    /**
     * Waits for answers: the id of 8 bytes, a code, the length of a reason and the reason, for each. No bytes mean that the batcher was
     * closed and every claim has been answered; then the number is free.
     */
    static native byte[] batcherAnswers(long batcher);

    static native void batcherStop(long batcher, long withinMicros);

    /** Refuses what waits, and takes no more claims. The answers that are left can still be fetched. */
    static native void batcherClose(long batcher);
}
