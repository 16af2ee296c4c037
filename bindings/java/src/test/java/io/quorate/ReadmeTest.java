package io.quorate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The example of the README is the method {@link #example}, line by line. */
class ReadmeTest {
    private static String example() {
        byte[] message = "block 7".getBytes();
        try (SecretKey alice = SecretKey.generate(Suite.ETH2);
                SecretKey bob = SecretKey.generate(Suite.ETH2);
                Verifier verifier = Verifier.builder().threads(2).build()) {
            List<byte[]> keys = List.of(alice.publicKey(), bob.publicKey());
            byte[] both = Signatures.aggregate(Suite.ETH2, List.of(alice.sign(message), bob.sign(message)));
            List<Verdict> verdicts = verifier.verify(List.of(
                    Claim.shared(Suite.ETH2, keys, message, both),
                    Claim.single(Suite.ETH2, bob.publicKey(), message, alice.sign(message))));
            return verdicts.get(0) + "; " + verdicts.get(1);
            // valid; invalid: the signature does not match the keys and messages
        }
    }

    @Test
    void theExampleDoesWhatItSays() throws Exception {
        assertEquals("valid; invalid: the signature does not match the keys and messages", example());
        List<String> readme = Files.readAllLines(Path.of("README.md"));
        List<String> shown = readme.subList(readme.indexOf("```java") + 1, readme.size());
        shown = shown.subList(0, shown.indexOf("```"));
        String source = Files.readString(Path.of("src/test/java/io/quorate/ReadmeTest.java"));
        assertTrue(source.contains(String.join("\n", shown).indent(8)), "the README's example is not that of the test");
        assertTrue(readme.size() <= 90);
    }
}
