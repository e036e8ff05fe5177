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
    /** The path of waits that want nothing older than they say, so that such a letter is kept although they listen. */
    static final String LATER = "later";

    /** Each query answers the rows that should not be. */
    private static final Map<String, String> NEVER = new LinkedHashMap<>();

    static {
        NEVER.put("a name stands for a run that is not there", """
            SELECT key FROM semel_key k WHERE NOT EXISTS (SELECT 1 FROM semel_run r WHERE r.run = k.run)
            """);
        NEVER.put("a run is both at work and ended, or neither", """
            SELECT input FROM semel_run r
            WHERE (SELECT count(*) FROM semel_work w WHERE w.run = r.run)
                + (SELECT count(*) FROM semel_end e WHERE e.run = r.run) <> 1
            """);
        for (String table : List.of(
                "semel_work",
                "semel_end",
                "semel_journal",
                "semel_request",
                "semel_use",
                "semel_link",
                "semel_effect",
                "semel_signal",
                "semel_listener",
                "semel_review",
                "semel_quiet")) {
            NEVER.put(
                    "a row of " + table + " is about no run",
                    "SELECT 'a row' FROM " + table
                            + " t WHERE NOT EXISTS (SELECT 1 FROM semel_run r WHERE r.run = t.run)");
        }
        for (String link : List.of("lineage", "previous", "duplicate_of")) {
            NEVER.put(
                    link + " leads to no run",
                    "SELECT r.input FROM semel_run r WHERE r." + link
                            + " IS NOT NULL AND NOT EXISTS (SELECT 1 FROM semel_run o WHERE o.run = r." + link + ")");
        }
        NEVER.put("counts are not the sums of the rows", """
            SELECT u.replays FROM semel_use u
            WHERE u.replays <> (SELECT COALESCE(sum(times * (1 - conflict)), 0) FROM semel_request q WHERE q.run = u.run)
               OR u.conflicts <> (SELECT COALESCE(sum(times * conflict), 0) FROM semel_request q WHERE q.run = u.run)
            """);
        NEVER.put("requests are not counted", """
            SELECT q.actor FROM semel_request q WHERE NOT EXISTS (SELECT 1 FROM semel_use u WHERE u.run = q.run)
            """);
        NEVER.put("a run is not among the fresh triggers that were counted", """
            SELECT r.runs FROM (
                SELECT count(*) AS runs FROM semel_run r
                WHERE NOT EXISTS (SELECT 1 FROM semel_link l WHERE l.run = r.run AND l.replay_of IS NOT NULL)) r
            WHERE r.runs > (SELECT COALESCE(sum(n), 0) FROM semel_count WHERE figure IN (1, 2))
            """);
        NEVER.put("a request is not among those that were counted", """
            SELECT q.requests FROM (SELECT COALESCE(sum(times), 0) AS requests FROM semel_request) q
            WHERE q.requests > (SELECT COALESCE(sum(n), 0) FROM semel_count WHERE figure IN (3, 4, 5))
            """);
        NEVER.put("two runs have one chosen id", """
            SELECT chosen_id FROM semel_run WHERE chosen_id IS NOT NULL GROUP BY ws, chosen_id HAVING count(*) > 1
            """);
        NEVER.put("a journal has a hole", """
            SELECT run FROM semel_journal GROUP BY run HAVING max(seq) <> count(*) - 1
            """);
        NEVER.put("a run belongs to a lease that is gone", """
            SELECT w.owner FROM semel_work w
            WHERE w.owner IS NOT NULL AND NOT EXISTS (SELECT 1 FROM semel_lease l WHERE l.lease = w.owner)
            """);
        NEVER.put("a fence slot is left of a lease that is gone", """
            SELECT f.slot FROM semel_fence f WHERE NOT EXISTS (SELECT 1 FROM semel_lease l WHERE l.lease = f.lease)
            """);
        NEVER.put("a fence slot knows another catalog than there is", """
            SELECT f.slot FROM semel_fence f WHERE f.change <> (SELECT change FROM semel_catalog)
            """);
        NEVER.put("a name belongs to another workspace than its run", """
            SELECT k.key FROM semel_key k JOIN semel_run r ON r.run = k.run WHERE r.ws <> k.ws
            """);
        NEVER.put("a workflow has no text for its version", """
            SELECT w.name FROM semel_workflow w WHERE NOT EXISTS (
                SELECT 1 FROM semel_version v WHERE v.workflow_id = w.workflow_id AND v.version = w.version)
            """);
        NEVER.put("a candidate has no text", """
            SELECT w.name FROM semel_workflow w WHERE w.candidate <> 0 AND NOT EXISTS (
                SELECT 1 FROM semel_version v WHERE v.workflow_id = w.workflow_id AND v.version = w.candidate)
            """);
        NEVER.put("a run has a version that nobody published", """
            SELECT r.run FROM semel_run r WHERE NOT EXISTS (
                SELECT 1 FROM semel_version v WHERE v.workflow_id = r.workflow_id AND v.version = r.version)
            """);
        gates();
        NEVER.put("a letter is kept and somebody listens for it", """
            SELECT l.letter FROM semel_letter l JOIN semel_listener o ON o.ws = l.ws AND o.name = l.name AND o.key = l.key
            JOIN semel_work w ON w.run = o.run WHERE l.runs = '' AND l.expires_at > o.since AND (w.cancel = 0 OR o.undoing = 1)
                AND o.path <> 'later'
            """);
        NEVER.put("a wait listens and has its letter", """
            SELECT o.path FROM semel_listener o JOIN semel_signal s ON s.run = o.run AND s.name = '#keyed:' || o.path
            """);
        // What a run left is asked by its replay again. One that was replayed does not go on in place (claims), though
        // other
        // runs ask about its effects in made-up histories.
        NEVER.put("people are asked twice about one effect by runs that are at work", """
            SELECT v.effect FROM semel_review v JOIN semel_work w ON w.run = v.run AND w.claims < 16777216
            WHERE v.decided_at = 0 AND v.effect <> '' GROUP BY v.ws, v.effect HAVING count(*) > 1
            """);
        NEVER.put("a letter that somebody has is still kept, or one that is kept has no value", """
            SELECT letter FROM semel_letter WHERE (runs = '') = (value = '')
            """);
    }

    private static void gates() {
        NEVER.put("a run that is not at work has a place", """
            SELECT p.queue FROM semel_place p WHERE NOT EXISTS (SELECT 1 FROM semel_work w WHERE w.run = p.run)
            """);
        NEVER.put("a place is in no queue", """
            SELECT p.queue FROM semel_place p
            WHERE NOT EXISTS (SELECT 1 FROM semel_queue q WHERE q.queue = p.queue AND q.tail >= p.ticket)
            """);
        NEVER.put("more runs of a queue are begun than may be", """
            SELECT queue FROM semel_place WHERE begun = 1 GROUP BY queue HAVING count(*) > max(cap)
            """);
        NEVER.put("a run waits behind nobody", """
            SELECT queue FROM semel_place GROUP BY queue HAVING sum(begun) = 0
            """);
        NEVER.put("a run was let past one before it", """
            SELECT p.queue FROM semel_place p WHERE p.begun = 1 AND EXISTS (
                SELECT 1 FROM semel_place o WHERE o.queue = p.queue AND o.ticket < p.ticket AND o.begun = 0)
            """);
        NEVER.put("a run that waits for a place is free", """
            SELECT w.state FROM semel_work w WHERE w.gated = 2 AND w.held = 0 AND w.cancel = 0
            """);
        NEVER.put("a run waits for a place and has all", """
            SELECT w.state FROM semel_work w
            WHERE w.gated = 2 AND NOT EXISTS (SELECT 1 FROM semel_place p WHERE p.run = w.run AND p.begun = 0)
            """);
        NEVER.put("a run has its places and has not", """
            SELECT w.state FROM semel_work w
            WHERE w.gated = 1 AND (NOT EXISTS (SELECT 1 FROM semel_place p WHERE p.run = w.run)
                OR EXISTS (SELECT 1 FROM semel_place p WHERE p.run = w.run AND p.begun = 0))
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
                    "SELECT 'a link' FROM semel_link l WHERE l." + link
                            + " IS NOT NULL AND NOT EXISTS (SELECT 1 FROM semel_run o WHERE o.run = l." + link + ")");
        }
    }

    private Invariants() {}

    public static void check(Place place) {
        check(place, NEVER);
    }

    /** Where old runs were removed, links of younger ones may lead to nothing; the lineage never does. */
    static void checkAfterRetiring(Place place) {
        Map<String, String> never = new LinkedHashMap<>(NEVER);
        for (String link : List.of("previous", "duplicate_of", "parent", "replay_of")) {
            never.remove(link + " leads to no run");
        }
        check(place, never);
    }

    private static void check(Place place, Map<String, String> never) {
        try (Connection connection = place.jdbc()) {
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
    public static void oneRunPerLiveKey(Place place) {
        assertEquals(0, place.number("""
            SELECT count(*) FROM (
                SELECT 1 AS one FROM semel_run WHERE key IS NOT NULL AND previous IS NULL
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
