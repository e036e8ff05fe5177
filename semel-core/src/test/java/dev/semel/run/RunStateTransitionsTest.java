package dev.semel.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every legal move, written down a second time. */
final class RunStateTransitionsTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        queued    | started cancelled
        started   | running waiting held completed failed cancelled
        running   | waiting in_doubt held completed failed cancelled
        waiting   | running failed cancelled
        in_doubt  | running failed cancelled
        held      | running failed cancelled
        completed | ''
        failed    | ''
        cancelled | ''
        """)
    void a_run_changes_state_only_as_the_table_says(String from, String to) {
        RunState state = of(from);
        String moves = RunStateTransitions.allowedFrom(state).stream()
                .map(RunState::wireName)
                .collect(Collectors.joining(" "));
        assertEquals(to, moves);
        for (RunState next : RunState.values()) {
            boolean legal = Arrays.asList(to.split(" ")).contains(next.wireName());
            assertEquals(legal, RunStateTransitions.isLegal(state, next));
            if (legal) {
                assertEquals(next, RunStateTransitions.checkMove(state, next));
            } else {
                var refused =
                        assertThrows(IllegalStateException.class, () -> RunStateTransitions.checkMove(state, next));
                assertTrue(String.valueOf(refused.getMessage()).contains(from));
            }
        }
    }

    private static RunState of(String word) {
        return RunState.valueOf(word.toUpperCase(java.util.Locale.ROOT));
    }

    @Test
    void no_transition_leaves_a_final_state_and_only_ends_are_final() {
        for (RunState state : RunState.values()) {
            assertEquals(
                    state.hasEnded(), RunStateTransitions.allowedFrom(state).isEmpty(), state.wireName());
        }
        assertEquals(EnumSet.of(RunState.QUEUED, RunState.STARTED), RunStateTransitions.initial());
    }

    @Test
    void the_stored_codes_are_stable() {
        String codes = Arrays.stream(RunState.values())
                .map(state -> state.wireName() + "=" + state.code())
                .collect(Collectors.joining(" "));
        assertEquals(
                "queued=1 started=2 running=3 waiting=4 in_doubt=5 held=6 completed=10 failed=11 cancelled=12", codes);
        for (RunState state : RunState.values()) {
            assertEquals(state, RunState.of(state.code()));
        }
        assertThrows(IllegalArgumentException.class, () -> RunState.of(0));
    }
}
