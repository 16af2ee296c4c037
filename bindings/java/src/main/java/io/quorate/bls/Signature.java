package io.quorate.bls;

import java.util.List;

/** A signature: 96 bytes, of which nobody says yet that they are a point. Two are equal if their bytes are. */
public interface Signature {
    /** A copy of the 96 bytes. */
    byte[] toBytesCompressed();

    /** Whether it is the sum of signatures by these keys over their messages. False for no pairs. */
    boolean verify(List<PublicKeyMessagePair> keysToMessages);

    /** Whether it is the sum of signatures by these keys over one message. False for no keys. */
    boolean verify(List<? extends PublicKey> publicKeys, byte[] message);

    /** Whether this key made it over a message. */
    default boolean verify(PublicKey publicKey, byte[] message) {
        return verify(List.of(publicKey), message);
    }

    /** Whether it is the encoding of the identity. */
    boolean isInfinity();

    /** Whether it is a point of the group. */
    boolean isInGroup();
}
