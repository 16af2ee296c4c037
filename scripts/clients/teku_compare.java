// Measures Teku's calls with its own provider and with the adapter, in turn in one process: `Compare ROUNDS`. Messages are new in each
// round, keys were read before, and signatures come as bytes. Each call must be true, and false with one other message.
package tech.pegasys.teku.bls;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.tuweni.bytes.Bytes;
import org.apache.tuweni.bytes.Bytes32;
import org.apache.tuweni.bytes.Bytes48;
import tech.pegasys.teku.bls.impl.BLS12381;

final class Compare {
  private static final List<BLS12381> PROVIDERS =
      List.of(tech.pegasys.teku.bls.impl.original.BlstLoader.INSTANCE.orElseThrow(), tech.pegasys.teku.bls.impl.blst.BlstLoader.INSTANCE.orElseThrow());
  private static final List<BLSSecretKey> SECRETS = new ArrayList<>();
  /** The keys as each provider reads them. */
  private static final List<List<BLSPublicKey>> KEYS = List.of(new ArrayList<>(), new ArrayList<>());

  private static int serial;

  private static Bytes newMessage() {
    return Bytes.wrap(ByteBuffer.allocate(32).putInt(++serial).array());
  }

  /** What is verified: these members of KEYS signed these messages. */
  private record Sets(List<List<Integer>> members, List<Bytes> messages, List<Bytes> signatures) {
    static Sets of(List<List<Integer>> members, boolean oneMessage) {
      BLS.setBlsImplementation(PROVIDERS.get(0));
      Bytes first = newMessage();
      List<Bytes> messages = members.stream().map(set -> oneMessage ? first : newMessage()).toList();
      List<Bytes> signatures = new ArrayList<>();
      for (int i = 0; i < members.size(); i++) {
        Bytes message = messages.get(i);
        signatures.add(BLS.aggregate(members.get(i).stream().map(j -> BLS.sign(SECRETS.get(j), message)).toList()).toBytesCompressed());
      }
      return new Sets(members, messages, signatures);
    }

    private boolean verify(int provider, List<Bytes> asked, boolean inBatch) {
      List<List<BLSPublicKey>> keys = members.stream().map(set -> set.stream().map(KEYS.get(provider)::get).toList()).toList();
      List<BLSSignature> read = signatures.stream().map(BLSSignature::fromBytesCompressed).toList();
      if (inBatch) {
        return BLS.batchVerify(keys, asked, read);
      }
      boolean all = true;
      for (int i = 0; i < asked.size(); i++) {
        all &= BLS.fastAggregateVerify(keys.get(i), asked.get(i), read.get(i));
      }
      return all;
    }

    /** The milliseconds that a provider takes. */
    double measure(int provider, boolean inBatch) {
      BLS.setBlsImplementation(PROVIDERS.get(provider));
      List<Bytes> spoiled = new ArrayList<>(messages);
      spoiled.set(messages.size() / 2, newMessage());
      long start = System.nanoTime();
      boolean holds = verify(provider, messages, inBatch);
      double took = (System.nanoTime() - start) / 1e6;
      if (!holds || verify(provider, spoiled, inBatch)) {
        throw new AssertionError("a wrong answer");
      }
      return took;
    }
  }

  private static List<List<Integer>> single(int count) {
    return IntStream.range(0, count).mapToObj(List::of).toList();
  }

  private static void row(String name, int rounds, List<List<Integer>> members, boolean oneMessage, boolean inBatch) {
    double[][] times = new double[2][rounds];
    // The first two rounds only warm up.
    for (int round = -2; round < rounds; round++) {
      Sets sets = Sets.of(members, oneMessage);
      for (int turn = 0; turn < 2; turn++) {
        int provider = Math.floorMod(round + turn, 2);
        double took = sets.measure(provider, inBatch);
        if (round >= 0) {
          times[provider][round] = took;
        }
      }
    }
    double[] medians = Arrays.stream(times).mapToDouble(all -> Arrays.stream(all).sorted().toArray()[rounds / 2]).toArray();
    System.out.printf(Locale.ROOT, "| %s | %.2f | %.2f | %.2fx |%n", name, medians[0], medians[1], medians[0] / medians[1]);
  }

  public static void main(String[] arguments) {
    int rounds = Integer.parseInt(arguments[0]);
    Random random = new Random(1);
    for (int i = 0; i < 1024; i++) {
      SECRETS.add(BLSSecretKey.fromBytesModR(Bytes32.random(random)));
      Bytes48 key = SECRETS.get(i).toPublicKey().toBytesCompressed();
      for (int provider = 0; provider < 2; provider++) {
        BLS.setBlsImplementation(PROVIDERS.get(provider));
        KEYS.get(provider).add(BLSPublicKey.fromBytesCompressedValidate(key));
      }
      BLS.setBlsImplementation(PROVIDERS.get(0));
    }
    List<List<Integer>> block = new ArrayList<>(single(3));
    for (int i = 0; i < 8; i++) {
      block.add(IntStream.range(128 * i, 128 * i + 128).boxed().toList());
    }
    System.out.printf("%d cores, Java %s, %d rounds%n", Runtime.getRuntime().availableProcessors(), Runtime.version().feature(), rounds);
    System.out.println("| medians in ms | blst | quorate | |\n|---|--:|--:|--:|");
    row("batchVerify, 64 messages", rounds, single(64), false, true);
    row("batchVerify, 128 messages", rounds, single(128), false, true);
    row("batchVerify, 250 messages", rounds, single(250), false, true);
    row("batchVerify, 128 sets over one message", rounds, single(128), true, true);
    row("batchVerify, a block: 8 sets of 128 keys, 3 of one", rounds, block, false, true);
    row("fastAggregateVerify, 8 times one key", rounds, single(8), false, false);
  }
}
