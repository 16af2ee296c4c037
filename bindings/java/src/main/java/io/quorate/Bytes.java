package io.quorate;

import java.util.List;
import java.util.Objects;

/** What all calls do with lists of arrays. */
final class Bytes {
    private Bytes() {}

    /** Elements that are checked for nulls, by their names. */
    static byte[][] elements(String what, List<byte[]> list) {
        byte[][] elements = Objects.requireNonNull(list, what).toArray(new byte[0][]);
        for (int i = 0; i < elements.length; i++) {
            if (elements[i] == null) {
                throw new NullPointerException(what + "[" + i + "]");
            }
        }
        return elements;
    }

    /**
     * Keys or signatures, one after another.
     *
     * @throws QuorateException with {@link QuorateException.Code#ENCODING}, if one has not the length of the suite
     */
    static byte[] joined(String what, List<byte[]> list, int length) {
        byte[][] elements = elements(what, list);
        byte[] joined = new byte[room(what, (long) elements.length * length)];
        for (int i = 0; i < elements.length; i++) {
            if (elements[i].length != length) {
                throw new QuorateException(
                        QuorateException.Code.ENCODING,
                        what + "[" + i + "]: found " + elements[i].length + " bytes, expected " + length);
            }
            System.arraycopy(elements[i], 0, joined, i * length, length);
        }
        return joined;
    }

    /** A number of bytes that an array can have. */
    static int room(String what, long bytes) {
        if (bytes > MOST) {
            throw new IllegalArgumentException(what + ": " + bytes + " bytes are more than the " + MOST + " that an array of Java holds");
        }
        return (int) bytes;
    }

    /** The longest array that Java machines make. */
    private static final int MOST = Integer.MAX_VALUE - 8;
}
