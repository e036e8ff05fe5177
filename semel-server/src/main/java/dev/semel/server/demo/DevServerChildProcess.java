package dev.semel.server.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A `semel dev` server that runs as a child process and can be killed. */
public final class DevServerChildProcess {
    private static final Pattern ADDRESS = Pattern.compile("(http://127\\.0\\.0\\.1:\\d+)/v1");
    private static final int TIMEOUT_SECONDS = 60;
    private static final int MAX_OUTPUT_LINES = 20;

    private final Process process;
    private final Consumer<String> ear;
    private final CountDownLatch ready = new CountDownLatch(1);
    private final Deque<String> lastLines = new ArrayDeque<>();
    private @Nullable String address;

    private DevServerChildProcess(Process process, Consumer<String> ear) {
        this.process = process;
        this.ear = ear;
        Thread.ofPlatform().daemon().name("child-output").start(this::listen);
    }

    /**
     * @param simulatorPort the port of the provider simulator that receives all outgoing calls; 0 for none
     * @param outputListener receives every line of output
     */
    record ProcessOptions(int simulatorPort, Consumer<String> outputListener) {}

    /** Starts the same Java with the same classes as this process, without its SEMEL_… variables. */
    static DevServerChildProcess launch(Path data, Path workflows, ProcessOptions options) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(property("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                property("java.class.path"),
                "dev.semel.server.Main",
                "dev",
                "--port",
                "0",
                "--data",
                data.toString(),
                "--workflows",
                workflows.toString()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().keySet().removeIf(name -> name.startsWith("SEMEL_"));
        if (options.simulatorPort() != 0) {
            builder.environment().put("SEMEL_STAND_IN", Integer.toString(options.simulatorPort()));
        }
        return new DevServerChildProcess(builder.start(), options.outputListener());
    }

    private static String property(String name) {
        return Objects.requireNonNull(System.getProperty(name), name);
    }

    /** Reads all output, so that the child never blocks on a full pipe. */
    private void listen() {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                recordLine(line);
            }
        } catch (IOException | UncheckedIOException closed) {
            recordLine("(the output ended early)");
        } finally {
            ready.countDown();
        }
    }

    private synchronized void recordLine(String line) {
        ear.accept(line);
        if (lastLines.size() == MAX_OUTPUT_LINES) {
            lastLines.removeFirst();
        }
        lastLines.addLast(line);
        Matcher found = ADDRESS.matcher(line);
        if (address == null && found.find()) {
            address = found.group(1);
        }
        if (line.equals("ready")) {
            ready.countDown();
        }
    }

    /** Waits until the server prints that it is ready. */
    void awaitReady() throws IOException, InterruptedException {
        boolean responded = ready.await(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        if (!responded || !process.isAlive()) {
            throw new IOException("the demo server "
                    + (responded ? "exited" : "was not ready within " + TIMEOUT_SECONDS + " s")
                    + ". Its last output: "
                    + lastOutput());
        }
    }

    private synchronized String lastOutput() {
        return String.join(" | ", lastLines);
    }

    public synchronized String address() {
        return Objects.requireNonNull(address, "a ready server has printed its address");
    }

    /** Moves the clock of a server with stubs. The clock moves soon after, not at once. */
    public void advanceClock(Duration by) {
        try {
            Writer commands = process.outputWriter(StandardCharsets.UTF_8);
            commands.write("advance " + by.toSeconds() + "\n");
            commands.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public long pid() {
        return process.pid();
    }

    /** Kills the process like a crash: no shutdown hook runs and nothing is flushed. Waits for its end. */
    public void kill() {
        process.destroyForcibly();
        try {
            if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("process " + pid() + " cannot be killed");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
