package dev.semel.trials.documents;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The server that a document starts with the very command it shows; only the port is left to the system. */
final class DocumentedServer implements DocumentServer {
    private static final Pattern ADDRESS = Pattern.compile("http://127\\.0\\.0\\.1:\\d+");
    private static final Pattern PLAYGROUND = Pattern.compile("(?m)^ *Play +(" + ADDRESS.pattern() + ")");
    private static final int SECONDS_TO_START = 120;

    private final ProcessBuilder command;
    private final CompletableFuture<String> greeting = new CompletableFuture<>();
    private @Nullable Process process;

    DocumentedServer(String command, Path folder, Map<String, String> environment) {
        this.command = new ProcessBuilder("bash", "-c", "exec " + command.strip())
                .directory(folder.toFile())
                .redirectErrorStream(true);
        this.command.environment().putAll(environment);
        this.command.environment().put("SEMEL_PORT", "0");
    }

    @Override
    public void start() throws Exception {
        Process started = command.start();
        process = started;
        Thread.ofPlatform().daemon().name("server-output").start(() -> listen(started));
        greeting.get(SECONDS_TO_START, TimeUnit.SECONDS);
    }

    /** Reads to the end, so that the server never waits for a reader of its log. */
    private void listen(Process started) {
        StringBuilder said = new StringBuilder();
        try (BufferedReader reader = started.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                said.append(line).append('\n');
                if (line.equals("ready")) {
                    greeting.complete(said.toString());
                }
            }
        } catch (IOException | UncheckedIOException closed) {
            // It was stopped while it was being read, which ends its output just the same.
        } finally {
            greeting.completeExceptionally(new IllegalStateException("The server ended and had said:\n" + said));
        }
    }

    @Override
    public String greeting() {
        return greeting.join();
    }

    @Override
    public String url() {
        Matcher address = ADDRESS.matcher(greeting());
        if (!address.find()) {
            throw new IllegalStateException("The server did not say where it listens:\n" + greeting());
        }
        return address.group();
    }

    @Override
    public String playground() {
        Matcher address = PLAYGROUND.matcher(greeting());
        return address.find() ? address.group(1) : "";
    }

    @Override
    public void stop() throws Exception {
        Process started = process;
        if (started != null) {
            started.destroy();
            if (!started.waitFor(30, TimeUnit.SECONDS)) {
                started.destroyForcibly().waitFor();
            }
        }
    }
}
