package dev.semel.trials.documents;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * One bash in a folder of its own, kept for all blocks of a document, so that a later block sees the variables, the
 * folder and the background jobs of an earlier one, as the reader's own shell would.
 */
final class BashSession implements AutoCloseable {
    /** What a block printed, and the exit code of the first command in it that failed, or 0. */
    record Outcome(String output, int exit) {}

    private static final String MARK = "--- end of block ---";

    /** Standard input is empty, so that a command that reads it does not eat the lines after it. */
    private static final String RUN = """
        __exit=0; . '%s' </dev/null; printf '\\n%s %%s\\n' "$__exit"
        """;

    private final Path scripts;
    private final Duration limit;
    private final Process bash;
    private final Writer commands;
    private final LinkedBlockingQueue<Optional<String>> lines = new LinkedBlockingQueue<>();
    private int blocks;

    /** @param limit how long one block may take */
    BashSession(Path folder, Map<String, String> environment, Duration limit) throws IOException {
        this.scripts = Files.createTempDirectory("semel-blocks");
        this.limit = limit;
        ProcessBuilder builder = new ProcessBuilder("bash", "--norc", "--noprofile")
                .directory(folder.toFile())
                .redirectErrorStream(true);
        builder.environment().putAll(environment);
        this.bash = builder.start();
        this.commands = bash.outputWriter(StandardCharsets.UTF_8);
        Thread.ofPlatform().daemon().name("shell-output").start(this::collect);
        send("set -E; trap '__last=$?; if [ \"$__exit\" = 0 ]; then __exit=$__last; fi' ERR\n");
    }

    /** Runs the commands. Empty where they did not end within the limit, or ended the shell. */
    Optional<Outcome> run(String block) throws IOException, InterruptedException {
        Path script = scripts.resolve("block-" + ++blocks + ".sh");
        Files.writeString(script, block);
        send(RUN.formatted(script, MARK));
        long deadline = System.nanoTime() + limit.toNanos();
        StringBuilder output = new StringBuilder();
        while (true) {
            Optional<String> line = lines.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (line == null || line.isEmpty()) {
                return Optional.empty();
            }
            if (line.get().startsWith(MARK)) {
                int exit = Integer.parseInt(line.get().substring(MARK.length()).strip());
                return Optional.of(new Outcome(output.toString(), exit));
            }
            output.append(line.get()).append('\n');
        }
    }

    @Override
    public void close() throws IOException {
        // Waited for, because a process that is still writing would fill the folder that is about to be deleted.
        List<ProcessHandle> jobs = bash.descendants().toList();
        bash.destroyForcibly();
        jobs.forEach(ProcessHandle::destroyForcibly);
        bash.onExit().join();
        jobs.forEach(job -> job.onExit().join());
        Folders.delete(scripts);
    }

    private void send(String text) throws IOException {
        commands.write(text);
        commands.flush();
    }

    /** An empty line marks the end: bash is gone and will say nothing more. */
    private void collect() {
        try (BufferedReader reader = bash.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(Optional.of(line));
            }
        } catch (IOException | UncheckedIOException closed) {
            // The shell was closed while it was being read, which ends the output just the same.
        } finally {
            lines.add(Optional.empty());
        }
    }
}
