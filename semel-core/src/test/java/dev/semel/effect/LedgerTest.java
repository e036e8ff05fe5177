package dev.semel.effect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.semel.effect.Ledger.Change;
import dev.semel.effect.Ledger.Holder;
import dev.semel.effect.Ledger.OnChange;
import dev.semel.effect.Ledger.Row;
import dev.semel.effect.Ledger.State;
import dev.semel.effect.Ledger.Verdict;
import dev.semel.run.RunId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every answer of the ledger, without a store. */
final class LedgerTest {
    private static final long FIRST = 1_000;
    private static final long ACCEPTED = 2_000;
    private static final long EXPIRES = 3_000;
    private static final Ledger.Id ID = new Ledger.Id(1, "d");
    private static final RunId RUN = new RunId(1, 1);
    private static final RunId OTHER = new RunId(2, 2);
    private static final Ledger.Facts FACTS = new Ledger.Facts("k", "p", "wf", "ask", "create", null, null);

    private static Holder holder(String who) {
        return switch (who) {
            case "same turn" -> new Holder("step", RUN, 1, 1);
            case "next turn" -> new Holder("step", RUN, 1, 2);
            case "earlier turn" -> new Holder("step", RUN, 1, 0);
            case "next claim" -> new Holder("step", RUN, 2, 0);
            case "earlier claim" -> new Holder("step", RUN, 0, 9);
            case "replay" -> new Holder("step", OTHER, 1, 1);
            case "other" -> new Holder("other step", OTHER, 1, 1);
            case "other step" -> new Holder("other step", RUN, 1, 1);
            default -> throw new IllegalArgumentException(who);
        };
    }

    /** A row of the step, in its second generation and third attempt. */
    private static Row row(State state) {
        boolean done = state == State.DONE;
        return new Row(
                ID,
                holder("same turn"),
                state,
                2,
                3,
                FIRST,
                done ? ACCEPTED : 0,
                EXPIRES - ACCEPTED,
                done ? EXPIRES : 0,
                "data",
                done ? "result" : null,
                FACTS);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        # found   | by         | resend | change   | data  | now  | verdict    | generation | attempt | first
        nothing   | same turn  | 0      | SEND     | data  | 2500 | granted    | 1 | 1 | 2500
        RESERVED  | same turn  | 0      | SEND     | data  | 2500 | same       | 2 | 3 | 1000
        RESERVED  | next turn  | 0      | SEND     | data  | 2500 | unsettled  | 2 | 3 | 1000
        RESERVED  | next claim | 1500   | SEND     | data  | 2499 | unsure     | 2 | 4 | 1000
        RESERVED  | next claim | 1500   | SEND     | data  | 2500 | unsettled  | 2 | 3 | 1000
        RESERVED  | replay     | 0      | SEND     | data  | 2500 | taken      | 0 | 0 | 0
        RESERVED  | replay     | 1501   | SEND     | data  | 2500 | unsure     | 2 | 4 | 1000
        UNKNOWN   | replay     | 0      | SEND     | data  | 2500 | unsettled  | 2 | 3 | 1000
        RESERVED  | other      | 9999   | SEND     | data  | 9999 | taken      | 0 | 0 | 0
        UNKNOWN   | same turn  | 0      | SEND     | data  | 2500 | unsettled  | 2 | 3 | 1000
        UNKNOWN   | same turn  | 1501   | SEND     | data  | 2500 | unsure     | 2 | 4 | 1000
        UNKNOWN   | same turn  | 1500   | SEND     | data  | 2500 | unsettled  | 2 | 3 | 1000
        UNKNOWN   | other      | 9999   | SEND     | data  | 9999 | doubted    | 0 | 0 | 0
        FREE      | next turn  | 0      | SEND     | data  | 2500 | granted    | 2 | 4 | 2500
        FREE      | other      | 0      | SEND     | other | 2500 | granted    | 2 | 1 | 2500
        DONE      | next turn  | 0      | SEND     | other | 9999 | reused     | 0 | 0 | 0
        DONE      | replay     | 0      | REVIEW   | other | 2500 | reused     | 0 | 0 | 0
        DONE      | other      | 0      | SEND     | data  | 2999 | suppressed | 0 | 0 | 0
        DONE      | other      | 0      | SEND     | data  | 3000 | granted    | 3 | 1 | 3000
        DONE      | other step | 0      | SEND     | data  | 2999 | suppressed | 0 | 0 | 0
        DONE      | other      | 0      | SEND     | other | 2999 | granted    | 3 | 1 | 2999
        DONE      | other      | 0      | SUPPRESS | other | 2999 | suppressed | 0 | 0 | 0
        DONE      | other      | 0      | REVIEW   | data  | 2999 | suppressed | 0 | 0 | 0
        DONE      | other      | 0      | REVIEW   | other | 2999 | changed    | 0 | 0 | 0
        DONE      | other      | 0      | REVIEW   | other | 3000 | granted    | 3 | 1 | 3000
        """)
    void whoever_wants_to_send_is_answered_by_what_is_on_record(
            String found,
            String by,
            long resend,
            OnChange onChange,
            String data,
            long now,
            String verdict,
            int generation,
            int attempt,
            long first) {
        Row row = found.equals("nothing") ? null : row(State.valueOf(found));
        Holder holder = holder(by);
        Change change = Ledger.apply(row, new Ledger.Reserve(ID, holder, resend, 77, onChange, data, FACTS), now);
        Verdict expected = switch (verdict) {
            case "granted" -> new Verdict.Granted(generation, attempt, first);
            case "unsure", "same" -> new Verdict.Granted(generation, attempt, first, true);
            case "unsettled" -> new Verdict.Unsettled(generation, attempt, first);
            case "taken" -> new Verdict.Taken(RUN, false);
            case "doubted" -> new Verdict.Taken(RUN, true);
            case "reused" -> new Verdict.Reused("result");
            case "suppressed" -> new Verdict.Suppressed("result", RUN, ACCEPTED);
            case "changed" -> new Verdict.Changed(RUN);
            default -> throw new IllegalArgumentException(verdict);
        };
        assertEquals(expected, change.verdict());
        String kept = change.row() == null ? null : change.row().result(); // of the one that was accepted before
        long until = resend == 0 ? 0 : first + resend;
        Row granted = new Row(ID, holder, State.RESERVED, generation, attempt, first, 0, 77, until, data, kept, FACTS);
        boolean sends = verdict.equals("granted") || verdict.equals("unsure");
        assertEquals(sends ? granted : null, change.row(), "only who may send changes the row");
        if (sends) {
            assertEquals(
                    new Change(new Verdict.Granted(generation, attempt, first, attempt > 1), null),
                    Ledger.apply(granted, new Ledger.Reserve(ID, holder, resend, 77, onChange, data, FACTS), now + 1),
                    "applied again it is the same");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        # found   | by            | to      | settles
        RESERVED  | same turn     | DONE    | yes
        RESERVED  | same turn     | UNKNOWN | yes
        RESERVED  | same turn     | FREE    | yes
        RESERVED  | next turn     | DONE    | yes
        RESERVED  | next claim    | DONE    | yes
        RESERVED  | earlier turn  | FREE    | no
        RESERVED  | earlier claim | FREE    | no
        RESERVED  | replay        | DONE    | no
        RESERVED  | other         | DONE    | no
        RESERVED  | other step    | DONE    | no
        UNKNOWN   | same turn     | DONE    | yes
        UNKNOWN   | same turn     | FREE    | yes
        FREE      | same turn     | DONE    | yes
        FREE      | next turn     | UNKNOWN | no
        DONE      | same turn     | FREE    | no
        DONE      | next claim    | UNKNOWN | no
        nothing   | same turn     | DONE    | no
        """)
    void only_the_holder_settles_and_what_is_done_stays_done(String found, String by, State to, String settles) {
        Row row = found.equals("nothing") ? null : row(State.valueOf(found));
        Change change = Ledger.apply(row, new Ledger.Settle(ID, holder(by), to, "new"), 5_000);
        assertEquals(new Verdict.Noted(), change.verdict());
        if (settles.equals("no")) {
            assertNull(change.row());
            return;
        }
        boolean done = to == State.DONE;
        assertEquals(
                new Row(
                        ID,
                        holder(by),
                        to,
                        2,
                        3,
                        FIRST,
                        done ? 5_000 : 0,
                        EXPIRES - ACCEPTED,
                        done ? 5_000 + EXPIRES - ACCEPTED : 0,
                        "data",
                        done ? "new" : null,
                        FACTS),
                change.row());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        # found  | resend              | key   | verdict
        UNKNOWN  | 9999                | k     | unsure
        UNKNOWN  | 9999                | other | renamed
        RESERVED | 9999                | other | renamed
        UNKNOWN  | 0                   | other | renamed
        UNKNOWN  | 9223372036854775807 | other | unsure
        FREE     | 9999                | other | granted
        DONE     | 9999                | other | reused
        """)
    void what_was_sent_under_one_key_is_not_sent_again_under_another(
            State found, long resend, String key, String verdict) {
        var facts = new Ledger.Facts(key, "p", "wf", "provider_key", "create", null, null);
        var ask = new Ledger.Reserve(ID, holder("next claim"), resend, 77, OnChange.SEND, "data", facts, true, false);
        Change change = Ledger.apply(row(found), ask, 2_500);
        Verdict expected = switch (verdict) {
            case "unsure" -> new Verdict.Granted(2, 4, FIRST, true);
            case "granted" -> new Verdict.Granted(2, 4, 2_500);
            case "renamed" -> new Verdict.Unsettled(2, 3, FIRST, true);
            default -> new Verdict.Reused("result");
        };
        assertEquals(expected, change.verdict());
        if (verdict.equals("renamed")) {
            assertNull(change.row());
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        # data     | change   | verdict
        changed    | REVIEW   | granted
        another    | REVIEW   | changed
        another    | SUPPRESS | suppressed
        another    | SEND     | granted
        data       | REVIEW   | suppressed
        """)
    void a_message_that_was_let_through_and_refused_stands_for_itself_only(
            String data, OnChange onChange, String verdict) {
        Row accepted = row(State.DONE);
        Holder other = holder("other");
        var first = new Ledger.Reserve(ID, other, 0, 77, OnChange.SEND, "changed", FACTS);
        Row sent = Ledger.apply(accepted, first, 2_500).row();
        Row refused = Ledger.apply(sent, new Ledger.Settle(ID, other, State.FREE, null), 2_600)
                .row();
        assertNotNull(refused);
        Holder again = new Holder(other.step(), other.run(), 2, 0);
        Verdict said = Ledger.apply(refused, new Ledger.Reserve(ID, again, 0, 77, onChange, data, FACTS), 2_700)
                .verdict();
        Verdict expected = switch (verdict) {
            case "granted" -> new Verdict.Granted(3, 2, 2_700);
            case "changed" -> new Verdict.Changed(RUN);
            default -> new Verdict.Suppressed("result", RUN, ACCEPTED);
        };
        assertEquals(expected, said);
    }

    @Test
    void what_a_run_left_unknown_goes_over_to_the_replay_that_asks_the_provider() {
        Holder replay = holder("replay");
        Ledger.Reserve ask = new Ledger.Reserve(ID, replay, 0, 77, OnChange.SEND, "data", FACTS, true, false);
        Change asked = Ledger.apply(row(State.UNKNOWN), ask, 2_500);
        assertEquals(new Verdict.Unsettled(2, 3, FIRST), asked.verdict());
        Row taken = asked.row();
        assertNotNull(taken);
        assertEquals(State.UNKNOWN, taken.state());
        assertNull(
                Ledger.apply(taken, new Ledger.Settle(ID, holder("next claim"), State.FREE, null), 2_501)
                        .row(),
                "the run that left it has nothing more to say");
        Row free = Ledger.apply(taken, new Ledger.Settle(ID, replay, State.FREE, null), 2_501)
                .row();
        assertNotNull(free);
        assertEquals(State.FREE, free.state());
        assertEquals(
                new Verdict.Taken(RUN, false),
                Ledger.apply(row(State.RESERVED), ask, 2_500).verdict(),
                "what may be on its way right now is not asked for");
    }

    @Test
    void an_effect_without_a_window_holds_nobody_else_back() {
        Row reserved = Ledger.apply(
                        null, new Ledger.Reserve(ID, holder("same turn"), 0, 0, OnChange.SEND, "data", FACTS), 1)
                .row();
        Row done = Ledger.apply(reserved, new Ledger.Settle(ID, holder("same turn"), State.DONE, "r"), 2)
                .row();
        assertNotNull(done);
        assertEquals(0, done.expiresAt());
        Change other =
                Ledger.apply(done, new Ledger.Reserve(ID, holder("other"), 0, 0, OnChange.SEND, "data", FACTS), 3);
        assertEquals(new Verdict.Granted(2, 1, 3), other.verdict());
    }

    @Test
    void a_note_is_written_where_nothing_is_and_changes_nothing_else() {
        var note = new Ledger.Note(ID, holder("same turn"), "r", FACTS);
        Change noted = Ledger.apply(null, note, 9);
        assertEquals(new Row(ID, holder("same turn"), State.DONE, 1, 1, 9, 9, 0, 0, "noted", "r", FACTS), noted.row());
        for (State state : State.values()) {
            assertEquals(new Change(new Verdict.Noted(), null), Ledger.apply(row(state), note, 9));
        }
    }

    @Test
    void the_note_of_a_suppressed_step_knows_whose_deed_it_was() {
        var note = new Ledger.Note(ID, holder("same turn"), "r", FACTS, new Ledger.Instead("d4", "run_x 17"));
        Row noted = java.util.Objects.requireNonNull(Ledger.apply(null, note, 9).row());
        assertEquals("run_x 17", noted.stoodFor());
        Change replayed =
                Ledger.apply(noted, new Ledger.Reserve(ID, holder("same turn"), 0, 0, OnChange.SEND, null, FACTS), 10);
        assertEquals(new Verdict.Reused("r"), replayed.verdict(), "and is reused as it is");
    }

    @Test
    void states_are_stored_under_codes_that_stay() {
        for (State state : State.values()) {
            assertEquals(state, State.of(state.code()));
        }
        assertEquals(1, State.RESERVED.code());
        assertEquals(4, State.FREE.code());
    }

    /** Accepted, then changed by another run and refused: the window of the accepted one goes on. */
    @Test
    void a_changed_message_that_is_refused_leaves_the_accepted_one_in_force() {
        Row accepted = row(State.DONE);
        Ledger.Holder other = holder("other");
        Ledger.Reserve changed = new Ledger.Reserve(ID, other, 0, 77, OnChange.SEND, "other", FACTS);
        Change sent = Ledger.apply(accepted, changed, 2500);
        Row reserved = java.util.Objects.requireNonNull(sent.row());
        Change retried = Ledger.apply(
                Ledger.apply(reserved, new Ledger.Settle(ID, other, State.FREE, null), 2600)
                        .row(),
                new Ledger.Reserve(
                        ID,
                        new Holder(other.step(), other.run(), other.claim(), other.turn() + 1),
                        0,
                        77,
                        OnChange.SEND,
                        "other",
                        FACTS),
                2700);
        assertEquals(3, ((Verdict.Granted) retried.verdict()).generation(), "another attempt keeps its key");
        Row again = java.util.Objects.requireNonNull(retried.row());
        Row refused = Ledger.apply(again, new Ledger.Settle(ID, again.holder(), State.FREE, null), 2800)
                .row();
        Ledger.Reserve same =
                new Ledger.Reserve(ID, new Holder("third", RUN, 1, 1), 0, 77, OnChange.SEND, "data", FACTS);
        assertEquals(
                new Verdict.Suppressed("result", RUN, ACCEPTED),
                Ledger.apply(refused, same, 2999).verdict());
        Change later = Ledger.apply(refused, same, 3000);
        assertEquals(new Verdict.Granted(4, 1, 3000), later.verdict(), "and ends when it would have ended");
    }
}
