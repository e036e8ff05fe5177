package dev.semel.server.cli.command;

import java.io.Console;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine.Model.CommandSpec;

/**
 * The process environment of a command: variables, streams, clock and folder. Only this file of the package reads the
 * clock, sleeps or uses the standard streams; tests pass their own.
 *
 * @param isTerminal stdout is a terminal, as the launcher detected
 * @param folder base of relative paths
 */
public record CliCommandEnvironment(
        Map<String, String> variables,
        InputStream in,
        PrintWriter out,
        PrintWriter err,
        boolean isTerminal,
        InstantSource clock,
        Sleeper sleeper,
        Path folder) {
    private static final int LONGEST_HIDDEN = 64 << 10;

    @FunctionalInterface
    public interface Sleeper {
        void sleep(Duration duration) throws InterruptedException;
    }

    /** The root command, which has the environment of all commands below it. */
    public interface Provider {
        CliCommandEnvironment environment();
    }

    static CliCommandEnvironment of(CommandSpec command) {
        return ((Provider) command.root().userObject()).environment();
    }

    public static CliCommandEnvironment system() {
        return new CliCommandEnvironment(
                System.getenv(),
                new FileInputStream(FileDescriptor.in),
                utf8(FileDescriptor.out),
                utf8(FileDescriptor.err),
                Boolean.getBoolean("semel.terminal"),
                InstantSource.system(),
                Thread::sleep,
                Path.of(""));
    }

    /** An environment variable; empty if it is not set. */
    public String variable(String name) {
        return variables.getOrDefault(name, "");
    }

    /** An environment variable, or another text if it is not set. */
    public String variable(String name, String otherwise) {
        String value = variable(name);
        return value.isEmpty() ? otherwise : value;
    }

    /** Sleeps. An interrupt ends the command with the given failure. */
    public void pause(Duration duration, Supplier<CliCommandException> interrupted) {
        try {
            sleeper.sleep(duration);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw interrupted.get();
        }
    }

    /** Typed without echo on a terminal, else all of stdin. Drops one line break at its end, which the shell adds. */
    public String readHidden(String prompt) throws IOException {
        Console console = System.console();
        // Only with the real stdin; tests pass their own.
        if (in instanceof FileInputStream && console != null && console.isTerminal()) {
            char[] typed = console.readPassword("%s", prompt);
            return typed == null ? "" : new String(typed);
        }
        byte[] bytes = in.readNBytes(LONGEST_HIDDEN + 1);
        if (bytes.length > LONGEST_HIDDEN) {
            throw new IOException("stdin holds more than " + LONGEST_HIDDEN / 1_024 + " KiB");
        }
        String text = StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(bytes))
                .toString();
        return text.endsWith("\r\n")
                ? text.substring(0, text.length() - 2)
                : text.endsWith("\n") ? text.substring(0, text.length() - 1) : text;
    }

    /** Writes UTF-8 whatever the locale, because JSON is UTF-8. */
    private static PrintWriter utf8(FileDescriptor descriptor) {
        return new PrintWriter(new OutputStreamWriter(new FileOutputStream(descriptor), StandardCharsets.UTF_8), true);
    }
}
