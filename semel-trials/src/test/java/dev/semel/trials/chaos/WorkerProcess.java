package dev.semel.trials.chaos;

import dev.semel.trials.support.JavaProcess;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A {@link ChaosChild} in a process of its own, seen from outside. */
final class WorkerProcess implements AutoCloseable {
    private static final int SECONDS_TO_STOP = 60;
    private static final Duration TO_STAND_STILL = Duration.ofSeconds(2);

    private final ChaosChild.WorkerConfig life;
    private final Process process;
    private final Path talk;
    private final Writer commands;
    private final CompletableFuture<Integer> port = new CompletableFuture<>();

    private WorkerProcess(ChaosChild.WorkerConfig life, Process process, Path talk) {
        this.life = life;
        this.talk = talk;
        this.process = process;
        this.commands = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        Thread.ofVirtual().start(this::listen);
    }

    static WorkerProcess start(ChaosChild.WorkerConfig life, Path folder) {
        try {
            Process process = JavaProcess.small(folder, ChaosChild.class, life.words())
                    .redirectError(folder.resolve(life.worker() + ".err").toFile())
                    .start();
            return new WorkerProcess(life, process, folder.resolve(life.worker() + ".out"));
        } catch (IOException e) {
            throw new AssertionError("the worker did not start", e);
        }
    }

    private void listen() {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith("source ")) {
                    port.complete(Integer.valueOf(line.substring("source ".length())));
                } else {
                    Files.writeString(talk, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
                }
            }
        } catch (IOException e) {
            port.completeExceptionally(e);
        }
        port.completeExceptionally(new IOException("it ended before it opened its source"));
    }

    String name() {
        return life.worker();
    }

    /** Where its source is; 0 while it has none. */
    int port() {
        return port.isDone() && !port.isCompletedExceptionally() && process.isAlive() ? port.join() : 0;
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

    void freeze() {
        signal("-STOP");
    }

    void thaw() {
        signal("-CONT");
    }

    /** Right behind the fence of its next batch; where none comes in time, wherever it is. */
    void freezeInABatch() {
        tell("freeze in a batch");
        long deadline = System.nanoTime() + TO_STAND_STILL.toNanos();
        while (!standsStill() && System.nanoTime() < deadline && alive()) {
            LockSupport.parkNanos(Duration.ofMillis(10).toNanos());
        }
        freeze();
    }

    /** Its lease cannot be renewed for a while. */
    void lapse(boolean value) {
        tell(value ? "lapse" : "renew");
    }

    private void tell(String command) {
        try {
            commands.write(command + "\n");
            commands.flush();
        } catch (IOException e) {
            System.err.println(name() + " is ending and does not listen: " + e.getMessage());
        }
    }

    private boolean standsStill() {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(process.pid()), "stat"));
            return stat.substring(stat.lastIndexOf(')')).startsWith(") T");
        } catch (IOException e) {
            return false;
        }
    }

    private void signal(String name) {
        try {
            new ProcessBuilder("kill", name, Long.toString(process.pid()))
                    .start()
                    .waitFor();
        } catch (IOException | InterruptedException e) {
            throw new AssertionError("kill " + name, e);
        }
    }

    /** All threads of the worker, into its own file; for a trial that got stuck. */
    void dumpThreads() {
        signal("-QUIT");
    }

    private void await() {
        try {
            if (!process.waitFor(SECONDS_TO_STOP, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError(name() + " did not end in " + SECONDS_TO_STOP + " s");
            }
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    @Override
    public void close() {
        if (alive()) {
            kill();
        }
    }
}
