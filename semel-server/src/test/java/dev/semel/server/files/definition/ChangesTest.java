package dev.semel.server.files.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is said about two versions: the lines that differ, what that means for keys, and circles of calls. */
final class ChangesTest {
    private static final String STEPS = "steps: [{id: note, set: {ok: true}}]\n";

    private static WorkflowDefinition file(String sections) {
        return WorkflowDefinition.compile("semel: 1\nworkflow: w\n" + sections + "\n" + STEPS);
    }

    @Test
    void a_diff_has_three_lines_around_each_change() {
        String before = "a\nb\nc\nd\ne\nf\ng\nh\n";
        assertEquals(
                "@@ -2,7 +2,7 @@\n b\n c\n d\n-e\n+E\n f\n g\n h\n",
                LineDiff.unified(before, before.replace("e", "E")));
        assertEquals("", LineDiff.unified(before, before));
        assertEquals("@@ -0,0 +1,1 @@\n+x\n", LineDiff.unified("", "x"));
        assertEquals("@@ -1,1 +0,0 @@\n-x\n", LineDiff.unified("x\n", ""));
    }

    @Test
    void a_diff_that_is_applied_gives_the_new_text() {
        Random random = new Random(7);
        for (int round = 0; round < 500; round++) {
            List<String> before = lines(random, random.nextInt(30));
            List<String> after = random.nextBoolean() ? lines(random, random.nextInt(30)) : edited(random, before);
            String diff = LineDiff.unified(String.join("\n", before), String.join("\n", after));
            assertEquals(after, applied(before, diff), diff);
        }
    }

    @Test
    void a_diff_of_two_large_texts_terminates_and_is_right() {
        List<String> before = IntStream.range(0, 5_000).mapToObj(i -> "a " + i).toList();
        List<String> after = IntStream.range(0, 5_000).mapToObj(i -> "b " + i).toList();
        String diff = LineDiff.unified(String.join("\n", before), String.join("\n", after));
        assertEquals(after, applied(before, diff));
    }

    private static List<String> lines(Random random, int count) {
        return IntStream.range(0, count)
                .mapToObj(_ -> "line " + random.nextInt(8))
                .toList();
    }

    private static List<String> edited(Random random, List<String> before) {
        List<String> after = new ArrayList<>(before);
        for (int i = 0; i < 3 && !after.isEmpty(); i++) {
            after.set(random.nextInt(after.size()), "new " + i);
            after.add(random.nextInt(after.size()), "more " + i);
        }
        return after;
    }

    /** A small `patch` that knows nothing of how the diff was made. */
    private static List<String> applied(List<String> before, String diff) {
        List<String> out = new ArrayList<>();
        int at = 0;
        for (String line : diff.lines().toList()) {
            if (line.startsWith("@@ -")) {
                String[] range = line.substring(4, line.indexOf(' ', 4)).split(",");
                int start = Integer.parseInt(range[0]) - (range[1].equals("0") ? 0 : 1);
                out.addAll(before.subList(at, start));
                at = start;
            } else if (line.startsWith("+")) {
                out.add(line.substring(1));
            } else {
                assertEquals(before.get(at++), line.substring(1));
                if (line.startsWith(" ")) {
                    out.add(line.substring(1));
                }
            }
        }
        out.addAll(before.subList(at, before.size()));
        return out;
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        idempotency: {window: 1d}                | idempotency: {window: 36h}              | idempotency.window             | 1d        | 36h      | keeps the window
        idempotency: {scope: workflow}           | idempotency: {scope: workspace}         | idempotency.scope              | workflow  | workspace | keep their scope
        idempotency: {fingerprint: [a]}          | idempotency: {fingerprint: [a, b]}      | idempotency.fingerprint        | a         | a, b     | the version that accepted the key
        idempotency: {fingerprint_ignore: [a]}   | idempotency: {fingerprint_ignore: [b]}  | idempotency.fingerprint_ignore | a         | b        | the version that accepted the key
        idempotency: {on_mismatch: replay}       | idempotency: {on_mismatch: distinct}    | idempotency.on_mismatch        | replay    | distinct | for each payload
        idempotency: {duplicate_payload: allow}  | idempotency: {duplicate_payload: flag}  | idempotency.duplicate_payload  | allow     | flag     | from now on
        idempotency: {on_failed: return_failed}  | idempotency: {on_failed: run_again}     | idempotency.on_failed          | return_failed | run_again | as before
        idempotency: {hold_while_running: true}  | idempotency: {hold_while_running: false} | idempotency.hold_while_running | true     | false    | expire as before
        'trigger: {http: {key: "${ input.a }"}}' | 'trigger: {http: {key: "${ input.b }"}}' | trigger.http.key               | ${ input.a } | ${ input.b } | starts a new run
        trigger: {http: {require_key: false}}    | trigger: {http: {require_key: true}}    | trigger.http.require_key       | false     | true     | rejects triggers without a key
        """)
    void a_change_explains_its_effect_on_keys_in_use(
            String before, String after, String field, String from, String to, String means) {
        List<WorkflowDefinitionChange> changes = WorkflowDefinitionChange.between(file(before), file(after));
        assertEquals(1, changes.size(), changes::toString);
        WorkflowDefinitionChange change = changes.getFirst();
        assertEquals(List.of(field, from, to), List.of(change.field(), change.from(), change.to()));
        assertTrue(change.consequence().contains(means), change::consequence);
        assertEquals(List.of(), WorkflowDefinitionChange.between(file(after), file(after)));
    }

    @Test
    void added_and_removed_effects_are_reported() {
        String tx = "semel: 1\nworkflow: w\nsteps:\n  - {id: note, set: {ok: true}}\n"
                + "  - {id: row, tx: {sql: \"insert into t values (1)\"}}\n";
        List<WorkflowDefinitionChange> come =
                WorkflowDefinitionChange.between(file(""), WorkflowDefinition.compile(tx));
        assertEquals("steps.row", come.getFirst().field());
        assertTrue(come.getFirst().to().contains("tx"), come::toString);
        List<WorkflowDefinitionChange> gone =
                WorkflowDefinitionChange.between(WorkflowDefinition.compile(tx), file(""));
        assertEquals("", gone.getFirst().to());
        assertTrue(gone.getFirst().consequence().contains("Runs in progress"), gone::toString);
    }

    @Test
    void a_workflow_call_cycle_is_rejected_where_it_closes() {
        Map<String, List<String>> calls =
                Map.of("b", List.of("x", "c"), "c", List.of("a"), "x", List.of("y"), "y", List.of("x"));
        WorkflowDefinition file = WorkflowDefinition.compile("""
            semel: 1
            workflow: a
            steps:
              - { id: fine, workflow: x }
              - id: round
                workflow: b
            """);
        SemelException refused = assertThrows(
                SemelException.class,
                () -> WorkflowCallCycleCheck.rejectCycles(file, name -> calls.getOrDefault(name, List.of())));
        assertEquals(ErrorCode.INVALID_DEFINITION, refused.code());
        assertTrue(refused.detail().contains("line 6, column 15"), refused::detail);
        assertTrue(refused.detail().contains("a → b → c → a"), refused::detail);
        assertTrue(refused.detail().contains("^"), refused::detail);
        assertTrue(refused.detail().contains("Nothing was published."), refused::detail);
        WorkflowCallCycleCheck.rejectCycles(file, _ -> List.of());
        assertEquals(List.of("x", "b"), file.calledWorkflows());
    }

    @Test
    void a_workflow_that_calls_itself_is_a_cycle_too() {
        WorkflowDefinition file =
                WorkflowDefinition.compile("semel: 1\nworkflow: a\nsteps:\n  - { id: again, workflow: a }\n");
        assertThrows(SemelException.class, () -> WorkflowCallCycleCheck.rejectCycles(file, _ -> List.of()));
        assertFalse(WorkflowCallCycleCheck.findCycle("a", "a", _ -> List.of()).isEmpty());
    }
}
