package dev.semel.trials.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.StoreKind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The example files with their server halted at every crash label that they come to; another server goes on, and fake
 * providers and a mail server say what came of it. The suite does a few cells, others each time; `semel-trials/crash-files`
 * does them all.
 */
@Tag("trial")
class FlowCrashTest {
    private static final int SLICE = 3;
    private static final int TRIES = 3;

    @TempDir
    Path folder;

    private record Cell(ExampleFlow flow, List<ExampleFlow.HaltPoint> halts) {
        String title() {
            return flow.workflow() + " " + halts;
        }
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void the_example_files_keep_their_guarantees_at_every_crash_label(StoreKind kind) {
        List<String> wrong = new ArrayList<>();
        List<Cell> cells = chosen(kind);
        assertFalse(cells.isEmpty(), "no cell was done");
        try (FlowTrial trial = new FlowTrial(kind, folder, UnaryOperator.identity())) {
            for (Cell cell : cells) {
                FlowTrial.Result result = tried(trial, cell);
                System.out.println(result.row());
                wrong.addAll(complaints(cell, result));
            }
        }
        assertEquals("", String.join("\n", wrong));
    }

    @Test
    void an_unprotected_mail_is_detected_as_sent_twice() {
        UnaryOperator<String> careless = file -> file.replaceFirst(
                " {4}protect: ask +#[^\n]*\n {4}reviewers: role:payments\n",
                "    protect: none\n    because: to see whether the trial detects it\n");
        try (FlowTrial trial = new FlowTrial(StoreKind.SQLITE, folder, careless)) {
            FlowTrial.Result result =
                    trial.run(ExampleFlow.RECEIPT, List.of(new ExampleFlow.HaltPoint("effect-sent", 2)));
            assertTrue(result.hit(), result.row());
            assertEquals(List.of("2 mails"), result.wrong());
        }
    }

    /** All of them, those whose title has these words, or a few of a shuffled deck. */
    private static List<Cell> chosen(StoreKind kind) {
        List<Cell> all = new ArrayList<>();
        for (ExampleFlow flow : ExampleFlow.values()) {
            flow.cells().forEach(halts -> all.add(new Cell(flow, halts)));
        }
        String wanted = System.getProperty("crash.files", "");
        if (wanted.equals("all")) {
            return all;
        }
        if (!wanted.isEmpty()) {
            return all.stream().filter(cell -> cell.title().contains(wanted)).toList();
        }
        long seed = Long.getLong("seed", new Random().nextLong() >>> 16);
        System.out.println("crash of files on " + kind + ": replay with -Dseed=" + seed);
        Collections.shuffle(all, new Random(seed));
        return all.subList(0, SLICE);
    }

    /** A process that was slow may have come along another way, so a cell that was not hit is done again. */
    private static FlowTrial.Result tried(FlowTrial trial, Cell cell) {
        FlowTrial.Result result = trial.run(cell.flow(), cell.halts());
        for (int i = 1; i < TRIES && !result.hit() && result.wrong().isEmpty(); i++) {
            result = trial.run(cell.flow(), cell.halts());
        }
        return result;
    }

    private static List<String> complaints(Cell cell, FlowTrial.Result result) {
        List<String> wrong = new ArrayList<>();
        result.wrong().forEach(one -> wrong.add(result.title() + ": " + one));
        if (!result.hit() && cell.halts().stream().allMatch(ExampleFlow.HaltPoint::certain)) {
            wrong.add(result.title() + ": the point was never hit");
        }
        Map<String, Integer> passed = result.passed();
        if (passed != null) {
            Map<String, Integer> counted = new TreeMap<>(passed);
            counted.remove("batch-committed");
            counted.replace("replay-answered", 1); // as often as somebody asked
            if (!counted.equals(cell.flow().passings())) {
                wrong.add(result.title() + ": it passed " + counted + ", not "
                        + cell.flow().passings());
            }
        }
        return wrong;
    }
}
