package io.quorate;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * What a claim got. Ask {@link #valid()} whether something proved it; nothing else means yes.
 *
 * <p>A claim that nobody looked at, because a {@link Batcher} refused it, or that does not fit its {@link KeySet}, is not valid either, but
 * it may be true: {@link #decided()} tells the two apart. Do not punish the sender of a claim that is not decided.
 */
public final class Verdict {
    /** The kinds of verdicts. */
    public enum Code {
        /** Nothing proved or refuted it. From a {@link Verifier}, it is an internal error. */
        UNDECIDED(0),
        /** Something proved it. */
        VALID(1),
        /** Its signature is not the one that these keys make over these messages. */
        MISMATCH(2),
        /** A key, its signature or a message does not decode. */
        ENCODING(3),
        /** It breaks a rule of its suite: no keys, equal messages, keys that add up to the identity, other counts. */
        RULE(4),
        /**
         * It does not fit the {@link KeySet} that it names: the set has no such member, or one of several members has not proven its key. The
         * set can be older than the claim, so this says nothing about who sent it.
         */
        KEY_SET(5),
        /** Nobody looked at it, because as much work waits as the settings allow, or because it alone is larger. */
        OVERLOADED(16),
        /** Nobody looked at it, because its source sent false claims. */
        BANNED(17),
        /** Nobody looked at it before its deadline. */
        DEADLINE_PASSED(18),
        /** Nobody looked at it, because the batcher stops. */
        STOPPED(19),
        /** An internal error of the batcher. */
        FAILED(20);

        private static final Code[] BY_NUMBER = new Code[256];

        static {
            for (Code code : values()) {
                BY_NUMBER[code.number] = code;
            }
        }

        private final int number;

        Code(int number) {
            this.number = number;
        }

        /** The code of a number; a number that nobody knows proves nothing. */
        static Code of(byte number) {
            Code code = BY_NUMBER[Byte.toUnsignedInt(number)];
            return code == null ? UNDECIDED : code;
        }
    }

    /** That of a claim about which nothing is known: not valid, and not decided. */
    public static final Verdict UNDECIDED = new Verdict(Code.UNDECIDED, "nothing proved or refuted the claim");

    private static final Verdict VALID = new Verdict(Code.VALID, "");

    private final Code code;
    private final String reason;

    private Verdict(Code code, String reason) {
        this.code = code;
        this.reason = reason;
    }

    /** Whether something proved the claim. */
    public boolean valid() {
        return code == Code.VALID;
    }

    /** Whether the claim is proved, or refuted. */
    public boolean decided() {
        return switch (code) {
            case VALID, MISMATCH, ENCODING, RULE -> true;
            case UNDECIDED, KEY_SET, OVERLOADED, BANNED, DEADLINE_PASSED, STOPPED, FAILED -> false;
        };
    }

    /** What kind of verdict it is. */
    public Code code() {
        return code;
    }

    /** Why the claim is not valid, for people; empty if it is. */
    public String reason() {
        return reason;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Verdict verdict && code == verdict.code && reason.equals(verdict.reason);
    }

    @Override
    public int hashCode() {
        return Objects.hash(code, reason);
    }

    @Override
    public String toString() {
        return valid() ? "valid" : (decided() ? "invalid: " : "not decided: ") + reason;
    }

    /** A verdict of its parts. */
    static Verdict of(Code code, String reason) {
        return code == Code.VALID ? VALID : new Verdict(code, reason);
    }

    /**
     * Reads the verdicts about claims.
     *
     * @throws QuorateException if there is not one for each
     */
    static List<Verdict> read(byte[] answer, int count) {
        if (answer == null || answer.length < count) {
            throw new QuorateException(QuorateException.Code.INTERNAL, "internal error, please report it: verdicts are missing");
        }
        Verdict[] verdicts = new Verdict[count];
        ByteBuffer reasons = ByteBuffer.wrap(answer).order(ByteOrder.LITTLE_ENDIAN).position(count);
        for (int i = 0; i < count; i++) {
            Code code = Code.of(answer[i]);
            // The reason stands there for every code that is not 1.
            verdicts[i] = answer[i] == Code.VALID.number ? VALID : of(code, reason(reasons));
        }
        return Collections.unmodifiableList(Arrays.asList(verdicts));
    }

    /** Reads a reason: its length and its bytes. */
    static String reason(ByteBuffer from) {
        byte[] text = new byte[from.getInt()];
        from.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }
}
