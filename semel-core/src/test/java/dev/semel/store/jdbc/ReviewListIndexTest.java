package dev.semel.store.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.store.PostgresStoreFixture;
import dev.semel.store.jdbc.run.EffectListQueries;
import dev.semel.store.postgres.PostgresStore;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Lists for people are read from an index, in its order: a page costs the same among five rows and five million. */
final class ReviewListIndexTest {
    /** What one run asked, or was asked about one effect, is a handful, which may be sorted. */
    private static final Set<String> FEW = Set.of("JdbcHumanReviewQueries.OF_RUN", "JdbcHumanReviewQueries.ABOUT");

    /** Each walks the index that was made for it, which has what is asked for and nothing of other workspaces. */
    private static final Map<String, String> WALKS = Map.of(
            "EffectListQueries.OF_WORKSPACE", "semel_effect_by_workspace",
            "EffectListQueries.REACHED_OF_WORKSPACE", "semel_effect_by_workspace",
            "EffectListQueries.OF_OBJECT", "semel_effect_by_object",
            "EffectListQueries.SUPPRESSED", "semel_effect_suppressed",
            "EffectListQueries.REACHED_SUPPRESSED", "semel_effect_suppressed",
            "EffectListQueries.UNSETTLED", "semel_effect_unsettled",
            "EffectListQueries.REACHED_UNSETTLED", "semel_effect_unsettled");

    @Test
    void every_list_of_reviews_and_effects_uses_an_index() throws Exception {
        AtomicLong ids = new AtomicLong();
        try (PostgresStoreFixture fixture = PostgresStoreFixture.withItsOwnClock()) {
            try (PostgresStore store =
                    new PostgresStore(fixture.url(), () -> 0, () -> new RunId(ids.incrementAndGet(), 1))) {
                store.migrate();
            }
            Map<String, String> whole = new LinkedHashMap<>();
            int asked = 0;
            try (Connection connection = DriverManager.getConnection(fixture.url() + "&preferQueryMode=simple");
                    Statement statement = connection.createStatement()) {
                statement.execute("SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;"
                        + " SET enable_hashjoin = off; SET enable_mergejoin = off");
                for (Map.Entry<String, String> sql : statements().entrySet()) {
                    asked++;
                    String plan = plan(statement, sql.getValue());
                    boolean sorted = plan.contains("Sort  ") && !plan.contains("Presorted Key");
                    boolean astray = !plan.contains(WALKS.getOrDefault(sql.getKey(), ""));
                    if (astray || plan.contains("Seq Scan") || (sorted && !FEW.contains(sql.getKey()))) {
                        whole.put(sql.getKey(), plan);
                    }
                }
            }
            assertTrue(asked >= 10, "statements were found: " + asked);
            assertEquals(Map.of(), whole);
        }
    }

    private static Map<String, String> statements() throws IllegalAccessException {
        Map<String, String> all = new LinkedHashMap<>();
        for (Class<?> type : List.of(JdbcHumanReviewQueries.class, EffectListQueries.class)) {
            for (Field field : type.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers()) && field.getType() == String.class) {
                    field.setAccessible(true);
                    all.put(type.getSimpleName() + "." + field.getName(), String.valueOf(field.get(null)));
                }
            }
        }
        return all;
    }

    private static String plan(Statement statement, String sql) throws Exception {
        StringBuilder numbered = new StringBuilder("EXPLAIN (GENERIC_PLAN) ");
        int n = 0;
        for (char c : sql.toCharArray()) {
            numbered.append(c == '?' ? "$" + ++n : String.valueOf(c));
        }
        StringBuilder plan = new StringBuilder();
        try (ResultSet row = statement.executeQuery(numbered.toString())) {
            while (row.next()) {
                plan.append(row.getString(1)).append('\n');
            }
        }
        return plan.toString();
    }
}
