package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process is halted at every crash label, under every protection, on both stores; another one goes on; and a receiver
 * that shares no code with the engine says what came of it. The suite does a part of the cells, another one each time;
 * {@code -Dcrash.matrix=all} does them all.
 */
@Tag("trial")
class CrashMatrixTest {
    private static final int SLICE = 8;
    private static final int TRIES = 3;
    private static final Pattern LABEL = Pattern.compile("// CRASH\\(([a-z-]+)\\)");

    @TempDir
    Path folder;

    @Test
    void every_crash_label_is_visited_by_every_action_that_reaches_it() throws IOException {
        for (MatrixCell.Kind store : MatrixCell.Kind.values()) {
            assertEquals(List.of(), CrashMatrix.gaps(CrashMatrix.of(store), labels()));
        }
    }

    @Test
    void sqlite_keeps_its_guarantees_at_every_crash_label() {
        trial(CrashMatrix.of(MatrixCell.Kind.SQLITE));
    }

    @Test
    void postgres_keeps_its_guarantees_at_every_crash_label() {
        trial(CrashMatrix.of(MatrixCell.Kind.POSTGRES));
    }

    private static Set<String> labels() throws IOException {
        Set<String> labels = new TreeSet<>();
        for (String module : List.of("semel-core", "semel-server")) {
            try (Stream<Path> files = Files.walk(Path.of("..", module, "src", "main", "java"))) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    Matcher label = LABEL.matcher(Files.readString(file, StandardCharsets.UTF_8));
                    while (label.find()) {
                        labels.add(label.group(1));
                    }
                }
            }
        }
        assertFalse(labels.isEmpty());
        return labels;
    }

    /** All of them, those that are named, or every eighth of a shuffled deck. */
    private static List<MatrixCell> chosen(List<MatrixCell> all) {
        String wanted = System.getProperty("crash.matrix", "");
        if (wanted.equals("all")) {
            return all;
        }
        if (!wanted.isEmpty()) {
            return all.stream().filter(cell -> cell.title().contains(wanted)).toList();
        }
        List<MatrixCell> deck = new ArrayList<>(all);
        Collections.shuffle(deck, new Random(Seed.forTrial("crash matrix").value()));
        return deck.subList(0, Math.ceilDiv(deck.size(), SLICE));
    }

    private void trial(List<MatrixCell> all) {
        List<MatrixCell> cells = chosen(all);
        ConcurrentLinkedQueue<MatrixCell> left = new ConcurrentLinkedQueue<>(cells);
        ConcurrentLinkedQueue<CrashTrial.Result> results = new ConcurrentLinkedQueue<>();
        ConcurrentLinkedQueue<Throwable> troubles = new ConcurrentLinkedQueue<>();
        try (Receiver receiver = Receiver.start(folder)) {
            List<Thread> workers = Stream.generate(() -> Thread.ofPlatform().start(() -> {
                        try (CrashTrial trial = new CrashTrial(folder, receiver, CrashTrial.Tampering.NONE)) {
                            for (MatrixCell cell = left.poll(); cell != null; cell = left.poll()) {
                                results.addAll(tried(trial, cell));
                            }
                        } catch (Throwable e) {
                            troubles.add(e);
                        }
                    }))
                    .limit(Integer.getInteger("crash.workers", 2))
                    .toList();
            for (Thread worker : workers) {
                worker.join();
            }
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
        troubles.forEach(trouble -> {
            throw new AssertionError("a cell could not be done", trouble);
        });
        report(List.copyOf(results), all.size());
    }

    /** A process that was slow may have come along another way, so a cell that was not hit is done again. */
    private static List<CrashTrial.Result> tried(CrashTrial trial, MatrixCell cell) {
        List<CrashTrial.Result> results = new ArrayList<>();
        for (int i = 0; i < TRIES; i++) {
            CrashTrial.Result result = trial.run(cell, ProcessLife.Mutation.NONE);
            results.add(result);
            if (result.hit() || !result.violations().isEmpty()) {
                break;
            }
        }
        return results.size() > 1 && results.getLast().hit()
                ? results.subList(results.size() - 1, results.size())
                : results;
    }

    private static void report(List<CrashTrial.Result> results, int all) {
        System.out.println("%-68s %8s %8s %5s".formatted("cell", "requests", "accepted", "runs"));
        results.stream().map(CrashTrial.Result::row).sorted().forEach(System.out::println);
        System.out.println(results.size() + " of " + all + " cells");
        List<String> wrong = new ArrayList<>();
        for (CrashTrial.Result result : results) {
            String title = result.cell().title();
            result.violations().forEach(violation -> wrong.add(title + ": " + violation));
            if (!result.hit()) {
                wrong.add(title + ": the point was never hit");
            }
            wrong.addAll(CrashMatrix.excuses(result.cell().effect(), result.passed()));
        }
        assertEquals("", String.join("\n", wrong));
        assertFalse(results.isEmpty(), "no cell was done");
    }
}
