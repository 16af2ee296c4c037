package io.quorate.bls;

import java.util.List;
import java.util.Random;

/** What a consensus client asks of BLS12-381 with keys in G1, under Ethereum's tag. All encodings are compressed points. */
public interface Bls12381 {
    /** A new pair of keys from the random numbers of the operating system. */
    KeyPair generateKeyPair();

    /** A pair of keys that 32 bytes of this generator determine. Only a {@link java.security.SecureRandom} makes a secret key. */
    KeyPair generateKeyPair(Random random);

    /**
     * A public key of 48 bytes. Only the length is checked here; {@link PublicKey#forceValidation()} reads the point.
     *
     * @throws IllegalArgumentException if the length is wrong
     */
    PublicKey publicKeyFromCompressed(byte[] bytes);

    /**
     * A signature of 96 bytes. Only the length is checked here; {@link Signature#isInGroup()} reads the point.
     *
     * @throws IllegalArgumentException if the length is wrong
     */
    Signature signatureFromCompressed(byte[] bytes);

    /**
     * A secret key of 32 bytes.
     *
     * @throws io.quorate.QuorateException if they are not a number of 1 to r - 1
     */
    SecretKey secretKeyFromBytes(byte[] bytes);

    /**
     * The sum of keys, all of which are checked.
     *
     * @throws io.quorate.QuorateException if one is no key, there is none, or they add up to the identity
     */
    PublicKey aggregatePublicKeys(List<? extends PublicKey> publicKeys);

    /**
     * The sum of signatures, all of which are checked to be in the group.
     *
     * @throws io.quorate.QuorateException if one is no signature, or there is none
     */
    Signature aggregateSignatures(List<? extends Signature> signatures);

    /**
     * A part of a batch: these keys signed this message. The index is the part's place in its batch, or -1.
     *
     * <p>It costs a copy of the bytes. Bytes that do not decode make the batch false.
     */
    SemiAggregate prepareBatchVerify(int index, List<? extends PublicKey> publicKeys, byte[] message, Signature signature);

    /** Two parts of a batch at once: the first with this index, the second with the next one. */
    SemiAggregate prepareBatchVerify2(
            int index,
            List<? extends PublicKey> publicKeys1,
            byte[] message1,
            Signature signature1,
            List<? extends PublicKey> publicKeys2,
            byte[] message2,
            Signature signature2);

    /** Whether there are parts and all of them are true. Parts that another implementation prepared are false. */
    boolean completeBatchVerify(List<? extends SemiAggregate> prepared);
}
