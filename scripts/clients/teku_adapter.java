// Teku's provider of BLS, over quorate. It takes the names of the provider over blst, because Teku's tests call those.
package tech.pegasys.teku.bls.impl.blst;

import io.quorate.Claim;
import io.quorate.Keys;
import io.quorate.QuorateException;
import io.quorate.Signatures;
import io.quorate.Suite;
import io.quorate.Verdict;
import io.quorate.Verifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.tuweni.bytes.Bytes;
import org.apache.tuweni.bytes.Bytes32;
import org.apache.tuweni.bytes.Bytes48;
import tech.pegasys.teku.bls.BatchSemiAggregate;
import tech.pegasys.teku.bls.impl.BLS12381;
import tech.pegasys.teku.bls.impl.BlsException;
import tech.pegasys.teku.bls.impl.KeyPair;
import tech.pegasys.teku.bls.impl.PublicKey;
import tech.pegasys.teku.bls.impl.PublicKeyMessagePair;
import tech.pegasys.teku.bls.impl.SecretKey;
import tech.pegasys.teku.bls.impl.Signature;

public class BlstLoader {
  public static final Optional<BLS12381> INSTANCE = Optional.of(new BlstBLS12381());
}

final class BlstBLS12381 implements BLS12381 {
  static final Suite SUITE = Suite.ETH2;
  static final Verifier VERIFIER = Verifier.builder().threads(Integer.getInteger("threads", 1)).build();

  /** The compressed identity: two flags, and zeros. */
  static byte[] identity(int length) {
    byte[] bytes = new byte[length];
    bytes[0] = (byte) 0xc0;
    return bytes;
  }

  static BlstSignature sign(BlstSecretKey key, Bytes message) {
    return key.sign(message);
  }

  static Claim claim(List<? extends PublicKey> keys, Bytes message, Signature signature) {
    List<byte[]> encoded = keys.stream().map(key -> key.toBytesCompressed().toArrayUnsafe()).toList();
    return Claim.shared(SUITE, encoded, message.toArrayUnsafe(), signature.toBytesCompressed().toArrayUnsafe());
  }

  @Override
  public KeyPair generateKeyPair(Random random) {
    return new KeyPair(BlstSecretKey.generateNew(random));
  }

  @Override
  public PublicKey publicKeyFromCompressed(Bytes48 bytes) {
    return BlstPublicKey.fromBytes(bytes);
  }

  @Override
  public Signature signatureFromCompressed(Bytes bytes) {
    return BlstSignature.fromBytes(bytes);
  }

  @Override
  public SecretKey secretKeyFromBytes(Bytes32 bytes) {
    return bytes.isZero() ? BlstSecretKey.ZERO_SK : new BlstSecretKey(io.quorate.SecretKey.fromBytes(SUITE, bytes.toArray()));
  }

  /** As in Teku, the sum is the identity if one of the keys is no valid key. */
  @Override
  public PublicKey aggregatePublicKeys(List<? extends PublicKey> keys) {
    try {
      List<byte[]> encoded = keys.stream().map(key -> key.toBytesCompressed().toArrayUnsafe()).toList();
      return new BlstPublicKey(Keys.aggregatePublicKeys(SUITE, encoded));
    } catch (QuorateException error) {
      return new BlstPublicKey(identity(48));
    }
  }

  @Override
  public Signature aggregateSignatures(List<? extends Signature> signatures) {
    if (signatures.isEmpty()) {
      return BlstSignature.INFINITY;
    }
    List<byte[]> encoded = signatures.stream().map(signature -> signature.toBytesCompressed().toArrayUnsafe()).toList();
    try {
      return new BlstSignature(Signatures.aggregate(SUITE, encoded), true);
    } catch (QuorateException error) {
      throw new BlsException("Failed to aggregate signatures", error);
    }
  }

  /** Sets of a batch. Nothing is computed before the batch is complete. */
  private record Prepared(List<Claim> claims) implements BatchSemiAggregate {}

  private static Claim prepared(List<? extends PublicKey> keys, Bytes message, Signature signature) {
    if (!signature.isInGroup()) {
      throw new BlsException("The signature is not in the group");
    }
    return claim(keys, message, signature);
  }

  @Override
  public BatchSemiAggregate prepareBatchVerify(int index, List<? extends PublicKey> keys, Bytes message, Signature signature) {
    return new Prepared(List.of(prepared(keys, message, signature)));
  }

  @Override
  public BatchSemiAggregate prepareBatchVerify2(
      int index, List<? extends PublicKey> keys1, Bytes message1, Signature signature1,
      List<? extends PublicKey> keys2, Bytes message2, Signature signature2) {
    return new Prepared(List.of(prepared(keys1, message1, signature1), prepared(keys2, message2, signature2)));
  }

  /** As in Teku, an empty batch is true. */
  @Override
  public boolean completeBatchVerify(List<? extends BatchSemiAggregate> batch) {
    List<Claim> claims = new ArrayList<>();
    for (BatchSemiAggregate part : batch) {
      if (!(part instanceof Prepared own)) {
        return false;
      }
      claims.addAll(own.claims);
    }
    return VERIFIER.verify(claims).stream().allMatch(Verdict::valid);
  }
}

final class BlstPublicKey implements PublicKey {
  private final byte[] bytes;

  BlstPublicKey(byte[] bytes) {
    this.bytes = bytes;
  }

  /** Bytes of which nobody says yet that they are a key, as Teku's interface allows. */
  static BlstPublicKey fromBytes(Bytes48 bytes) {
    return new BlstPublicKey(bytes.toArray());
  }

  @Override
  public Bytes48 toBytesCompressed() {
    return Bytes48.wrap(bytes);
  }

  @Override
  public void forceValidation() {
    try {
      Keys.check(BlstBLS12381.SUITE, bytes);
    } catch (QuorateException error) {
      throw new IllegalArgumentException("Invalid PublicKey: " + toBytesCompressed(), error);
    }
  }

  @Override
  public boolean isInGroup() {
    return Arrays.equals(bytes, BlstBLS12381.identity(48)) || isValid();
  }

  @Override
  public boolean isValid() {
    try {
      forceValidation();
      return true;
    } catch (IllegalArgumentException error) {
      return false;
    }
  }

  @Override
  public int hashCode() {
    return toBytesCompressed().hashCode();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof PublicKey key && toBytesCompressed().equals(key.toBytesCompressed());
  }
}

final class BlstSignature implements Signature {
  static final BlstSignature INFINITY = new BlstSignature(BlstBLS12381.identity(96), true);

  private final byte[] bytes;
  private final boolean isInGroup;

  BlstSignature(byte[] bytes, boolean isInGroup) {
    this.bytes = bytes;
    this.isInGroup = isInGroup;
  }

  /** Teku keeps a point of the curve that is outside the group, and says so when it is used. */
  static BlstSignature fromBytes(Bytes compressed) {
    byte[] bytes = compressed.toArray();
    try {
      Signatures.check(BlstBLS12381.SUITE, bytes);
      return new BlstSignature(bytes, true);
    } catch (QuorateException error) {
      if (!error.getMessage().contains("subgroup")) {
        throw new BlsException("Deserialization of signature bytes failed: " + compressed, error);
      }
      return new BlstSignature(bytes, false);
    }
  }

  @Override
  public Bytes toBytesCompressed() {
    return Bytes.wrap(bytes);
  }

  @Override
  public boolean verify(List<PublicKeyMessagePair> pairs) {
    List<byte[]> keys = pairs.stream().map(pair -> pair.getPublicKey().toBytesCompressed().toArrayUnsafe()).toList();
    List<byte[]> messages = pairs.stream().map(pair -> pair.getMessage().toArrayUnsafe()).toList();
    return BlstBLS12381.VERIFIER.verifyOne(Claim.each(BlstBLS12381.SUITE, keys, messages, bytes)).valid();
  }

  @Override
  public boolean verify(List<PublicKey> keys, Bytes message) {
    return BlstBLS12381.VERIFIER.verifyOne(BlstBLS12381.claim(keys, message, this)).valid();
  }

  /** The tag is the name of its suite in the specification. */
  @Override
  public boolean verify(PublicKey key, Bytes message, String dst) {
    byte[] encoded = key.toBytesCompressed().toArrayUnsafe();
    Claim claim = Claim.single(Suite.of(dst), encoded, message.toArrayUnsafe(), bytes);
    return BlstBLS12381.VERIFIER.verifyOne(claim).valid();
  }

  @Override
  public boolean isInfinity() {
    return Arrays.equals(bytes, INFINITY.bytes);
  }

  @Override
  public boolean isInGroup() {
    return isInGroup;
  }

  @Override
  public int hashCode() {
    return toBytesCompressed().hashCode();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Signature signature && toBytesCompressed().equals(signature.toBytesCompressed());
  }
}

/** A secret key. Teku knows one that is zero, which quorate refuses: it signs nothing, and its public key is the identity. */
final class BlstSecretKey implements SecretKey {
  static final BlstSecretKey ZERO_SK = new BlstSecretKey(null);

  private io.quorate.SecretKey secret;

  BlstSecretKey(io.quorate.SecretKey secret) {
    this.secret = secret;
  }

  static BlstSecretKey generateNew(Random random) {
    byte[] material = new byte[128];
    random.nextBytes(material);
    return new BlstSecretKey(io.quorate.SecretKey.derive(BlstBLS12381.SUITE, material, new byte[0]));
  }

  boolean isZero() {
    return secret == null;
  }

  @Override
  public Bytes32 toBytes() {
    return isZero() ? Bytes32.ZERO : Bytes32.wrap(secret.toBytes());
  }

  @Override
  public BlstPublicKey derivePublicKey() {
    return new BlstPublicKey(isZero() ? BlstBLS12381.identity(48) : secret.publicKey());
  }

  @Override
  public BlstSignature sign(Bytes message) {
    return signed(secret, message);
  }

  @Override
  public BlstSignature sign(Bytes message, String dst) {
    Suite suite = Suite.of(dst);
    try (io.quorate.SecretKey other = isZero() ? null : io.quorate.SecretKey.fromBytes(suite, secret.toBytes())) {
      return signed(other, message);
    }
  }

  private static BlstSignature signed(io.quorate.SecretKey secret, Bytes message) {
    if (secret == null) {
      throw new IllegalArgumentException("Signing with zero private key is prohibited");
    }
    return new BlstSignature(secret.sign(message.toArrayUnsafe()), true);
  }

  @Override
  public void destroy() {
    if (!isZero()) {
      secret.close();
      secret = null;
    }
  }

  @Override
  public int hashCode() {
    return toBytes().hashCode();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SecretKey key && toBytes().equals(key.toBytes());
  }
}
