package dev.semel.trials.support;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** `semel …` as a process of its own, with everything that it writes to its error stream. */
public final class ServerProcess implements AutoCloseable {
    private static final Pattern ADDRESS = Pattern.compile("http://127\\.0\\.0\\.1:(\\d+)/v1");
    private static final long PATIENCE_SECONDS = 60;

    private final Process process;
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final CountDownLatch ready = new CountDownLatch(1);
    private final Thread reader;

    private ServerProcess(Process process) {
        this.process = process;
        this.reader = Thread.ofPlatform().daemon(true).start(this::read);
    }

    /** Returns when it said `ready`. */
    public static ServerProcess start(Path folder, String store, String... arguments) throws Exception {
        ServerProcess server = launch(folder, store, arguments);
        if (!server.ready.await(PATIENCE_SECONDS, TimeUnit.SECONDS) || !server.process.isAlive()) {
            server.close();
            throw new AssertionError("the server did not get ready: " + server.lines);
        }
        return server;
    }

    /** What one says that ends by itself instead, with its exit code in the last line. */
    public static List<String> refusal(Path folder, String store, String... arguments) throws Exception {
        try (ServerProcess server = launch(folder, store, arguments)) {
            if (!server.process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("the server did not end: " + server.lines);
            }
            server.reader.join();
            List<String> said = new ArrayList<>(server.lines);
            said.add("exit " + server.process.exitValue());
            return said;
        }
    }

    private static ServerProcess launch(Path folder, String store, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(arguments));
        command.addAll(List.of("--port", "0", "--data", folder.toString(), "--store", store));
        ProcessBuilder builder = JavaProcess.of(List.of("-XX:TieredStopAtLevel=1"), "dev.semel.server.Main", command);
        return new ServerProcess(builder.directory(folder.toFile()).start());
    }

    private void read() {
        try (var in = new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                lines.add(line);
                if (line.equals("ready")) {
                    ready.countDown();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            ready.countDown();
        }
    }

    /** How much of a processor it has used so far. */
    public Duration cpu() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    public int port() {
        for (String line : lines) {
            Matcher address = ADDRESS.matcher(line);
            if (address.find()) {
                return Integer.parseInt(address.group(1));
            }
        }
        throw new AssertionError("no address in " + lines);
    }

    public ApiCaller as(String token) {
        return new ApiCaller(port(), token, _ -> {});
    }

    /** What it logged: every line behind its greeting. */
    public List<String> log() {
        List<String> all = List.copyOf(lines);
        return all.subList(all.indexOf("ready") + 1, all.size());
    }

    /** As an operator does it; returns when it is gone and its last line was read. */
    public void stop() throws InterruptedException {
        process.destroy();
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("the server did not stop");
        }
        reader.join();
    }

    /** As {@code kill -9}; returns when the process is gone. */
    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
