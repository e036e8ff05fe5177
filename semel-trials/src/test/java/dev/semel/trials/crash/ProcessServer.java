package dev.semel.trials.crash;

import dev.semel.trials.support.JavaProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The real server in a process of its own, which can be killed, stopped, frozen and started again on its store. */
final class ProcessServer implements AutoCloseable {
    private static final Pattern ADDRESS = Pattern.compile("\\s*API\\s+http://127\\.0\\.0\\.1:(\\d+)/v1.*");
    private static final int LINES_KEPT = 60;
    private static final int SECONDS_TO_START = 180;
    private static final int SECONDS_TO_STOP = 60;

    private final Process process;
    private final CompletableFuture<Integer> ready = new CompletableFuture<>();
    private final ArrayDeque<String> talk = new ArrayDeque<>();

    private ProcessServer(Process process) {
        this.process = process;
        Thread.ofVirtual().start(this::listen);
    }

    /**
     * @param folder for temporary files of the process and, where the store is a file, for the store
     * @param store as `--store` takes it
     * @param jvm options of the JVM, with its heap
     * @param command of the server with its options
     */
    record Start(Path folder, String store, List<String> jvm, Map<String, String> environment, List<String> command) {
        Start(Path folder, String store) {
            this(
                    folder,
                    store,
                    List.of("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
                    Map.of(),
                    List.of("dev", "--demo"));
        }

        static Start sqlite(Path folder) {
            return new Start(folder, "sqlite:" + folder.resolve("semel.db"));
        }

        /** In production, with the heap and the options of the launcher `semel`. */
        Start serve(Map<String, String> variables) {
            List<String> options = List.of("-Xmx512m", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError");
            return new Start(
                    folder, store, options, variables, List.of("serve", "--allow-sql", "--allow-host", "127.0.0.1"));
        }
    }

    /** Returns when it said `ready`. */
    static ProcessServer start(Start how) {
        ProcessServer server = launch(how);
        server.awaitReady();
        return server;
    }

    /** Returns at once; {@link #awaitReady} waits. */
    static ProcessServer launch(Start how) {
        try {
            Path temporary = Files.createDirectories(how.folder().resolve("tmp"));
            List<String> options = new ArrayList<>(how.jvm());
            options.add("-Djava.io.tmpdir=" + temporary);
            List<String> command = new ArrayList<>(how.command());
            command.addAll(List.of("--port", "0", "--data", how.folder().toString(), "--store", how.store()));
            ProcessBuilder builder = JavaProcess.of(options, "dev.semel.server.Main", command)
                    .directory(how.folder().toFile())
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD);
            builder.environment().keySet().removeIf(name -> name.startsWith("SEMEL_"));
            builder.environment().putAll(how.environment());
            return new ProcessServer(builder.start());
        } catch (IOException e) {
            throw new AssertionError("the server's process did not start", e);
        }
    }

    private void listen() {
        Integer port = null;
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                keep(line);
                Matcher address = ADDRESS.matcher(line);
                if (address.matches()) {
                    port = Integer.valueOf(address.group(1));
                } else if (line.equals("ready") && port != null) {
                    ready.complete(port);
                }
            }
        } catch (IOException e) {
            keep("(its talk was cut: " + e.getMessage() + ")");
        }
        ready.completeExceptionally(new IOException("it ended before it was ready"));
    }

    private synchronized void keep(String line) {
        talk.addLast(line);
        if (talk.size() > LINES_KEPT) {
            talk.removeFirst();
        }
    }

    /** The last lines that it said. */
    synchronized String talk() {
        return String.join("\n", talk);
    }

    void awaitReady() {
        try {
            ready.get(SECONDS_TO_START, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            process.destroyForcibly();
            throw new AssertionError("the server did not get ready. It said:\n" + talk(), e);
        } catch (InterruptedException e) {
            process.destroyForcibly();
            throw new AssertionError("interrupted", e);
        }
    }

    int port() {
        return ready.join();
    }

    long pid() {
        return process.pid();
    }

    /** Also of runs that a dead worker left: another takes them once its lease is over. */
    void awaitCompleted(Set<String> runs) {
        try (KeepAliveClient caller = new KeepAliveClient(port())) {
            for (String run : runs) {
                Await.holds(
                        run + " completes",
                        () -> caller.get("/v1/runs/" + run)
                                .json()
                                .get("status")
                                .stringValue()
                                .equals("completed"));
            }
        }
    }

    boolean alive() {
        return process.isAlive();
    }

    /** SIGKILL: no hook, no flush, no goodbye. */
    void kill() {
        process.destroyForcibly();
        await();
    }

    /** SIGTERM: it finishes what it has in hand. */
    void stop() {
        process.destroy();
        await();
    }

    /** SIGSTOP: it neither runs nor knows that it does not. */
    void freeze() {
        JavaProcess.signal("-STOP", pid());
    }

    /** SIGCONT. */
    void thaw() {
        JavaProcess.signal("-CONT", pid());
    }

    private void await() {
        try {
            if (!process.waitFor(SECONDS_TO_STOP, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("the server did not end in " + SECONDS_TO_STOP + " s. It said:\n" + talk());
            }
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    @Override
    public void close() {
        if (process.isAlive()) {
            process.destroyForcibly();
            await();
        }
    }
}
