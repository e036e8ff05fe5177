package dev.semel.server.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
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

/** `semel dev` as a process of its own, that can be killed. */
public final class Child {
    private static final Pattern ADDRESS = Pattern.compile("(http://127\\.0\\.0\\.1:\\d+)/v1");
    private static final int PATIENCE_SECONDS = 60;
    private static final int LINES_KEPT = 20;

    private final Process process;
    private final Consumer<String> ear;
    private final CountDownLatch ready = new CountDownLatch(1);
    private final Deque<String> said = new ArrayDeque<>();
    private @Nullable String address;

    private Child(Process process, Consumer<String> ear) {
        this.process = process;
        this.ear = ear;
        Thread.ofPlatform().daemon().name("child-output").start(this::listen);
    }

    /**
     * Beside whom it runs.
     *
     * @param standIn the port of who answers in the place of everybody; 0 for nobody
     * @param ear hears every line that it says
     */
    record Company(int standIn, Consumer<String> ear) {}

    /** The same Java and the same classes as this process, and nothing of its SEMEL_… variables. */
    static Child launch(Path data, Path workflows, Company company) throws IOException {
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
        if (company.standIn() != 0) {
            builder.environment().put("SEMEL_STAND_IN", Integer.toString(company.standIn()));
        }
        return new Child(builder.start(), company.ear());
    }

    private static String property(String name) {
        return Objects.requireNonNull(System.getProperty(name), name);
    }

    /** Reads to the end, so that the child never waits for a reader of its log. */
    private void listen() {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                hear(line);
            }
        } catch (IOException | UncheckedIOException closed) {
            hear("(its output broke off)");
        } finally {
            ready.countDown();
        }
    }

    private synchronized void hear(String line) {
        ear.accept(line);
        if (said.size() == LINES_KEPT) {
            said.removeFirst();
        }
        said.addLast(line);
        Matcher found = ADDRESS.matcher(line);
        if (address == null && found.find()) {
            address = found.group(1);
        }
        if (line.equals("ready")) {
            ready.countDown();
        }
    }

    /** Returns when it said that it is ready. */
    void awaitReady() throws IOException, InterruptedException {
        boolean spoke = ready.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
        if (!spoke || !process.isAlive()) {
            throw new IOException("the server that was started "
                    + (spoke ? "ended" : "was not ready within " + PATIENCE_SECONDS + " s")
                    + ", and its last words were: "
                    + lastWords());
        }
    }

    private synchronized String lastWords() {
        return String.join(" | ", said);
    }

    public synchronized String address() {
        return Objects.requireNonNull(address, "a server that is ready has said where it listens");
    }

    public long pid() {
        return process.pid();
    }

    /** As a crash does it: no shutdown hook runs and nothing is flushed. Returns when it is gone. */
    public void kill() {
        process.destroyForcibly();
        try {
            if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("process " + pid() + " cannot be killed");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
