package io.quorate;

import java.math.BigInteger;
import java.security.SecureRandom;
import java.util.List;
import supranational.blst.BLST_ERROR;
import supranational.blst.P1_Affine;
import supranational.blst.P2_Affine;
import supranational.blst.Pairing;

/** The rows of {@link Benchmark}, and the same batches by blst for Java as a consensus client calls it: a weight of 64 bits a set, one product. */
final class BlstBenchmark {
    private static final String TAG = "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";
    private static final SecureRandom RANDOM = new SecureRandom();

    private BlstBenchmark() {}

    /** Prints a row for each measurement. */
    public static void main(String[] arguments) {
        Benchmark.main(arguments);
        row("blst, 250 new messages, keys decoded before", true);
        row("blst, 250 new messages, new keys", false);
    }

    private static void row(String name, boolean decodedBefore) {
        Benchmark.row(name, "us a claim", 1000 * Benchmark.BATCH, 1, sample -> {
            List<Claim> claims = Benchmark.batch(Benchmark.BATCH, sample, false);
            List<P1_Affine> before = decodedBefore ? claims.stream().map(BlstBenchmark::key).toList() : null;
            List<byte[]> messages = claims.stream().map(claim -> claim.messages().get(0)).toList();
            return () -> {
                List<P1_Affine> keys = decodedBefore ? before : claims.stream().map(BlstBenchmark::key).toList();
                Pairing all = null;
                for (int i = 0; i < claims.size(); i++) {
                    Pairing one = new Pairing(true, TAG);
                    P2_Affine signature = new P2_Affine(claims.get(i).signature());
                    if (one.mul_n_aggregate(keys.get(i), signature, weight(), messages.get(i)) != BLST_ERROR.BLST_SUCCESS) {
                        return false;
                    }
                    one.commit();
                    if (all == null) {
                        all = one;
                    } else if (all.merge(one) != BLST_ERROR.BLST_SUCCESS) {
                        return false;
                    }
                }
                return all != null && all.finalverify();
            };
        });
    }

    /** A key that was decoded and is in the group. */
    private static P1_Affine key(Claim claim) {
        P1_Affine key = new P1_Affine(claim.publicKeys().get(0));
        if (!key.in_group() || key.is_inf()) {
            throw new AssertionError("a key that is none");
        }
        return key;
    }

    private static BigInteger weight() {
        return new BigInteger(64, RANDOM).add(BigInteger.ONE);
    }
}
