package dev.semel.trials.support;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts Java processes with the class path of this test run, and sends signals to processes. */
public final class JavaProcess {
    /** Starts quickly and needs little memory. */
    public static final List<String> SMALL =
            List.of("-Xmx192m", "-Xshare:auto", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

    private static final int TAIL = 4_000;

    private JavaProcess() {}

    /** @param jvm options of the JVM, besides those that every process needs */
    public static ProcessBuilder of(List<String> jvm, String main, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvm);
        command.addAll(List.of(
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                main));
        command.addAll(arguments);
        return new ProcessBuilder(command);
    }

    /** A process that a test kills: what it writes to its folder is removed with the folder. */
    public static ProcessBuilder small(Path folder, Class<?> main, String... arguments) {
        List<String> options = new ArrayList<>(SMALL);
        options.add("-Djava.io.tmpdir=" + folder);
        return of(options, main.getName(), List.of(arguments));
    }

    /** Sends a signal such as {@code -STOP}. */
    public static void signal(String name, long pid) {
        try {
            int exit =
                    new ProcessBuilder("kill", name, Long.toString(pid)).start().waitFor();
            if (exit != 0) {
                throw new AssertionError("kill " + name + " ended with " + exit);
            }
        } catch (IOException | InterruptedException e) {
            throw new AssertionError("kill " + name, e);
        }
    }

    /** Waits for the end of a process; returns its exit code. */
    public static int exit(Process process) {
        try {
            return process.waitFor();
        } catch (InterruptedException e) {
            process.destroyForcibly();
            throw new AssertionError("interrupted", e);
        }
    }

    /** The end of a file to which a process writes. */
    public static String tail(Path file) {
        try {
            String all = Files.readString(file, StandardCharsets.UTF_8);
            return all.substring(Math.max(0, all.length() - TAIL));
        } catch (IOException e) {
            return "(its output cannot be read: " + e.getMessage() + ")";
        }
    }
}
