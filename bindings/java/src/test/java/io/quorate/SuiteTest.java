package io.quorate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class SuiteTest {
    @Test
    void theTableIsThatOfTheLibrary() {
        String table = new String(Native.suites(), StandardCharsets.UTF_8);
        var lines = Arrays.stream(Suite.values()).map(suite -> suite.number() + " " + suite.named() + " " + suite.keyLength() + " " + suite.signatureLength());
        assertEquals(table.lines().sorted().toList(), lines.sorted().toList());
    }

    @Test
    void namesAreRead() {
        assertSame(Suite.EIGENLAYER, Suite.of("eigenlayer"));
        assertThrows(IllegalArgumentException.class, () -> Suite.of("eth3"));
    }
}
