package dev.semel.store.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.store.PostgresStoreFixture;
import dev.semel.store.jdbc.JdbcStoreQueries;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The queue of runs at work is mostly empty and full of rows that are gone; each vacuum tells the planner that it holds
 * nothing. Whoever then reads it whole reads all that is gone, and a worker slows down to a third until the next vacuum.
 */
final class QueryPlanTest {
    private static final List<Class<?>> STATEMENTS = List.of(
            PostgresTriggerAdmissionWriter.class,
            PostgresEffectLedgerWriter.class,
            PostgresNewRunWriter.class,
            PostgresRunProgressWriter.class,
            PostgresBatchRowLocker.class,
            PostgresBatchWriter.class,
            PostgresStoreQueries.class,
            JdbcStoreQueries.class);

    /** Lists for users, joined with tables that are really large. */
    private static final Set<String> LISTS =
            Set.of(JdbcStoreQueries.class.getSimpleName() + ".KEYS", JdbcStoreQueries.class.getSimpleName() + ".TALLY");

    private final PostgresStoreFixture fixture = PostgresStoreFixture.withItsOwnClock();
    private final AtomicLong ids = new AtomicLong();
    private final PostgresStore store =
            new PostgresStore(fixture.url(), () -> 0, () -> new RunId(ids.incrementAndGet(), 1));

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void after_a_vacuum_of_the_empty_queue_every_statement_still_uses_its_index() throws Exception {
        store.migrate();
        fixture.execute("VACUUM ANALYZE semel_unfinished_run");
        Map<String, String> whole = new LinkedHashMap<>();
        int asked = 0;
        // In simple mode the driver leaves the numbered parameters to EXPLAIN.
        try (Connection connection = DriverManager.getConnection(fixture.url() + "&preferQueryMode=simple");
                Statement statement = connection.createStatement()) {
            statement.execute(PostgresConnectionPurpose.LANE.settings(18));
            for (Map.Entry<String, String> sql : statements().entrySet()) {
                List<String> plan = plan(statement, sql.getValue());
                asked++;
                for (int i = 0; i < plan.size(); i++) {
                    boolean reads = plan.get(i).contains(" on semel_unfinished_run");
                    boolean changes = plan.get(i).matches(" *(->  )?(Update|Delete|Insert) on .*");
                    boolean byKey = i + 1 < plan.size() && plan.get(i + 1).contains("Index Cond:");
                    if (reads && !changes && !byKey) {
                        whole.put(sql.getKey(), String.join("\n", plan));
                    }
                }
            }
        }
        assertTrue(asked >= 10, "statements were found: " + asked);
        assertEquals(Map.of(), whole);
    }

    private static Map<String, String> statements() throws IllegalAccessException {
        Map<String, String> all = new LinkedHashMap<>();
        for (Class<?> type : STATEMENTS) {
            for (Field field : type.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()) && field.getType() == String.class) {
                    field.setAccessible(true);
                    String sql = String.valueOf(field.get(null));
                    String name = type.getSimpleName() + "." + field.getName();
                    if (sql.contains("semel_unfinished_run") && !LISTS.contains(name)) {
                        all.put(name, sql);
                    }
                }
            }
        }
        return all;
    }

    private static List<String> plan(Statement statement, String sql) throws SQLException {
        StringBuilder numbered = new StringBuilder("EXPLAIN (GENERIC_PLAN) ");
        int n = 0;
        for (char c : sql.toCharArray()) {
            numbered.append(c == '?' ? "$" + ++n : String.valueOf(c));
        }
        List<String> plan = new ArrayList<>();
        try (ResultSet row = statement.executeQuery(numbered.toString())) {
            while (row.next()) {
                plan.add(String.valueOf(row.getString(1)));
            }
        }
        return plan;
    }
}
