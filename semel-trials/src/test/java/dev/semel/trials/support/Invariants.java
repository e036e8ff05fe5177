package dev.semel.trials.support;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.LinkedHashMap;
import java.util.Map;

/** What must be true of the rows of any store at any time, asked in SQL alone. Each counts the rows that break it. */
public final class Invariants {
    private static final Map<String, String> BROKEN = broken();

    private Invariants() {}

    public static void check(String store) {
        Map<String, Long> found = new LinkedHashMap<>();
        try (Connection connection = StoreKind.connect(store)) {
            for (var rule : BROKEN.entrySet()) {
                long count = count(connection, rule.getValue());
                if (count > 0) {
                    found.put(rule.getKey(), count);
                }
            }
        } catch (SQLException e) {
            throw new IllegalStateException("the store cannot be looked at", e);
        }
        assertEquals(Map.of(), found, "broken invariants");
    }

    static long count(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement();
                var row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    private static Map<String, String> broken() {
        Map<String, String> rules = new LinkedHashMap<>();
        rules.put("a name stands for one run", """
            SELECT count(*) FROM
                (SELECT ws, kind, key FROM semel_key GROUP BY ws, kind, key HAVING count(*) > 1) twice
            """);
        rules.put("a name stands for a run of its own workspace", """
            SELECT count(*) FROM semel_key k
            WHERE NOT EXISTS (SELECT 1 FROM semel_run r WHERE r.run = k.run AND r.ws = k.ws)
            """);
        rules.put("a run is in work or has ended", """
            SELECT count(*) FROM semel_run r
            WHERE (SELECT count(*) FROM semel_unfinished_run w WHERE w.run = r.run)
                + (SELECT count(*) FROM semel_finished_run e WHERE e.run = r.run) <> 1
            """);
        rules.put("work belongs to a run", """
            SELECT count(*) FROM semel_unfinished_run w WHERE NOT EXISTS (SELECT 1 FROM semel_run r WHERE r.run = w.run)
            """);
        rules.put("an end belongs to a run", """
            SELECT count(*) FROM semel_finished_run e WHERE NOT EXISTS (SELECT 1 FROM semel_run r WHERE r.run = e.run)
            """);
        rules.put("a chosen run id belongs to one run", """
            SELECT count(*) FROM (SELECT ws, chosen_id FROM semel_run WHERE chosen_id IS NOT NULL
                GROUP BY ws, chosen_id HAVING count(*) > 1) twice
            """);
        rules.put(
                "two runs of one key in one scope and lineage of names are linked by a release, an expiry or a failure",
                """
                SELECT count(*) FROM semel_run r JOIN semel_run other
                    ON other.ws = r.ws AND other.key = r.key AND other.workflow_id = r.workflow_id AND other.run > r.run
                WHERE NOT EXISTS (SELECT 1 FROM semel_key k WHERE k.ws = r.ws AND k.kind = 3 AND k.run IN (r.run, other.run))
                    AND NOT EXISTS (SELECT 1 FROM semel_run later WHERE later.previous_run = r.run)
                """);
        rules.put("a request belongs to a run of its workspace", """
            SELECT count(*) FROM semel_duplicate_request q
            WHERE NOT EXISTS (SELECT 1 FROM semel_run r WHERE r.run = q.run AND r.ws = q.ws)
            """);
        rules.put("the counts are the sums of the rows", """
            SELECT count(*) FROM semel_duplicate_count u
            WHERE u.replays <> COALESCE((SELECT sum(request_count) FROM semel_duplicate_request q WHERE q.run = u.run AND conflict = 0), 0)
               OR u.conflicts <> COALESCE((SELECT sum(request_count) FROM semel_duplicate_request q WHERE q.run = u.run AND conflict = 1), 0)
            """);
        rules.put("a finished server leaves no owned work", """
            SELECT count(*) FROM semel_unfinished_run w
            WHERE owner IS NOT NULL AND NOT EXISTS (SELECT 1 FROM semel_lease l WHERE l.lease = w.owner)
            """);
        return rules;
    }
}
