package io.quorate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LibraryTest {
    @TempDir
    private Path folder;

    @Test
    void platformsHaveOneName() {
        assertEquals("linux-x86_64", Library.platform("Linux", "amd64"));
        assertEquals("linux-aarch64", Library.platform("Linux", "aarch64"));
        assertEquals("macosx-aarch64", Library.platform("Mac OS X", "arm64"));
        assertEquals("windows11-x86_64", Library.platform("Windows 11", "x86_64"));
        assertEquals("linux-s390x", Library.platform("Linux", "../s390x"));
    }

    @Test
    void theCopyIsGoneAfterwards() throws Exception {
        assertTrue(run("-Djava.io.tmpdir=" + folder).contains("loaded"));
        try (var left = Files.list(folder)) {
            assertEquals(List.of(), left.filter(file -> file.getFileName().toString().startsWith("quorate")).toList());
        }
    }

    @Test
    void aPropertyNamesAFile() throws Exception {
        String resource = "/io/quorate/native/" + Library.platform(System.getProperty("os.name"), System.getProperty("os.arch"))
                + "/libquorate_java_binding.so";
        Path copy = folder.resolve("own.so");
        try (var library = Library.class.getResourceAsStream(resource)) {
            Files.copy(library, copy);
        }
        assertTrue(run("-D" + Library.PROPERTY + "=" + copy).contains("loaded"));
        String missing = run("-D" + Library.PROPERTY + "=" + folder.resolve("none.so"));
        assertTrue(missing.contains("UnsatisfiedLinkError") && missing.contains("none.so"), missing);
    }

    @Test
    void aPlatformWithoutALibraryIsNamed() throws Exception {
        String text = run("-Dos.arch=riscv64");
        assertTrue(text.contains("no native library for linux-riscv64"), text);
        assertTrue(text.contains("-Dquorate.library=FILE"), text);
    }

    @Test
    void nobodyIsToldToBuildWhereItCannotBeBuilt() {
        String text = Library.noLibrary("macosx-aarch64", "/none");
        assertTrue(text.contains("no native library for macosx-aarch64") && text.contains("Linux with glibc"), text);
        assertTrue(!text.contains("build.sh"), text);
    }

    @Test
    void aFolderThatCannotBeWrittenIsNamed() throws Exception {
        String text = run("-Djava.io.tmpdir=" + folder.resolve("none"));
        assertTrue(text.contains("cannot be written to " + folder.resolve("none")), text);
    }

    @Test
    void theJarHasBothLicences() {
        for (String licence : List.of("LICENSE-APACHE", "LICENSE-MIT")) {
            assertNotNull(Library.class.getResource("/META-INF/" + licence), licence);
        }
    }

    @Test
    void aFileThatIsNoLibraryIsAnErrorWithAHint() {
        UnsatisfiedLinkError error =
                assertThrows(UnsatisfiedLinkError.class, () -> Library.unpack(new ByteArrayInputStream(new byte[3])));
        String text = error.getMessage();
        assertTrue(text.contains("cannot be loaded") && text.contains("libquorate_java_binding.so"), text);
        assertTrue(text.contains("-Djava.io.tmpdir=FOLDER") && text.contains("-Dquorate.library=FILE"), text);
    }

    /** What a program prints that loads the library. */
    private String run(String option) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), option));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Loads.class.getName()));
        Process program = new ProcessBuilder(command).redirectErrorStream(true).start();
        String printed = new String(program.getInputStream().readAllBytes());
        program.waitFor();
        return printed;
    }

    /** A program that loads the library. */
    static final class Loads {
        public static void main(String[] arguments) {
            System.out.println("loaded " + Verifier.backends());
        }
    }
}
