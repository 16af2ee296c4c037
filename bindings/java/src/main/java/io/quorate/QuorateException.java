package io.quorate;

/** A call that could not be done. It never says that a signature is false: that is a {@link Verdict}. */
public final class QuorateException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** What kind of failure it is. */
    public enum Code {
        /** Bytes that are not a key, a signature or a secret. */
        ENCODING(3),
        /** Something that is not allowed or not possible: the text says what, and what to do. */
        MISUSE(4),
        /** The operating system has no random numbers, or no threads. */
        SYSTEM(6),
        /** A fault of the library. Please report it. */
        INTERNAL(7);

        private final int number;

        Code(int number) {
            this.number = number;
        }
    }

    private final Code code;

    QuorateException(Code code, String text) {
        super(text);
        this.code = code;
    }

    /** The native library makes it of its own codes. Those that this package never causes are internal errors. */
    QuorateException(int number, String text) {
        this(ofNumber(number), text);
    }

    private static Code ofNumber(int number) {
        for (Code code : Code.values()) {
            if (code.number == number) {
                return code;
            }
        }
        return Code.INTERNAL;
    }

    /** What kind of failure it is. */
    public Code code() {
        return code;
    }
}
