package dev.semel.server.cli;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;

/**
 * All that a command knows of the machine it runs on. The only file of this package that reads the clock, waits, or
 * touches the standard streams; tests pass their own.
 *
 * @param terminal stdout is a terminal, as the launcher found out
 * @param folder the folder that relative paths are meant from
 */
public record Surroundings(
        Map<String, String> environment,
        InputStream in,
        PrintWriter out,
        PrintWriter err,
        boolean terminal,
        InstantSource clock,
        Pause pause,
        Path folder) {

    /** Waits. */
    @FunctionalInterface
    public interface Pause {
        void of(Duration duration) throws InterruptedException;
    }

    public static Surroundings real() {
        return new Surroundings(
                System.getenv(),
                new FileInputStream(FileDescriptor.in),
                utf8(FileDescriptor.out),
                utf8(FileDescriptor.err),
                Boolean.getBoolean("semel.terminal"),
                InstantSource.system(),
                Thread::sleep,
                Path.of(""));
    }

    /** Null-free look at one variable: empty counts as not set, as shells have it. */
    String variable(String name) {
        return environment.getOrDefault(name, "");
    }

    /** JSON is UTF-8 whatever the locale says. */
    private static PrintWriter utf8(FileDescriptor descriptor) {
        return new PrintWriter(new OutputStreamWriter(new FileOutputStream(descriptor), StandardCharsets.UTF_8), true);
    }
}
