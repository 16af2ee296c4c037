package io.quorate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.function.Executable;

/** What several tests need. */
final class Testing {
    private Testing() {}

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** 32 bytes that differ for each number: a message that every suite signs. */
    static byte[] message(int number) {
        return ByteBuffer.allocate(32).putInt(28, number).array();
    }

    static SecretKey secret(Suite suite, int number) {
        return SecretKey.derive(suite, ByteBuffer.allocate(32).putInt(number).array(), new byte[0]);
    }

    /** A true claim of a suite. */
    static Claim claim(Suite suite, int number) {
        return claim(suite, number, number);
    }

    /** The claim that a key signed the first message, with its signature over the second. */
    static Claim claim(Suite suite, int message, int signed) {
        try (SecretKey secret = secret(suite, message % 7)) {
            return Claim.single(suite, secret.publicKey(), message(message), secret.sign(message(signed)));
        }
    }

    static List<Verdict.Code> codes(List<Verdict> verdicts) {
        return verdicts.stream().map(Verdict::code).toList();
    }

    static void throwsCode(QuorateException.Code code, Executable call) {
        assertEquals(code, assertThrows(QuorateException.class, call).code());
    }

    /** A null is an exception that names what was null. */
    static void throwsNull(String name, Executable call) {
        assertEquals(name, assertThrows(NullPointerException.class, call).getMessage());
    }

    static void throwsArgument(String name, Executable call) {
        String text = assertThrows(IllegalArgumentException.class, call).getMessage();
        assertTrue(text.startsWith(name), text);
    }

    /** The claims of a file of examples: a line each, whose fields are texts or lists of texts, without escapes. */
    static List<Claim> examples(String name) throws IOException {
        List<Claim> claims = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(System.getProperty("quorate.examples"), name))) {
            String keys = line.contains("\"public_keys\"") ? "public_keys" : "public_key";
            byte[] message = field(line, "message").get(0);
            byte[] signature = field(line, "signature").get(0);
            Suite suite = Suite.of(texts(line, "suite").get(0));
            claims.add(Claim.shared(suite, field(line, keys), message, signature));
        }
        return claims;
    }

    private static List<byte[]> field(String line, String name) {
        return texts(line, name).stream().map(text -> HexFormat.of().parseHex(text.replaceFirst("^0x", ""))).toList();
    }

    private static List<String> texts(String line, String name) {
        Matcher field = Pattern.compile("\"" + name + "\": *(\\[[^\\]]*\\]|\"[^\"]*\")").matcher(line);
        assertTrue(field.find(), () -> name + " in " + line);
        return Pattern.compile("\"([^\"]*)\"").matcher(field.group(1)).results().map(found -> found.group(1)).toList();
    }
}
