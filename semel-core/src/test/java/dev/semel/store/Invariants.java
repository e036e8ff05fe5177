package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What must be true of the rows after anything whatever has happened. Ends every test of the engine. */
public final class Invariants {
    /** The path of waits that want nothing older than they say, so that such a signal is kept although they listen. */
    static final String LATER = "later";

    /** Each query answers the rows that should not be. */
    private static final Map<String, String> NEVER = new LinkedHashMap<>();

    static {
        NEVER.put("a name stands for a run that is not there", """
            SELECT key FROM semel_key k WHERE NOT EXISTS (SELECT 1 FROM semel_run r WHERE r.run = k.run)
            """);
        NEVER.put("a run is both at work and ended, or neither", """
            SELECT input FROM semel_run r
            WHERE (SELECT count(*) FROM semel_unfinished_run w WHERE w.run = r.run)
                + (SELECT count(*) FROM semel_finished_run e WHERE e.run = r.run) <> 1
            """);
        for (String table : List.of(
                "semel_unfinished_run",
                "semel_finished_run",
                "semel_journal",
                "semel_duplicate_request",
                "semel_duplicate_count",
                "semel_run_link",
                "semel_effect",
                "semel_effect_history",
                "semel_signal",
                "semel_signal_wait",
                "semel_review",
                "semel_debounce")) {
            NEVER.put(
                    "a row of " + table + " is about no run",
                    "SELECT 'a row' FROM " + table
                            + " t WHERE NOT EXISTS (SELECT 1 FROM semel_run r WHERE r.run = t.run)");
        }
        for (String link : List.of("lineage", "previous_run", "duplicate_of")) {
            NEVER.put(
                    link + " leads to no run",
                    "SELECT r.input FROM semel_run r WHERE r." + link
                            + " IS NOT NULL AND NOT EXISTS (SELECT 1 FROM semel_run o WHERE o.run = r." + link + ")");
        }
        NEVER.put("counts are not the sums of the rows", """
            SELECT u.replays FROM semel_duplicate_count u
            WHERE u.replays <> (SELECT COALESCE(sum(request_count * (1 - conflict)), 0) FROM semel_duplicate_request q WHERE q.run = u.run)
               OR u.conflicts <> (SELECT COALESCE(sum(request_count * conflict), 0) FROM semel_duplicate_request q WHERE q.run = u.run)
            """);
        NEVER.put("requests are not counted", """
            SELECT q.actor FROM semel_duplicate_request q WHERE NOT EXISTS (SELECT 1 FROM semel_duplicate_count u WHERE u.run = q.run)
            """);
        NEVER.put("a run is not among the fresh triggers that were counted", """
            SELECT r.runs FROM (
                SELECT count(*) AS runs FROM semel_run r
                WHERE NOT EXISTS (SELECT 1 FROM semel_run_link l WHERE l.run = r.run AND l.replay_of IS NOT NULL)) r
            WHERE r.runs > (SELECT COALESCE(sum(total), 0) FROM semel_metric_count WHERE metric IN (1, 2))
            """);
        NEVER.put("a request is not among those that were counted", """
            SELECT q.requests FROM (SELECT COALESCE(sum(request_count), 0) AS requests FROM semel_duplicate_request) q
            WHERE q.requests > (SELECT COALESCE(sum(total), 0) FROM semel_metric_count WHERE metric IN (3, 4, 5))
            """);
        NEVER.put("two runs have one chosen id", """
            SELECT chosen_id FROM semel_run WHERE chosen_id IS NOT NULL GROUP BY ws, chosen_id HAVING count(*) > 1
            """);
        NEVER.put("a journal has a hole", """
            SELECT run FROM semel_journal GROUP BY run HAVING max(seq) <> count(*) - 1
            """);
        NEVER.put("a run belongs to a lease that is gone", """
            SELECT w.owner FROM semel_unfinished_run w
            WHERE w.owner IS NOT NULL AND NOT EXISTS (SELECT 1 FROM semel_lease l WHERE l.lease = w.owner)
            """);
        NEVER.put("a fence slot is left of a lease that is gone", """
            SELECT f.slot FROM semel_fence f WHERE NOT EXISTS (SELECT 1 FROM semel_lease l WHERE l.lease = f.lease)
            """);
        NEVER.put("a fence slot knows another catalog than there is", """
            SELECT f.slot FROM semel_fence f WHERE f.catalog_revision <> (SELECT revision FROM semel_catalog)
            """);
        NEVER.put("a name belongs to another workspace than its run", """
            SELECT k.key FROM semel_key k JOIN semel_run r ON r.run = k.run WHERE r.ws <> k.ws
            """);
        NEVER.put("a workflow has no text for its version", """
            SELECT w.name FROM semel_workflow w WHERE NOT EXISTS (
                SELECT 1 FROM semel_workflow_version v WHERE v.workflow_id = w.workflow_id AND v.version = w.version)
            """);
        NEVER.put("a candidate has no text", """
            SELECT w.name FROM semel_workflow w WHERE w.candidate_version <> 0 AND NOT EXISTS (
                SELECT 1 FROM semel_workflow_version v WHERE v.workflow_id = w.workflow_id AND v.version = w.candidate_version)
            """);
        NEVER.put("a run has a version that nobody published", """
            SELECT r.run FROM semel_run r WHERE NOT EXISTS (
                SELECT 1 FROM semel_workflow_version v WHERE v.workflow_id = r.workflow_id AND v.version = r.version)
            """);
        gates();
        NEVER.put("a signal is kept and somebody listens for it", """
            SELECT l.signal_id FROM semel_keyed_signal l JOIN semel_signal_wait o ON o.ws = l.ws AND o.name = l.name AND o.key = l.key
            JOIN semel_unfinished_run w ON w.run = o.run WHERE l.delivered_to = '' AND l.expires_at > o.waiting_since AND (w.cancel_requested = 0 OR o.compensating = 1)
                AND o.path <> 'later'
            """);
        NEVER.put("a wait listens and has its signal", """
            SELECT o.path FROM semel_signal_wait o JOIN semel_signal s ON s.run = o.run AND s.name = '#keyed:' || o.path
            """);
        // What a run left is asked by its replay again. One that was replayed does not go on in place (claims), though
        // other
        // runs ask about its effects in made-up histories.
        NEVER.put("people are asked twice about one effect by runs that are at work", """
            SELECT v.effect FROM semel_review v JOIN semel_unfinished_run w ON w.run = v.run AND w.claim_count < 16777216
            WHERE v.decided_at = 0 AND v.effect <> '' GROUP BY v.ws, v.effect HAVING count(*) > 1
            """);
        NEVER.put("a signal that somebody has is still kept, or one that is kept has no value", """
            SELECT signal_id FROM semel_keyed_signal WHERE (delivered_to = '') = (value = '')
            """);
    }

    private static void gates() {
        NEVER.put("a run that is not at work has a place", """
            SELECT p.queue FROM semel_queue_entry p WHERE NOT EXISTS (SELECT 1 FROM semel_unfinished_run w WHERE w.run = p.run)
            """);
        NEVER.put("a place is in no queue", """
            SELECT p.queue FROM semel_queue_entry p
            WHERE NOT EXISTS (SELECT 1 FROM semel_queue q WHERE q.queue = p.queue AND q.last_ticket >= p.ticket)
            """);
        NEVER.put("more runs of a queue are begun than may be", """
            SELECT queue FROM semel_queue_entry WHERE started = 1 GROUP BY queue HAVING count(*) > max(concurrency_limit)
            """);
        NEVER.put("a run waits behind nobody", """
            SELECT queue FROM semel_queue_entry WHERE ticket > 0 GROUP BY queue HAVING sum(started) = 0
            """);
        NEVER.put("a run was let past one before it", """
            SELECT p.queue FROM semel_queue_entry p WHERE p.started = 1 AND EXISTS (
                SELECT 1 FROM semel_queue_entry o
                WHERE o.queue = p.queue AND o.ticket < p.ticket AND o.ticket > 0 AND o.started = 0)
            """);
        NEVER.put("a run that waits for a place is free", """
            SELECT w.state FROM semel_unfinished_run w
            WHERE w.queue_state = 2 AND w.start_blocked = 0 AND w.cancel_requested = 0 AND EXISTS (
                SELECT 1 FROM semel_queue_entry p WHERE p.run = w.run AND p.started = 0 AND p.ticket > 0)
            """);
        NEVER.put("a run that enters a queue later has a place there, or an owner", """
            SELECT p.queue FROM semel_queue_entry p JOIN semel_unfinished_run w ON w.run = p.run
            WHERE p.ticket < 0 AND (p.started = 1 OR (w.owner IS NOT NULL AND w.cancel_requested = 0))
            """);
        NEVER.put("a run waits for a place and has all", """
            SELECT w.state FROM semel_unfinished_run w
            WHERE w.queue_state = 2 AND NOT EXISTS (SELECT 1 FROM semel_queue_entry p WHERE p.run = w.run AND p.started = 0)
            """);
        NEVER.put("a run has its places and has not", """
            SELECT w.state FROM semel_unfinished_run w
            WHERE w.queue_state = 1 AND (NOT EXISTS (SELECT 1 FROM semel_queue_entry p WHERE p.run = w.run)
                OR EXISTS (SELECT 1 FROM semel_queue_entry p WHERE p.run = w.run AND p.started = 0))
            """);
        NEVER.put("an effect belongs to another workspace than its run", """
            SELECT e.path FROM semel_effect e JOIN semel_run r ON r.run = e.run WHERE r.ws <> e.ws
            """);
        NEVER.put("an effect is accepted and not done, or done and not accepted", """
            SELECT e.path FROM semel_effect e WHERE (e.state = 2) <> (e.accepted_at > 0)
            """);
        for (String link : List.of("parent", "replay_of")) {
            NEVER.put(
                    link + " leads to no run",
                    "SELECT 'a link' FROM semel_run_link l WHERE l." + link
                            + " IS NOT NULL AND NOT EXISTS (SELECT 1 FROM semel_run o WHERE o.run = l." + link + ")");
        }
    }

    private Invariants() {}

    public static void check(StoreFixture fixture) {
        check(fixture, NEVER);
    }

    /** Where old runs were removed, links of younger ones may lead to nothing; the lineage never does. */
    static void checkAfterRetiring(StoreFixture fixture) {
        Map<String, String> never = new LinkedHashMap<>(NEVER);
        for (String link : List.of("previous_run", "duplicate_of", "parent", "replay_of")) {
            never.remove(link + " leads to no run");
        }
        check(fixture, never);
    }

    private static void check(StoreFixture fixture, Map<String, String> never) {
        try (Connection connection = fixture.jdbc()) {
            check(connection, never);
        } catch (SQLException e) {
            throw new AssertionError("the rows could not be looked at", e);
        }
    }

    public static void check(Connection connection) throws SQLException {
        check(connection, NEVER);
    }

    private static void check(Connection connection, Map<String, String> never) throws SQLException {
        List<String> broken = new ArrayList<>();
        for (Map.Entry<String, String> one : never.entrySet()) {
            int found = rows(connection, one.getValue());
            if (found > 0) {
                broken.add(one.getKey() + " (" + found + " times)");
            }
        }
        assertEquals(List.of(), broken);
    }

    /**
     * For tests without distinct keys and without a sweep: of the runs of one key in one workflow only the first came
     * from nowhere; each other one says which run held the key before it.
     */
    public static void oneRunPerLiveKey(StoreFixture fixture) {
        assertEquals(0, fixture.number("""
            SELECT count(*) FROM (
                SELECT 1 AS one FROM semel_run WHERE key IS NOT NULL AND previous_run IS NULL
                GROUP BY ws, workflow_id, key HAVING count(*) > 1) twice
            """), "keys with more than one run that follows no other");
    }

    private static int rows(Connection connection, String query) throws SQLException {
        try (var statement = connection.createStatement();
                var rows = statement.executeQuery(query)) {
            int found = 0;
            while (rows.next()) {
                found++;
            }
            return found;
        }
    }
}
