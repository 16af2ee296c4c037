package io.quorate;

import java.util.BitSet;
import java.util.List;
import java.util.Objects;

/**
 * A committee's keys by index, which are checked once. It keeps its last sums, and computes the next one from the difference if that takes
 * less.
 *
 * <p>In a suite with proofs of possession, a member takes part with others only if it has proven that it holds its secret, or if you say
 * that it did elsewhere. With a wrong word, the owner of a rogue key can forge for all members.
 *
 * <p>Any number of threads can use one at the same time. Claims name members of a set ({@link Claim#ofMembers}), so that many of them are
 * verified together, and by a {@link Batcher}.
 */
public final class KeySet implements AutoCloseable {
    private final Suite suite;
    private final Handle handle;
    /** That by which packed claims name the set. */
    private final long number;

    /** A committee without members. */
    public KeySet(Suite suite) {
        this.suite = Objects.requireNonNull(suite, "suite");
        handle = new Handle("key set", Native.committeeNew(suite.number()), Native::committeeFree);
        number = handle.with(Native::committeeNumber);
    }

    long number() {
        return number;
    }

    /** The suite. */
    public Suite suite() {
        return suite;
    }

    /**
     * Adds members behind those that are there: all of them, or none if a key does not decode. No keys add no members. Cost: a decoding and
     * a membership check for each.
     *
     * @throws QuorateException with {@link QuorateException.Code#ENCODING}
     */
    public void push(List<byte[]> keys) {
        push(keys, false);
    }

    /** The same for keys whose owners have shown elsewhere that they hold their secrets. */
    public void pushAssumed(List<byte[]> keys) {
        push(keys, true);
    }

    private void push(List<byte[]> keys, boolean assumed) {
        byte[] joined = Bytes.joined("keys", keys, suite.keyLength());
        handle.run(number -> Native.committeePush(number, joined, assumed));
    }

    /**
     * Verifies a member's proof of possession, and records it if it is true.
     *
     * @return whether it is true
     * @throws QuorateException with {@link QuorateException.Code#ENCODING}; with {@link QuorateException.Code#MISUSE}, if there is no such
     *     member, or the suite has no such proofs
     */
    public boolean prove(int index, byte[] proof) {
        Objects.requireNonNull(proof, "proof");
        return handle.with(number -> Native.committeeProve(number, index, proof));
    }

    /** How many members there are. */
    public int size() {
        return handle.with(Native::committeeMembers);
    }

    /**
     * The sum of members' keys, also of members that have proven nothing: verify with {@link #verify}, and not under this sum. Bit i stands
     * for the member with index i. For no members it is the identity.
     *
     * @throws QuorateException with {@link QuorateException.Code#MISUSE}, if there is no such member, and in a BDN suite, where keys are
     *     added with coefficients
     */
    public byte[] sum(BitSet members) {
        byte[] bits = Objects.requireNonNull(members, "members").toByteArray();
        return handle.with(number -> Native.committeeSum(number, bits));
    }

    /**
     * Whether these members signed a message.
     *
     * @throws QuorateException with {@link QuorateException.Code#ENCODING}, if the signature is not the encoding of a point;
     *     with {@link QuorateException.Code#MISUSE} for no members, unless the suite allows that, as {@code eth2-sync-aggregate} does; if
     *     there is no such member, one has not proven its key, the keys add up to the identity, or the suite has no signatures of several
     *     keys over one message
     */
    public Verdict verify(BitSet members, byte[] message, byte[] signature) {
        byte[] bits = Objects.requireNonNull(members, "members").toByteArray();
        Objects.requireNonNull(message, "message");
        Objects.requireNonNull(signature, "signature");
        return handle.with(number -> Verdict.read(Native.committeeVerify(number, bits, message, signature), 1)).get(0);
    }

    /**
     * Frees it. Calls in progress end as usual, and later ones, also those with a claim that names it, are an
     * {@link IllegalStateException}. Claims that were handed to a {@link Batcher} keep what they need of it. The garbage collector frees a
     * forgotten one at some time.
     */
    @Override
    public void close() {
        handle.close();
    }
}
