package dev.semel.effect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.semel.effect.EffectLedger.ChangePolicy;
import dev.semel.effect.EffectLedger.EffectHolder;
import dev.semel.effect.EffectLedger.EffectRow;
import dev.semel.effect.EffectLedger.EffectState;
import dev.semel.effect.EffectLedger.LedgerChange;
import dev.semel.run.RunId;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which sends go to the history, because no ledger row shows them any more. */
final class EffectHistoryTest {
    private static final EffectLedger.EffectId ID = new EffectLedger.EffectId(1, "d");
    private static final RunId RUN = new RunId(1, 1);
    private static final RunId OTHER = new RunId(2, 2);
    private static final EffectLedger.EffectDetails FACTS =
            new EffectLedger.EffectDetails("k", "p", "wf", "ask", "create", null, null);
    private static final EffectLedger.SentKeyDerivation KEYS = generation -> "sent " + generation;

    private static EffectHolder holder(String who) {
        return switch (who) {
            case "same turn" -> new EffectHolder("step", RUN, 1, 1);
            case "next turn" -> new EffectHolder("step", RUN, 1, 2);
            case "next claim" -> new EffectHolder("step", RUN, 2, 0);
            case "replay" -> new EffectHolder("step", OTHER, 1, 1);
            case "other" -> new EffectHolder("other step", OTHER, 1, 1);
            default -> throw new IllegalArgumentException(who);
        };
    }

    private static EffectRow row(EffectState state, long window) {
        boolean done = state == EffectState.DONE;
        return new EffectRow(
                ID,
                holder("same turn"),
                state,
                2,
                3,
                1_000,
                done ? 2_000 : 0,
                window,
                done && window > 0 ? 2_000 + window : 0,
                "data",
                done ? "result" : null,
                FACTS,
                new EffectLedger.LastSend("sent 2", 1_500, "before"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        # found  | window | by         | resend | redo  | past
        RESERVED | 0      | same turn  | 1501   | false | no
        RESERVED | 0      | next claim | 1501   | false | yes
        RESERVED | 0      | next claim | 0      | false | no
        RESERVED | 0      | replay     | 1501   | false | yes
        UNKNOWN  | 0      | next turn  | 1501   | false | no
        UNKNOWN  | 0      | replay     | 1501   | false | yes
        FREE     | 0      | next turn  | 0      | false | no
        FREE     | 0      | replay     | 0      | false | yes
        FREE     | 77     | other      | 0      | false | yes
        DONE     | 0      | replay     | 0      | true  | yes
        DONE     | 77     | replay     | 0      | true  | no
        """)
    void a_send_that_no_row_shows_any_more_goes_to_the_history(
            EffectState found, long window, String by, long resend, boolean redo, String past) {
        EffectRow row = row(found, window);
        var ask = new EffectLedger.ReserveSend(
                ID, holder(by), resend, window, ChangePolicy.SEND, "data", FACTS, false, redo, KEYS, null);
        LedgerChange change = EffectLedger.apply(row, ask, 2_500);
        assertEquals(past.equals("yes"), change.past() != null);
        EffectRow kept = change.past();
        if (kept != null) {
            assertEquals(row.holder(), kept.holder());
            assertEquals(new EffectLedger.LastSend("sent 2", 1_500, null), kept.lastSend(), "the history has no data");
            assertNull(kept.result());
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        # by        | to      | lost
        same turn   | DONE    | no
        same turn   | UNKNOWN | no
        next claim  | DONE    | yes
        next claim  | UNKNOWN | yes
        next turn   | FREE    | yes
        """)
    void an_attempt_that_another_execution_settles_was_lost(String by, EffectState to, String lost) {
        LedgerChange change = EffectLedger.apply(
                row(EffectState.RESERVED, 77), new EffectLedger.SettleSend(ID, holder(by), to, "new"), 5_000);
        assertEquals(lost.equals("yes"), change.past() != null);
        if (change.past() != null) {
            assertEquals(EffectState.RESERVED, change.past().state());
        }
    }
}
