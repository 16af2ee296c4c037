package io.quorate;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;

/** Finds and loads the native library: a file that a system property names, or the one in the jar. */
final class Library {
    /** The system property that names a file to load in place of the one in the jar. */
    static final String PROPERTY = "quorate.library";

    private static final String FILE = "libquorate_java_binding.so";

    private Library() {}

    /**
     * Loads the library.
     *
     * @throws UnsatisfiedLinkError if there is none for this platform, or if it cannot be loaded; the text says which and what to do
     */
    static void load() {
        String named = System.getProperty(PROPERTY);
        if (named != null) {
            System.load(Path.of(named).toAbsolutePath().toString());
            return;
        }
        String platform = platform(System.getProperty("os.name"), System.getProperty("os.arch"));
        String resource = "/io/quorate/native/" + platform + "/" + FILE;
        try (InputStream library = Library.class.getResourceAsStream(resource)) {
            if (library == null) {
                throw new UnsatisfiedLinkError(noLibrary(platform, resource));
            }
            unpack(library);
        } catch (IOException error) {
            UnsatisfiedLinkError failed = new UnsatisfiedLinkError("the native library of quorate for " + platform
                    + " cannot be written to " + System.getProperty("java.io.tmpdir") + ": " + error
                    + ". Set -Djava.io.tmpdir=FOLDER, or name a library with -D" + PROPERTY + "=FILE");
            failed.initCause(error);
            throw failed;
        }
    }

    /** What the user is told where the jar has no library for a platform. */
    static String noLibrary(String platform, String resource) {
        String advice = platform.startsWith("linux-")
                ? "Build it with bindings/java/build.sh, or name one with -D" + PROPERTY + "=FILE"
                : "It runs on Linux with glibc alone";
        return "quorate has no native library for " + platform + " in its jar (" + resource + "). " + advice;
    }

    /** The platform's name in the jar, such as {@code linux-x86_64}. */
    static String platform(String system, String machine) {
        String name = system.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "");
        String architecture = switch (machine.toLowerCase(Locale.ROOT)) {
            case "amd64", "x86_64", "x86-64" -> "x86_64";
            case "aarch64", "arm64" -> "aarch64";
            default -> machine.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_]+", "");
        };
        return name + "-" + architecture;
    }

    /**
     * Loads a copy in a folder that this user alone can enter, and deletes it: a loaded library needs no file, and so none is left if the
     * program is killed.
     *
     * @throws UnsatisfiedLinkError if it cannot be loaded; the text says what to do
     */
    static void unpack(InputStream library) throws IOException {
        Path folder = Files.createTempDirectory(
                "quorate-", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Path file = folder.resolve(FILE);
        try {
            Files.copy(library, file);
            System.load(file.toString());
        } catch (UnsatisfiedLinkError error) {
            UnsatisfiedLinkError failed = new UnsatisfiedLinkError("the native library of quorate cannot be loaded: " + error.getMessage()
                    + ". It needs Linux with glibc, and a folder whose files may be executed. Set -Djava.io.tmpdir=FOLDER, or name a"
                    + " library with -D" + PROPERTY + "=FILE");
            failed.initCause(error);
            throw failed;
        } finally {
            Files.deleteIfExists(file);
            Files.deleteIfExists(folder);
        }
    }
}
