package dev.semel.trials.chaos.checks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Every check of the judge, broken once. */
class InvariantChecksTest {
    private static final long NOON = 1_800_000_000_000_000L;
    private static final String RUN = "run_1";

    private final List<ReceivedRequest> heard = new ArrayList<>();
    private final List<ClientRecord> clientRecords = new ArrayList<>();
    private final List<DatabaseDump.Run> runs = new ArrayList<>();
    private final List<DatabaseDump.JournalChunk> lines = new ArrayList<>();
    private final List<DatabaseDump.Effect> effects = new ArrayList<>();
    private final Map<String, Integer> rows = new TreeMap<>();
    private final List<ChangeAudit> audit = new ArrayList<>();
    private final List<Fault> faults = new ArrayList<>();
    private final List<String[]> events = new ArrayList<>();

    /** A run of w1 with a charge and a letter, as it should be. */
    InvariantChecksTest() {
        clientRecords.add(started("k1", RUN, false));
        clientRecords.add(started("k1", RUN, true));
        runs.add(new DatabaseDump.Run(RUN, "k1", 0, 1, 10, "", 0, ""));
        lease("w1", "lease+", 7L, "w1");
        moved("w1", "work+", RUN, 7L);
        wrote("w1", "reserved", RUN);
        wrote("w1", "journal+", RUN);
        moved("w1", "work-", RUN, 7L);
        wrote("w1", "end+", RUN);
        lines.add(new DatabaseDump.JournalChunk(
                RUN, "[{\"step\":\"charge\",\"at\":1,\"kind\":\"effect\",\"result\":\"receipt\"}]"));
        lines.add(new DatabaseDump.JournalChunk(
                RUN, "[{\"step\":\"nap\",\"at\":1,\"kind\":\"sleep\",\"due\":" + (NOON + 500_000) + "}]"));
        post(0, "charge", "c", 1);
        post(1, "letter", "l", 1);
        post(600, "parcel", "p", 1);
        effect("charge", 2, 1);
        effect("letter", 2, 1);
        effect("parcel", 2, 1);
        rows.put("k1", 1);
    }

    private static ClientRecord started(String key, String run, boolean replayed) {
        return new ClientRecord(
                NOON, "w1", ClientRecord.RequestKind.START, key, ClientRecord.Outcome.OK, run, replayed, "");
    }

    private void lease(String worker, String what, long lease, String of) {
        audit.add(new ChangeAudit(audit.size(), worker, what, null, lease, 0, of));
    }

    private void moved(String worker, String what, String run, long owner) {
        audit.add(new ChangeAudit(audit.size(), worker, what, run, owner, 0, ""));
    }

    private void wrote(String worker, String what, String run) {
        audit.add(new ChangeAudit(audit.size(), worker, what, run, null, 0, ""));
    }

    private void post(long millis, String step, String key, int attempt) {
        heard.add(
                new ReceivedRequest(NOON + millis * 1_000, "POST", "k1", step, key, "hash", "accepted", "w1", attempt));
    }

    private void effect(String step, int state, int attempt) {
        effects.add(new DatabaseDump.Effect(RUN, step, "any", state, 1, attempt, NOON + 700_000));
    }

    private List<Violation> judged() {
        DatabaseDump dump = new DatabaseDump(runs, lines, effects, rows, audit, List.of(7L));
        return InvariantChecks.of(new Evidence(heard, clientRecords, dump, faults, events));
    }

    private void breaks(int invariant, String part) {
        List<Violation> found = judged();
        assertTrue(
                found.stream()
                        .anyMatch(one ->
                                one.invariant() == invariant && one.what().contains(part)),
                () -> "should break " + invariant + " with \"" + part + "\": " + found);
    }

    @Test
    void a_correct_history_has_no_violations() {
        assertEquals(List.of(), judged());
    }

    @Test
    void two_runs_of_one_key_are_detected() {
        runs.add(new DatabaseDump.Run("run_2", "k1", 0, 1, 10, "", 0, ""));
        breaks(1, "has 2 runs");
    }

    @Test
    void two_responses_for_one_key_are_detected() {
        clientRecords.add(started("k1", "run_2", false));
        breaks(1, "several runs");
        breaks(1, "called new 2 times");
    }

    @Test
    void a_released_key_that_still_returns_its_run_is_detected() {
        clientRecords.add(new ClientRecord(
                NOON, "w1", ClientRecord.RequestKind.RELEASE, "k1", ClientRecord.Outcome.OK, "", false, ""));
        clientRecords.add(started("k1", RUN, true));
        breaks(1, "was let go");
    }

    @Test
    void a_lost_acknowledged_run_is_detected() {
        clientRecords.add(started("k9", "run_9", false));
        breaks(2, "which is lost");
    }

    @Test
    void an_unfinished_run_is_detected() {
        runs.add(new DatabaseDump.Run("run_2", "k2", 1, 0, 0, "", 8, "3"));
        breaks(16, "belongs to a lease that is gone");
    }

    @Test
    void a_request_after_the_record_is_detected_unless_its_sender_was_just_thawed() {
        effects.removeFirst();
        effect("charge", 2, 2);
        post(750, "charge", "c", 2);
        heard.set(3, new ReceivedRequest(NOON + 750_000, "POST", "k1", "charge", "c", "hash", "known", "w1", 2));
        breaks(11, "after its result was on record");
        faults.add(new Fault(Fault.Kind.FROZEN, "w1", NOON, NOON + 740_000));
        assertEquals(List.of(), judged());
    }

    @Test
    void a_write_by_a_non_owner_is_detected() {
        wrote("w2", "journal+", RUN);
        breaks(12, "w2 wrote");
    }

    @Test
    void a_run_assigned_to_an_expired_lease_is_detected() {
        lease("w2", "lease-", 7L, "w1");
        moved("w1", "work+", "run_2", 7L);
        breaks(12, "which was over");
    }

    @Test
    void a_run_claimed_from_its_owner_is_detected() {
        lease("w2", "lease+", 8L, "w2");
        moved("w2", "work~", RUN, 8L);
        breaks(12, "was driving");
    }

    @Test
    void a_lease_reused_or_ended_early_is_detected() {
        lease("w3", "lease+", 7L, "w3");
        breaks(12, "was used again");
        audit.add(new ChangeAudit(99, "w2", "lease-", null, 7L, 1, "w1"));
        breaks(12, "before its lease had run out");
    }

    @Test
    void two_sends_under_one_reservation_are_detected() {
        post(2, "charge", "c", 1);
        breaks(13, "sent twice under reservation 1");
    }

    @Test
    void a_worker_that_continues_after_a_takeover_is_detected() {
        effects.removeFirst();
        effect("charge", 2, 3);
        post(2, "charge", "c", 3);
        post(3, "charge", "c", 2);
        breaks(13, "after it was taken over");
    }

    @Test
    void two_concurrent_executions_of_a_run_are_detected() {
        events.add(new String[] {"w1", "overlap", RUN});
        breaks(14, "twice at once");
    }

    @Test
    void a_second_result_and_a_changed_end_are_detected() {
        lines.add(lines.getFirst());
        breaks(15, "has 2 results");
        wrote("w1", "end~", RUN);
        breaks(15, "changed what was recorded");
    }

    @Test
    void changed_and_shared_effect_keys_are_detected() {
        post(2, "charge", "other", 2);
        breaks(19, "went out with 2 keys");
        post(3, "ping", "l", 1);
        breaks(19, "share the key l");
    }

    @Test
    void the_counts_of_every_protection_are_checked() {
        post(2, "charge", "c", 2);
        breaks(20, "2 times k1/charge accepted under provider_key");
        post(2, "letter", "l", 2);
        breaks(20, "2 times k1/letter requested under at_most_once");
        post(602, "parcel", "p", 2);
        breaks(20, "2 times k1/parcel accepted under lookup");
        post(2, "asked", "a", 1);
        post(3, "asked", "a", 2);
        breaks(20, "2 times k1/asked requested under ask");
        rows.put("k1", 2);
        breaks(20, "2 times rows of the tx step of k1");
        post(2, "shared", "s", 1);
        post(3, "shared", "s", 2);
        breaks(23, "2 times k1/shared accepted across runs");
    }

    @Test
    void an_effect_recorded_as_done_but_never_accepted_is_detected() {
        heard.removeFirst();
        breaks(20, "the receiver never accepted it");
        rows.clear();
        breaks(20, "its row is not there");
    }

    @Test
    void an_effect_before_the_end_of_its_sleep_is_detected() {
        heard.set(2, new ReceivedRequest(NOON + 400_000, "POST", "k1", "parcel", "p", "hash", "accepted", "w1", 1));
        breaks(25, "before its sleep was over");
    }
}
