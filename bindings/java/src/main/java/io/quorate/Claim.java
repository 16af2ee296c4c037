package io.quorate;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The claim that keys signed messages, as bytes that nobody has decoded yet. Bytes that do not decode make the claim invalid, and are
 * no exception here. In the place of keys it can name members of a {@link KeySet}, so that a claim of 512 keys takes 64 bytes for them and
 * decodes none.
 *
 * <p>A claim is immutable: it keeps a copy of all bytes, packed as the native library reads them.
 */
public final class Claim {
    private static final int SHARED = 0;
    private static final int EACH = 1;
    private static final int POSSESSION = 2;
    private static final byte[] NO_SOURCE = {};
    /** The bytes of the suite, the kind and the two counts. */
    private static final int HEAD = 16;
    /** What is added to the kind of a claim that names members by a bitmap, or by indices. */
    private static final int BY_BITMAP = 256;

    private static final int BY_INDICES = 512;

    private final Suite suite;
    /** The set whose members signed, or null. The claim holds it, so that nobody frees it meanwhile. */
    private final KeySet keySet;
    private final byte[] packed;

    private Claim(Suite suite, KeySet keySet, byte[] packed) {
        this.suite = suite;
        this.keySet = keySet;
        this.packed = packed;
    }

    /** One key signed one message. */
    public static Claim single(Suite suite, byte[] publicKey, byte[] message, byte[] signature) {
        Objects.requireNonNull(publicKey, "publicKey");
        Objects.requireNonNull(message, "message");
        return of(suite, SHARED, new byte[][] {publicKey}, new byte[][] {message}, signature);
    }

    /** Every key signed the one message. */
    public static Claim shared(Suite suite, List<byte[]> publicKeys, byte[] message, byte[] signature) {
        Objects.requireNonNull(message, "message");
        return of(suite, SHARED, Bytes.elements("publicKeys", publicKeys), new byte[][] {message}, signature);
    }

    /** Each key signed the message at its index. With another number of messages than keys, the claim is invalid. */
    public static Claim each(Suite suite, List<byte[]> publicKeys, List<byte[]> messages, byte[] signature) {
        return of(suite, EACH, Bytes.elements("publicKeys", publicKeys), Bytes.elements("messages", messages), signature);
    }

    /** A proof of possession: the owner of the key signed the key's own encoding, under the tag for such proofs. */
    public static Claim possession(Suite suite, byte[] publicKey, byte[] proof) {
        Objects.requireNonNull(publicKey, "publicKey");
        Objects.requireNonNull(proof, "proof");
        return of(suite, POSSESSION, new byte[][] {publicKey}, new byte[0][], proof);
    }

    /**
     * These members of a set signed one message, in the suite of the set. Bit i stands for the member with index i.
     *
     * <p>A claim is about the set as it is when the claim is handed over. If the set does not fit the claim, because it has no such member,
     * or, in a suite with proofs of possession, one of several members has proven nothing, the verdict is {@link Verdict.Code#KEY_SET}. If
     * the set is closed, the call with the claim is an {@link IllegalStateException}.
     */
    public static Claim ofMembers(KeySet set, BitSet members, byte[] message, byte[] signature) {
        byte[] bits = Objects.requireNonNull(members, "members").toByteArray();
        Objects.requireNonNull(message, "message");
        return of(set, SHARED + BY_BITMAP, bits, new byte[][] {message}, signature);
    }

    /**
     * The same for members by their indices, in any order. An index may repeat, and each counts: do not take their number for that of the
     * members. In a BDN suite a repeated one is {@link Verdict.Code#RULE}.
     *
     * @throws IllegalArgumentException if an index is negative
     */
    public static Claim ofMembers(KeySet set, int[] indices, byte[] message, byte[] signature) {
        Objects.requireNonNull(message, "message");
        return of(set, SHARED + BY_INDICES, bytes(indices), new byte[][] {message}, signature);
    }

    /**
     * The member at each index signed the message at its place. With another number of messages than indices, the claim is invalid.
     *
     * @throws IllegalArgumentException if an index is negative
     */
    public static Claim eachOfMembers(KeySet set, int[] indices, List<byte[]> messages, byte[] signature) {
        return of(set, EACH + BY_INDICES, bytes(indices), Bytes.elements("messages", messages), signature);
    }

    private static byte[] bytes(int[] indices) {
        Objects.requireNonNull(indices, "indices");
        ByteBuffer bytes = buffer(Bytes.room("the indices", 4L * indices.length));
        for (int i = 0; i < indices.length; i++) {
            if (indices[i] < 0) {
                throw new IllegalArgumentException("indices[" + i + "]: found " + indices[i] + ", expected at least 0");
            }
            bytes.putInt(indices[i]);
        }
        return bytes.array();
    }

    private static Claim of(KeySet set, int kind, byte[] members, byte[][] messages, byte[] signature) {
        Suite suite = Objects.requireNonNull(set, "set").suite();
        Objects.requireNonNull(signature, "signature");
        ByteBuffer packed = buffer(Bytes.room("the claim", HEAD + 8L + 4L + members.length + sizeOf(messages) + 8L + signature.length));
        packed.putInt(suite.number()).putInt(kind).putInt(0).putInt(messages.length).putLong(set.number());
        put(packed, members);
        return ended(suite, set, packed, messages, signature);
    }

    private static Claim of(Suite suite, int kind, byte[][] keys, byte[][] messages, byte[] signature) {
        Objects.requireNonNull(suite, "suite");
        Objects.requireNonNull(signature, "signature");
        ByteBuffer packed = buffer(Bytes.room("the claim", HEAD + sizeOf(keys) + sizeOf(messages) + 8L + signature.length));
        packed.putInt(suite.number()).putInt(kind).putInt(keys.length).putInt(messages.length);
        for (byte[] key : keys) {
            put(packed, key);
        }
        return ended(suite, null, packed, messages, signature);
    }

    /** Writes what stands behind the keys. */
    private static Claim ended(Suite suite, KeySet set, ByteBuffer packed, byte[][] messages, byte[] signature) {
        for (byte[] message : messages) {
            put(packed, message);
        }
        put(packed, signature);
        put(packed, NO_SOURCE);
        return new Claim(suite, set, packed.array());
    }

    private static long sizeOf(byte[][] list) {
        long bytes = 0;
        for (byte[] part : list) {
            bytes += 4L + part.length;
        }
        return bytes;
    }

    /**
     * The same claim with the name of its sender, by which a {@link Batcher} tells senders of false claims from others.
     *
     * @throws IllegalArgumentException if the name is empty or is not a text of Unicode
     */
    public Claim withSource(String source) {
        Objects.requireNonNull(source, "source");
        if (source.isEmpty()) {
            throw new IllegalArgumentException("source: it is empty");
        }
        byte[] name;
        try {
            // `getBytes` would replace what it cannot encode, and two senders would have one name.
            ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(source));
            name = Arrays.copyOf(encoded.array(), encoded.limit());
        } catch (CharacterCodingException error) {
            throw new IllegalArgumentException("source: it has half of a surrogate pair", error);
        }
        int end = sourceAt();
        ByteBuffer with = buffer(Bytes.room("the claim", end + 4L + name.length));
        with.put(packed, 0, end);
        put(with, name);
        return new Claim(suite, keySet, with.array());
    }

    /** The suite. */
    public Suite suite() {
        return suite;
    }

    /** How many keys, or members, the claim has, repeats included. */
    public int statements() {
        if (keySet == null) {
            return buffer().getInt(8);
        }
        return kind() >= BY_INDICES ? members().length / 4 : BitSet.valueOf(members()).cardinality();
    }

    /** Whether it is a proof of possession. */
    public boolean isPossession() {
        return kind() == POSSESSION;
    }

    /** Copies of the keys; none if it names members of a set. */
    public List<byte[]> publicKeys() {
        ByteBuffer from = buffer();
        return keySet == null ? parts(from.position(HEAD), from.getInt(8)) : List.of();
    }

    /** The set whose members signed, if it names members. */
    public Optional<KeySet> keySet() {
        return Optional.ofNullable(keySet);
    }

    /** Copies of the messages: one if every key signed it, one for each key, or none in a proof of possession. */
    public List<byte[]> messages() {
        ByteBuffer from = behindKeys();
        return parts(from, from.getInt(12));
    }

    /** A copy of the signature. */
    public byte[] signature() {
        ByteBuffer from = behindKeys();
        skip(from, from.getInt(12));
        return parts(from, 1).get(0);
    }

    /** The name of the sender, if there is one. */
    public Optional<String> source() {
        byte[] name = parts(buffer().position(sourceAt()), 1).get(0);
        return name.length == 0 ? Optional.empty() : Optional.of(new String(name, StandardCharsets.UTF_8));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Claim claim && Arrays.equals(packed, claim.packed);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(packed);
    }

    @Override
    public String toString() {
        return "Claim[" + suite.named() + ", keys: " + statements() + ", bytes: " + packed.length + "]";
    }

    /** The claim as the native library reads it. Nobody may write to it. */
    byte[] packed() {
        return packed;
    }

    private int kind() {
        return buffer().getInt(4);
    }

    /** The bitmap or the indices of members. */
    private byte[] members() {
        return parts(buffer().position(HEAD + 8), 1).get(0);
    }

    private ByteBuffer behindKeys() {
        ByteBuffer from = buffer();
        if (keySet == null) {
            skip(from.position(HEAD), from.getInt(8));
        } else {
            skip(from.position(HEAD + 8), 1);
        }
        return from;
    }

    private int sourceAt() {
        ByteBuffer from = behindKeys();
        skip(from, from.getInt(12) + 1);
        return from.position();
    }

    private ByteBuffer buffer() {
        return ByteBuffer.wrap(packed).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static ByteBuffer buffer(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static void put(ByteBuffer to, byte[] part) {
        to.putInt(part.length).put(part);
    }

    private static void skip(ByteBuffer from, int count) {
        for (int i = 0; i < count; i++) {
            from.position(from.position() + 4 + from.getInt(from.position()));
        }
    }

    private static List<byte[]> parts(ByteBuffer from, int count) {
        List<byte[]> parts = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            byte[] part = new byte[from.getInt()];
            from.get(part);
            parts.add(part);
        }
        return parts;
    }
}
