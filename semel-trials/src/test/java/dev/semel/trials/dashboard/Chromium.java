package dev.semel.trials.dashboard;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The browser of this machine. Where there is none it is installed, if this is Debian and we may; else the trial fails
 * and says the one command that helps: a trial that is skipped proves nothing.
 */
final class Chromium {
    private static final String COMMAND = "apt-get update && apt-get install -y chromium";

    private Chromium() {}

    static synchronized Path path() {
        Path known = find();
        if (known == null && mayInstall()) {
            known = install();
        }
        if (known == null) {
            throw new IllegalStateException("There is no Chromium on this machine, and the pages are tried in one."
                    + " On Debian or Ubuntu, as root: " + COMMAND
                    + ". Elsewhere, install it and set SEMEL_CHROMIUM to its path.");
        }
        return known;
    }

    /** One of the processes that try pages at once; the others find what it installed. */
    private static @Nullable Path install() {
        Path file = Path.of(System.getProperty("java.io.tmpdir"), "semel-chromium.lock");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            if (find() == null && lock.isValid()) {
                run("apt-get", "update", "-qq");
                run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium");
            }
            return find();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static @Nullable Path find() {
        String reported = System.getenv("SEMEL_CHROMIUM");
        Stream<Path> places = reported != null
                ? Stream.of(Path.of(reported))
                : Stream.of(String.valueOf(System.getenv("PATH")).split(":"))
                        .flatMap(folder -> Stream.of("chromium", "chromium-browser", "google-chrome")
                                .map(name -> Path.of(folder, name)));
        return places.filter(Files::isExecutable).findFirst().orElse(null);
    }

    private static boolean mayInstall() {
        return "root".equals(System.getProperty("user.name"))
                && Files.exists(Path.of("/etc/debian_version"))
                && Files.isExecutable(Path.of("/usr/bin/apt-get"));
    }

    private static void run(String... command) {
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            int code = process.waitFor();
            if (code != 0) {
                throw new IllegalStateException(
                        String.join(" ", List.of(command)) + " ended with " + code + ". By hand: " + COMMAND);
            }
        } catch (IOException e) {
            throw new IllegalStateException("apt-get could not be started. By hand: " + COMMAND, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }
}
