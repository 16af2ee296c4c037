package io.quorate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HandleTest {
    private final List<Long> freed = new ArrayList<>();
    private final Handle handle = new Handle("thing", 7, freed::add);

    @Test
    void theLastCallFreesWhatIsClosedMeanwhile() {
        handle.run(outer -> {
            handle.run(inner -> handle.close());
            // A call of many windows comes back for the next one.
            assertEquals(List.of(), freed);
            IllegalStateException later = assertThrows(IllegalStateException.class, () -> handle.with(number -> number));
            assertEquals("the thing is closed", later.getMessage());
        });
        assertEquals(List.of(7L), freed);
        handle.close();
        assertEquals(List.of(7L), freed);
    }

    @Test
    void aCallThatThrowsEnds() {
        assertThrows(ArithmeticException.class, () -> handle.run(number -> {
            throw new ArithmeticException();
        }));
        handle.close();
        assertEquals(List.of(7L), freed);
        assertThrows(IllegalStateException.class, () -> handle.run(number -> {}));
    }
}
