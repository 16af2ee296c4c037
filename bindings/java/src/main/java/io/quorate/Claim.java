package io.quorate;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The claim that keys signed messages, as bytes that nobody has decoded yet. Bytes that do not decode make the claim invalid, and are
 * no exception here.
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

    private final Suite suite;
    private final byte[] packed;

    private Claim(Suite suite, byte[] packed) {
        this.suite = suite;
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

    private static Claim of(Suite suite, int kind, byte[][] keys, byte[][] messages, byte[] signature) {
        Objects.requireNonNull(suite, "suite");
        Objects.requireNonNull(signature, "signature");
        long bytes = HEAD + 8L + signature.length;
        for (byte[][] list : List.of(keys, messages)) {
            for (byte[] part : list) {
                bytes += 4L + part.length;
            }
        }
        ByteBuffer packed = buffer(Bytes.room("the claim", bytes));
        packed.putInt(suite.number()).putInt(kind).putInt(keys.length).putInt(messages.length);
        for (byte[][] list : List.of(keys, messages)) {
            for (byte[] part : list) {
                put(packed, part);
            }
        }
        put(packed, signature);
        put(packed, NO_SOURCE);
        return new Claim(suite, packed.array());
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
        return new Claim(suite, with.array());
    }

    /** The suite. */
    public Suite suite() {
        return suite;
    }

    /** How many keys the claim has. */
    public int statements() {
        return buffer().getInt(8);
    }

    /** Whether it is a proof of possession. */
    public boolean isPossession() {
        return buffer().getInt(4) == POSSESSION;
    }

    /** Copies of the keys. */
    public List<byte[]> publicKeys() {
        ByteBuffer from = buffer();
        return parts(from.position(HEAD), from.getInt(8));
    }

    /** Copies of the messages: one if every key signed it, one for each key, or none in a proof of possession. */
    public List<byte[]> messages() {
        ByteBuffer from = buffer();
        skip(from.position(HEAD), from.getInt(8));
        return parts(from, from.getInt(12));
    }

    /** A copy of the signature. */
    public byte[] signature() {
        ByteBuffer from = buffer();
        skip(from.position(HEAD), from.getInt(8) + from.getInt(12));
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

    private int sourceAt() {
        ByteBuffer from = buffer();
        skip(from.position(HEAD), from.getInt(8) + from.getInt(12) + 1);
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
