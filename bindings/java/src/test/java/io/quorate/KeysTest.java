package io.quorate;

import static io.quorate.Testing.bytes;
import static io.quorate.Testing.message;
import static io.quorate.Testing.secret;
import static io.quorate.Testing.throwsCode;
import static io.quorate.Testing.throwsNull;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.quorate.QuorateException.Code;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class KeysTest {
    private static final byte[] MESSAGE = bytes("message");

    @ParameterizedTest
    @EnumSource
    void secretsAreReadAndWritten(Suite suite) {
        try (SecretKey secret = SecretKey.generate(suite); SecretKey again = SecretKey.fromBytes(suite, secret.toBytes())) {
            assertEquals(suite.keyLength(), secret.publicKey().length);
            assertArrayEquals(secret.publicKey(), again.publicKey());
            byte[] signature = secret.sign(message(1));
            assertEquals(suite.signatureLength(), signature.length);
            assertArrayEquals(signature, again.sign(message(1)));
            Keys.check(suite, secret.publicKey());
            Signatures.check(suite, signature);
        }
    }

    @Test
    void aDerivedKeyIsThatOfTheSpecification() {
        // EIP-2333's first case: the master key is KeyGen of the seed, with its salt hashed once, as draft 05 has it.
        byte[] seed = HexFormat.of().parseHex("c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e53495531f09a6987599d18264c1e1c92f2cf141630c7a3c4ab7c81b2f001698e7463b04");
        try (SecretKey secret = SecretKey.derive(Suite.ETH2, seed, new byte[0])) {
            byte[] expected = new java.math.BigInteger("6083874454709270928345386274498605044986640685124978867557563392430687146096").toByteArray();
            assertArrayEquals(expected, secret.toBytes());
        }
    }

    @Test
    void nothingSecretIsPrinted() {
        try (SecretKey secret = secret(Suite.ETH2, 1)) {
            assertEquals("SecretKey[eth2]", secret.toString());
        }
    }

    @Test
    void wrongSecretsAreEncodings() {
        throwsCode(Code.ENCODING, () -> SecretKey.fromBytes(Suite.ETH2, new byte[32]));
        throwsCode(Code.ENCODING, () -> SecretKey.fromBytes(Suite.ETH2, new byte[31]));
        byte[] beyond = new byte[32];
        Arrays.fill(beyond, (byte) 0xff);
        throwsCode(Code.ENCODING, () -> SecretKey.fromBytes(Suite.ETH2, beyond));
        throwsCode(Code.ENCODING, () -> SecretKey.derive(Suite.ETH2, new byte[31], new byte[0]));
        throwsNull("suite", () -> SecretKey.generate(null));
        throwsNull("suite", () -> SecretKey.derive(null, new byte[32], new byte[0]));
        throwsNull("material", () -> SecretKey.derive(Suite.ETH2, null, new byte[0]));
        throwsNull("info", () -> SecretKey.derive(Suite.ETH2, new byte[32], null));
        throwsNull("suite", () -> SecretKey.fromBytes(null, new byte[32]));
        throwsNull("bytes", () -> SecretKey.fromBytes(Suite.ETH2, null));
    }

    @Test
    void whatASuiteLacksIsMisuse() {
        try (SecretKey eigen = secret(Suite.EIGENLAYER, 1); SecretKey basic = secret(Suite.BASIC, 1)) {
            throwsCode(Code.MISUSE, () -> eigen.sign(MESSAGE));
            throwsCode(Code.MISUSE, basic::prove);
            throwsNull("message", () -> basic.sign(null));
            List<byte[]> keys = List.of(eigen.publicKey(), eigen.publicKey());
            throwsCode(Code.MISUSE, () -> Keys.aggregatePublicKeys(Suite.EIGENLAYER, keys));
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"BDN", "MIN_SIG_BDN"})
    void aBdnAggregateIsThatOfItsSigners(Suite bdn) {
        List<byte[]> keys = new ArrayList<>();
        List<byte[]> signatures = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            try (SecretKey secret = secret(bdn, i)) {
                keys.add(secret.publicKey());
                signatures.add(secret.sign(MESSAGE));
            }
        }
        byte[] aggregate = Signatures.bdnAggregate(bdn, keys, signatures);
        try (Verifier verifier = Verifier.create(); KeySet set = new KeySet(bdn)) {
            set.push(keys);
            List<Verdict> verdicts = verifier.verify(List.of(
                    Claim.shared(bdn, List.of(keys.get(2), keys.get(0), keys.get(1)), MESSAGE, aggregate),
                    Claim.single(bdn, Keys.aggregatePublicKeys(bdn, keys), MESSAGE, aggregate),
                    Claim.ofMembers(set, BitSet.valueOf(new long[] {7}), MESSAGE, aggregate),
                    Claim.shared(bdn, keys.subList(0, 2), MESSAGE, aggregate)));
            assertEquals(List.of(true, true, true, false), verdicts.stream().map(Verdict::valid).toList());
        }
        throwsCode(Code.MISUSE, () -> Signatures.bdnAggregate(bdn, List.of(), List.of()));
        throwsCode(Code.MISUSE, () -> Signatures.bdnAggregate(bdn, keys, signatures.subList(0, 2)));
        throwsCode(Code.MISUSE, () -> Signatures.bdnAggregate(bdn, List.of(keys.get(0), keys.get(0)), signatures.subList(0, 2)));
        throwsCode(Code.ENCODING, () -> Signatures.bdnAggregate(bdn, List.of(MESSAGE), signatures.subList(0, 1)));
        try (SecretKey other = secret(Suite.ETH2, 1)) {
            List<byte[]> key = List.of(other.publicKey());
            List<byte[]> signature = List.of(other.sign(MESSAGE));
            throwsCode(Code.MISUSE, () -> Signatures.bdnAggregate(Suite.ETH2, key, signature));
        }
        throwsNull("suite", () -> Signatures.bdnAggregate(null, keys, signatures));
        throwsNull("publicKeys", () -> Signatures.bdnAggregate(bdn, null, signatures));
        throwsNull("signatures", () -> Signatures.bdnAggregate(bdn, keys, null));
    }

    /** Under a plain sum, the owner of a rogue key would sign for the others. */
    @ParameterizedTest
    @EnumSource(names = {"BDN", "MIN_SIG_BDN"})
    void aRogueKeyInABdnSuite(Suite bdn) {
        Suite plain = bdn == Suite.BDN ? Suite.PROOF_OF_POSSESSION : Suite.MIN_SIG_PROOF_OF_POSSESSION;
        try (SecretKey victim = secret(bdn, 1); SecretKey own = secret(bdn, 2); KeySet set = new KeySet(bdn);
                Verifier verifier = Verifier.create()) {
            byte[] negated = victim.publicKey();
            negated[0] ^= 0x20;
            byte[] rogue = Keys.aggregatePublicKeys(plain, List.of(own.publicKey(), negated));
            List<byte[]> keys = List.of(victim.publicKey(), rogue);
            assertArrayEquals(own.publicKey(), Keys.aggregatePublicKeys(plain, keys));
            byte[] signature = own.sign(MESSAGE);
            byte[] both = Keys.aggregatePublicKeys(bdn, keys);
            assertFalse(verifier.verifyOne(Claim.single(bdn, both, MESSAGE, signature)).valid());
            throwsCode(Code.MISUSE, () -> Keys.aggregatePublicKeys(bdn, List.of(rogue, rogue)));
            throwsCode(Code.MISUSE, () -> Signatures.aggregate(bdn, List.of(signature)));
            throwsCode(Code.MISUSE, () -> Signatures.subtract(bdn, signature, List.of(signature)));
            set.push(keys);
            throwsCode(Code.MISUSE, () -> set.sum(BitSet.valueOf(new long[] {3})));
        }
    }

    @Test
    void aClosedSecretIsAnIllegalState() {
        SecretKey secret = SecretKey.generate(Suite.ETH2);
        secret.close();
        secret.close();
        assertThrows(IllegalStateException.class, secret::toBytes);
        assertThrows(IllegalStateException.class, secret::publicKey);
        assertThrows(IllegalStateException.class, () -> secret.sign(MESSAGE));
        assertThrows(IllegalStateException.class, secret::prove);
        assertEquals("SecretKey[eth2]", secret.toString());
    }

    @ParameterizedTest
    @EnumSource(names = {"ETH2", "MIN_SIG_PROOF_OF_POSSESSION", "KECCAK_PROOF_OF_POSSESSION"})
    void sumsVerify(Suite suite) {
        try (SecretKey a = secret(suite, 1); SecretKey b = secret(suite, 2); Verifier verifier = Verifier.create()) {
            List<byte[]> keys = List.of(a.publicKey(), b.publicKey());
            byte[] sum = Signatures.aggregate(suite, List.of(a.sign(MESSAGE), b.sign(MESSAGE)));
            assertTrue(verifier.verifyOne(Claim.shared(suite, keys, MESSAGE, sum)).valid());
            byte[] key = Keys.aggregatePublicKeys(suite, keys);
            assertTrue(verifier.verifyOne(Claim.single(suite, key, MESSAGE, sum)).valid());
            assertArrayEquals(a.sign(MESSAGE), Signatures.subtract(suite, sum, List.of(b.sign(MESSAGE))));
            assertArrayEquals(sum, Signatures.subtract(suite, sum, List.of()));
            List<byte[]> messages = List.of(MESSAGE, bytes("other"));
            byte[] both = Signatures.aggregate(suite, List.of(a.sign(MESSAGE), b.sign(bytes("other"))));
            assertTrue(verifier.verifyOne(Claim.each(suite, keys, messages, both)).valid());
            assertFalse(verifier.verifyOne(Claim.each(suite, keys, messages, sum)).valid());
        }
    }

    @Test
    void wrongPointsAreEncodings() {
        try (SecretKey secret = secret(Suite.ETH2, 1)) {
            byte[] key = secret.publicKey();
            byte[] identity = new byte[48];
            identity[0] = (byte) 0xc0;
            throwsCode(Code.ENCODING, () -> Keys.check(Suite.ETH2, identity));
            throwsCode(Code.ENCODING, () -> Keys.check(Suite.ETH2, new byte[] {1, 2, 3}));
            throwsCode(Code.ENCODING, () -> Signatures.check(Suite.ETH2, key));
            throwsCode(Code.ENCODING, () -> Signatures.subtract(Suite.ETH2, key, List.of(secret.sign(MESSAGE))));
            // Lengths that even out in the sum do not go over as two other keys.
            byte[] shorter = Arrays.copyOf(key, 47);
            byte[] longer = Arrays.copyOf(key, 49);
            throwsCode(Code.ENCODING, () -> Keys.aggregatePublicKeys(Suite.ETH2, List.of(shorter, longer)));
        }
        throwsCode(Code.MISUSE, () -> Keys.aggregatePublicKeys(Suite.ETH2, List.of()));
        throwsCode(Code.MISUSE, () -> Signatures.aggregate(Suite.ETH2, List.of()));
    }

    @Test
    void nullsAreNamed() {
        throwsNull("suite", () -> Keys.check(null, new byte[1]));
        throwsNull("key", () -> Keys.check(Suite.ETH2, null));
        throwsNull("suite", () -> Keys.aggregatePublicKeys(null, List.of()));
        throwsNull("keys", () -> Keys.aggregatePublicKeys(Suite.ETH2, null));
        throwsNull("keys[0]", () -> Keys.aggregatePublicKeys(Suite.ETH2, Arrays.asList((byte[]) null)));
        throwsNull("suite", () -> Signatures.check(null, new byte[1]));
        throwsNull("signature", () -> Signatures.check(Suite.ETH2, null));
        throwsNull("suite", () -> Signatures.aggregate(null, List.of()));
        throwsNull("signatures", () -> Signatures.aggregate(Suite.ETH2, null));
        throwsNull("suite", () -> Signatures.subtract(null, new byte[1], List.of()));
        throwsNull("sum", () -> Signatures.subtract(Suite.ETH2, null, List.of()));
        throwsNull("parts", () -> Signatures.subtract(Suite.ETH2, new byte[1], null));
    }
}
