package dev.semel.effect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.effect.EffectLedger.ChangePolicy;
import dev.semel.effect.EffectLedger.EffectHolder;
import dev.semel.effect.EffectLedger.EffectRow;
import dev.semel.effect.EffectLedger.EffectState;
import dev.semel.effect.EffectLedger.LedgerChange;
import dev.semel.effect.EffectLedger.LedgerDecision;
import dev.semel.run.RunId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every answer of the ledger, without a store. */
final class EffectLedgerTest {
    private static final long FIRST = 1_000;
    private static final long ACCEPTED = 2_000;
    private static final long EXPIRES = 3_000;
    private static final EffectLedger.EffectId ID = new EffectLedger.EffectId(1, "d");
    private static final RunId RUN = new RunId(1, 1);
    private static final RunId OTHER = new RunId(2, 2);
    private static final EffectLedger.SentKeyDerivation KEYS = generation -> "sent " + generation;
    private static final EffectLedger.LastSend SENT = new EffectLedger.LastSend("sent 2", 1_500, "before");
    private static final EffectLedger.EffectDetails FACTS =
            new EffectLedger.EffectDetails("k", "p", "wf", "ask", "create", null, null);

    private static EffectHolder holder(String who) {
        return switch (who) {
            case "same turn" -> new EffectHolder("step", RUN, 1, 1);
            case "next turn" -> new EffectHolder("step", RUN, 1, 2);
            case "earlier turn" -> new EffectHolder("step", RUN, 1, 0);
            case "next claim" -> new EffectHolder("step", RUN, 2, 0);
            case "earlier claim" -> new EffectHolder("step", RUN, 0, 9);
            case "replay" -> new EffectHolder("step", OTHER, 1, 1);
            case "other" -> new EffectHolder("other step", OTHER, 1, 1);
            case "other step" -> new EffectHolder("other step", RUN, 1, 1);
            default -> throw new IllegalArgumentException(who);
        };
    }

    /** A row of the step, in its second generation and third attempt. */
    private static EffectRow row(EffectState state) {
        boolean done = state == EffectState.DONE;
        return new EffectRow(
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
                FACTS,
                SENT);
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
        UNCONFIRMED | next turn | 0     | SEND     | data  | 2500 | unsure     | 2 | 4 | 2500
        UNCONFIRMED | other     | 0     | SEND     | other | 2500 | granted    | 2 | 1 | 2500
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
    void a_send_request_is_decided_by_the_recorded_state(
            String found,
            String by,
            long resend,
            ChangePolicy onChange,
            String data,
            long now,
            String verdict,
            int generation,
            int attempt,
            long first) {
        EffectRow row = found.equals("nothing") ? null : row(EffectState.valueOf(found));
        EffectHolder holder = holder(by);
        LedgerChange change = EffectLedger.apply(
                row,
                new EffectLedger.ReserveSend(
                        ID, holder, resend, 77, onChange, data, FACTS, false, false, KEYS, "content"),
                now);
        LedgerDecision expected = switch (verdict) {
            case "granted" -> new LedgerDecision.SendGranted(generation, attempt, first, false);
            case "unsure", "same" -> new LedgerDecision.SendGranted(generation, attempt, first, true);
            case "unsettled" -> new LedgerDecision.OutcomeUnknown(generation, attempt, first, false);
            case "taken" -> new LedgerDecision.HeldByOtherRun(RUN, false);
            case "doubted" -> new LedgerDecision.HeldByOtherRun(RUN, true);
            case "reused" -> new LedgerDecision.Reused("result");
            case "suppressed" -> new LedgerDecision.Suppressed("result", RUN, ACCEPTED);
            case "changed" -> new LedgerDecision.DataChanged(RUN, ACCEPTED, "before");
            default -> throw new IllegalArgumentException(verdict);
        };
        assertEquals(expected, change.decision());
        String kept = change.row() == null ? null : change.row().result(); // of the one that was accepted before
        long until = resend == 0 ? 0 : first + resend;
        EffectRow granted = new EffectRow(
                ID,
                holder,
                EffectState.RESERVED,
                generation,
                attempt,
                first,
                0,
                77,
                until,
                data,
                kept,
                FACTS,
                new EffectLedger.LastSend("sent " + generation, now, "content"));
        boolean sends = verdict.equals("granted") || verdict.equals("unsure");
        assertEquals(sends ? granted : null, change.row(), "only who may send changes the row");
        if (sends) {
            assertEquals(
                    new LedgerChange(new LedgerDecision.SendGranted(generation, attempt, first, attempt > 1), null),
                    EffectLedger.apply(
                            granted,
                            new EffectLedger.ReserveSend(
                                    ID, holder, resend, 77, onChange, data, FACTS, false, false, KEYS, "content"),
                            now + 1),
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
    void only_the_holder_settles_and_a_done_effect_stays_done(String found, String by, EffectState to, String settles) {
        EffectRow row = found.equals("nothing") ? null : row(EffectState.valueOf(found));
        LedgerChange change = EffectLedger.apply(row, new EffectLedger.SettleSend(ID, holder(by), to, "new"), 5_000);
        assertEquals(new LedgerDecision.Recorded(), change.decision());
        if (settles.equals("no")) {
            assertNull(change.row());
            return;
        }
        boolean done = to == EffectState.DONE;
        assertEquals(
                new EffectRow(
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
                        FACTS,
                        SENT),
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
    void an_effect_sent_under_one_key_is_not_sent_again_under_another(
            EffectState found, long resend, String key, String verdict) {
        var facts = new EffectLedger.EffectDetails(key, "p", "wf", "provider_key", "create", null, null);
        var ask = new EffectLedger.ReserveSend(
                ID, holder("next claim"), resend, 77, ChangePolicy.SEND, "data", facts, true, false, KEYS, "content");
        LedgerChange change = EffectLedger.apply(row(found), ask, 2_500);
        LedgerDecision expected = switch (verdict) {
            case "unsure" -> new LedgerDecision.SendGranted(2, 4, FIRST, true);
            case "granted" -> new LedgerDecision.SendGranted(2, 4, 2_500, false);
            case "renamed" -> new LedgerDecision.OutcomeUnknown(2, 3, FIRST, true);
            default -> new LedgerDecision.Reused("result");
        };
        assertEquals(expected, change.decision());
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
    void a_rejected_changed_message_affects_only_itself(String data, ChangePolicy onChange, String verdict) {
        EffectRow accepted = row(EffectState.DONE);
        EffectHolder other = holder("other");
        var first = new EffectLedger.ReserveSend(
                ID, other, 0, 77, ChangePolicy.SEND, "changed", FACTS, false, false, KEYS, "content");
        EffectRow sent = EffectLedger.apply(accepted, first, 2_500).row();
        EffectRow refused = EffectLedger.apply(
                        sent, new EffectLedger.SettleSend(ID, other, EffectState.FREE, null), 2_600)
                .row();
        assertNotNull(refused);
        EffectHolder again = new EffectHolder(other.step(), other.run(), 2, 0);
        LedgerDecision decision = EffectLedger.apply(
                        refused,
                        new EffectLedger.ReserveSend(
                                ID, again, 0, 77, onChange, data, FACTS, false, false, KEYS, "content"),
                        2_700)
                .decision();
        LedgerDecision expected = switch (verdict) {
            case "granted" -> new LedgerDecision.SendGranted(3, 2, 2_700, false);
            case "changed" -> new LedgerDecision.DataChanged(RUN, ACCEPTED, "before");
            default -> new LedgerDecision.Suppressed("result", RUN, ACCEPTED);
        };
        assertEquals(expected, decision);
    }

    @Test
    void an_unknown_outcome_passes_to_the_replay_that_queries_the_provider() {
        EffectHolder replay = holder("replay");
        EffectLedger.ReserveSend ask = new EffectLedger.ReserveSend(
                ID, replay, 0, 77, ChangePolicy.SEND, "data", FACTS, true, false, KEYS, "content");
        LedgerChange ledgerChange = EffectLedger.apply(row(EffectState.UNKNOWN), ask, 2_500);
        assertEquals(new LedgerDecision.OutcomeUnknown(2, 3, FIRST, false), ledgerChange.decision());
        EffectRow effectRow = ledgerChange.row();
        assertNotNull(effectRow);
        assertEquals(EffectState.UNKNOWN, effectRow.state());
        assertNull(
                EffectLedger.apply(
                                effectRow,
                                new EffectLedger.SettleSend(ID, holder("next claim"), EffectState.FREE, null),
                                2_501)
                        .row(),
                "the run that left it has nothing more to say");
        EffectRow free = EffectLedger.apply(
                        effectRow, new EffectLedger.SettleSend(ID, replay, EffectState.FREE, null), 2_501)
                .row();
        assertNotNull(free);
        assertEquals(EffectState.FREE, free.state());
        assertEquals(
                new LedgerDecision.HeldByOtherRun(RUN, false),
                EffectLedger.apply(row(EffectState.RESERVED), ask, 2_500).decision(),
                "what may be on its way right now is not asked for");
    }

    @Test
    void an_effect_without_a_window_blocks_no_other_run() {
        EffectRow reserved = EffectLedger.apply(
                        null,
                        new EffectLedger.ReserveSend(
                                ID,
                                holder("same turn"),
                                0,
                                0,
                                ChangePolicy.SEND,
                                "data",
                                FACTS,
                                false,
                                false,
                                KEYS,
                                "content"),
                        1)
                .row();
        EffectRow done = EffectLedger.apply(
                        reserved, new EffectLedger.SettleSend(ID, holder("same turn"), EffectState.DONE, "r"), 2)
                .row();
        assertNotNull(done);
        assertEquals(0, done.expiresAt());
        LedgerChange other = EffectLedger.apply(
                done,
                new EffectLedger.ReserveSend(
                        ID, holder("other"), 0, 0, ChangePolicy.SEND, "data", FACTS, false, false, KEYS, "content"),
                3);
        assertEquals(new LedgerDecision.SendGranted(2, 1, 3, false), other.decision());
    }

    @Test
    void only_an_effect_with_a_window_has_a_week_in_its_generation() {
        long now = 1_800_000_000_000_000L;
        for (long window : new long[] {0, 77}) {
            var ask = new EffectLedger.ReserveSend(
                    ID,
                    holder("same turn"),
                    0,
                    window,
                    ChangePolicy.SEND,
                    "data",
                    FACTS,
                    false,
                    false,
                    KEYS,
                    "content");
            LedgerDecision first = EffectLedger.apply(null, ask, now).decision();
            int generation = window == 0 ? 1 : EffectGeneration.first(now);
            assertEquals(new LedgerDecision.SendGranted(generation, 1, now, false), first);
        }
    }

    @Test
    void a_rejected_change_expires_with_the_accepted_message() {
        EffectHolder other = holder("other");
        var changed = new EffectLedger.ReserveSend(
                ID, other, 0, 77, ChangePolicy.SEND, "new", FACTS, false, false, KEYS, "content");
        EffectRow sent =
                EffectLedger.apply(row(EffectState.DONE), changed, 2_500).row();
        EffectRow rejected = EffectLedger.apply(
                        sent, new EffectLedger.SettleSend(ID, other, EffectState.FREE, null), 2_600)
                .row();
        assertNotNull(rejected);
        assertEquals(EXPIRES, rejected.expiresAt());
    }

    @Test
    void a_note_is_written_only_into_an_empty_row() {
        var note = new EffectLedger.NoteStepResult(
                ID, holder("same turn"), "r", FACTS, new EffectLedger.NotedSend("sent 7", 7, 4));
        LedgerChange noted = EffectLedger.apply(null, note, 9);
        assertEquals(
                new EffectRow(
                        ID,
                        holder("same turn"),
                        EffectState.DONE,
                        7,
                        4,
                        9,
                        9,
                        0,
                        0,
                        "noted",
                        "r",
                        FACTS,
                        new EffectLedger.LastSend("sent 7", 0, null)),
                noted.row());
        for (EffectState state : EffectState.values()) {
            assertEquals(
                    new LedgerChange(new LedgerDecision.Recorded(), null), EffectLedger.apply(row(state), note, 9));
        }
    }

    @Test
    void the_note_of_a_suppressed_step_names_the_suppressing_effect() {
        var note = new EffectLedger.NoteStepResult(
                ID, holder("same turn"), "r", FACTS, new EffectLedger.SuppressingEffect("d4", "run_x 17"), null);
        EffectRow noted = java.util.Objects.requireNonNull(
                EffectLedger.apply(null, note, 9).row());
        assertEquals("run_x 17", noted.suppressedBy());
        LedgerChange replayed = EffectLedger.apply(
                noted,
                new EffectLedger.ReserveSend(
                        ID, holder("same turn"), 0, 0, ChangePolicy.SEND, null, FACTS, false, false, KEYS, "content"),
                10);
        assertEquals(new LedgerDecision.Reused("r"), replayed.decision(), "and is reused as it is");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        # found  | by         | window | now              | verdict    | generation
        DONE     | replay     | 0      | 2500             | granted    | 3
        DONE     | replay     | 77     | 1800000000000000 | granted    | first of the week
        DONE     | next claim | 0      | 2500             | reused     | 0
        DONE     | other      | 77     | 2999             | suppressed | 0
        UNKNOWN  | replay     | 0      | 2500             | unsettled  | 2
        """)
    void an_effect_is_sent_anew_only_by_another_run_of_the_lineage(
            EffectState found, String by, long window, long now, String verdict, String generation) {
        var ask = new EffectLedger.ReserveSend(
                ID, holder(by), 0, window, ChangePolicy.SEND, "data", FACTS, false, true, KEYS, null);
        int number = generation.startsWith("first") ? EffectGeneration.first(now) : Integer.parseInt(generation);
        LedgerDecision expected = switch (verdict) {
            case "granted" -> new LedgerDecision.SendGranted(number, 1, now, false);
            case "unsettled" -> new LedgerDecision.OutcomeUnknown(number, 3, FIRST, false);
            case "suppressed" -> new LedgerDecision.Suppressed("result", RUN, ACCEPTED);
            default -> new LedgerDecision.Reused("result");
        };
        assertEquals(expected, EffectLedger.apply(row(found), ask, now).decision());
    }

    /** Stored rows are found by this digest after an upgrade. */
    @Test
    void the_digest_of_an_effect_never_changes() throws NoSuchAlgorithmException {
        byte[] text = "once\nkey".getBytes(StandardCharsets.UTF_8);
        String digest =
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text));
        assertEquals(digest, EffectLedger.digest("once", "key"));
        assertEquals(new EffectLedger.EffectId(3, digest), EffectLedger.EffectId.once(3, "key"));
        assertEquals(
                new EffectLedger.EffectId(3, EffectLedger.digest("step", "key")), EffectLedger.EffectId.step(3, "key"));
        assertNotEquals(EffectLedger.digest("step", "key"), digest);
    }

    /** Two batches lock rows in this order, so they cannot deadlock. */
    @Test
    void rows_are_sorted_by_workspace_and_digest() {
        List<EffectLedger.EffectId> sorted = List.of(
                new EffectLedger.EffectId(1, "b"),
                new EffectLedger.EffectId(1, "c"),
                new EffectLedger.EffectId(2, "a"),
                new EffectLedger.EffectId(10, "a"));
        assertEquals(sorted, sorted.reversed().stream().sorted().toList());
    }

    @Test
    void only_the_note_of_a_step_is_a_step_note() {
        var note = new EffectLedger.NoteStepResult(ID, holder("same turn"), "r", FACTS, null);
        EffectRow noted = java.util.Objects.requireNonNull(
                EffectLedger.apply(null, note, 9).row());
        assertTrue(noted.isStepNote());
        assertNull(noted.suppressedBy());
        assertFalse(row(EffectState.DONE).isStepNote());
        assertNull(row(EffectState.DONE).suppressedBy());
    }

    @Test
    void the_names_of_protections_are_stable() {
        List<EffectDuplicateProtection> all = List.of(
                new EffectDuplicateProtection.Repeatable("a read"),
                new EffectDuplicateProtection.ProviderKey(Duration.ofHours(24)),
                new EffectDuplicateProtection.Lookup(),
                new EffectDuplicateProtection.AtMostOnce(),
                new EffectDuplicateProtection.Ask("ops"),
                new EffectDuplicateProtection.None("harmless"));
        assertEquals(
                List.of("repeatable", "provider_key", "lookup", "at_most_once", "ask", "none"),
                all.stream().map(EffectDuplicateProtection::word).toList());
    }

    @Test
    void states_are_stored_under_stable_codes() {
        for (EffectState state : EffectState.values()) {
            assertEquals(state, EffectState.of(state.code()));
        }
        assertEquals(1, EffectState.RESERVED.code());
        assertEquals(4, EffectState.FREE.code());
    }

    /** Accepted, then changed by another run and refused: the window of the accepted one goes on. */
    @Test
    void a_rejected_changed_message_leaves_the_accepted_one_in_force() {
        EffectRow accepted = row(EffectState.DONE);
        EffectLedger.EffectHolder other = holder("other");
        EffectLedger.ReserveSend changed = new EffectLedger.ReserveSend(
                ID, other, 0, 77, ChangePolicy.SEND, "other", FACTS, false, false, KEYS, "content");
        LedgerChange sent = EffectLedger.apply(accepted, changed, 2500);
        EffectRow reserved = java.util.Objects.requireNonNull(sent.row());
        LedgerChange retried = EffectLedger.apply(
                EffectLedger.apply(reserved, new EffectLedger.SettleSend(ID, other, EffectState.FREE, null), 2600)
                        .row(),
                new EffectLedger.ReserveSend(
                        ID,
                        new EffectHolder(other.step(), other.run(), other.claim(), other.turn() + 1),
                        0,
                        77,
                        ChangePolicy.SEND,
                        "other",
                        FACTS,
                        false,
                        false,
                        KEYS,
                        "content"),
                2700);
        assertEquals(
                3, ((LedgerDecision.SendGranted) retried.decision()).generation(), "another attempt keeps its key");
        EffectRow again = java.util.Objects.requireNonNull(retried.row());
        EffectRow refused = EffectLedger.apply(
                        again, new EffectLedger.SettleSend(ID, again.holder(), EffectState.FREE, null), 2800)
                .row();
        EffectLedger.ReserveSend same = new EffectLedger.ReserveSend(
                ID,
                new EffectHolder("third", RUN, 1, 1),
                0,
                77,
                ChangePolicy.SEND,
                "data",
                FACTS,
                false,
                false,
                KEYS,
                "content");
        assertEquals(
                new LedgerDecision.Suppressed("result", RUN, ACCEPTED),
                EffectLedger.apply(refused, same, 2999).decision());
        LedgerChange later = EffectLedger.apply(refused, same, 3000);
        assertEquals(
                new LedgerDecision.SendGranted(4, 1, 3000, false),
                later.decision(),
                "and ends when it would have ended");
    }
}
