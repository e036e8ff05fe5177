package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The two schemas differ in types and storage, and in nothing that a statement could notice. */
final class SchemaComparisonTest {
    @Test
    void both_stores_have_the_same_tables_columns_keys_and_indexes() throws SQLException {
        try (StoreFixture file = Dialect.SQLITE.open();
                StoreFixture server = Dialect.POSTGRES.open();
                WorkflowStore _ = file.store();
                WorkflowStore _ = server.store()) {
            Schema sqlite = Schema.of(Dialect.SQLITE, file);
            Schema postgres = Schema.of(Dialect.POSTGRES, server);
            assertTrue(sqlite.tables().size() > 10, "the tables were looked for in the right place");
            assertEquals(sqlite.tables().keySet(), postgres.tables().keySet());
            for (String table : sqlite.tables().keySet()) {
                assertEquals(sqlite.tables().get(table), postgres.tables().get(table), table);
            }
            assertEquals(sqlite.indexes(), postgres.indexes());
        }
    }

    @Test
    void both_stores_have_the_same_migrations() {
        String numbers = "SELECT sum(number * 1000 + breaking) FROM semel_migration";
        try (StoreFixture file = Dialect.SQLITE.open();
                StoreFixture server = Dialect.POSTGRES.open();
                WorkflowStore _ = file.store();
                WorkflowStore _ = server.store()) {
            assertEquals(file.count("semel_migration"), server.count("semel_migration"));
            assertEquals(file.number(numbers), server.number(numbers));
        }
    }

    @ParameterizedTest
    @EnumSource
    void migrating_again_changes_nothing(Dialect dialect) {
        try (StoreFixture fixture = dialect.open();
                WorkflowStore store = fixture.store()) {
            long before = fixture.count("semel_migration");
            store.migrate();
            assertEquals(before, fixture.count("semel_migration"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_migration_with_another_text_is_rejected(Dialect dialect) {
        try (StoreFixture fixture = dialect.open()) {
            fixture.store().close();
            fixture.execute("UPDATE semel_migration SET checksum = 'other' WHERE number = 1");
            assertRefused(
                    fixture,
                    "V001__schema.sql",
                    "differs from the migration",
                    "Nothing was changed.",
                    "Use the Semel version");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_newer_breaking_migration_is_rejected(Dialect dialect) {
        try (StoreFixture fixture = dialect.open()) {
            fixture.store().close();
            fixture.execute("INSERT INTO semel_migration VALUES (900, 'V900__future.sql', 'sum', 1)");
            assertRefused(
                    fixture,
                    "V900__future.sql",
                    "newer version of Semel",
                    "Nothing was changed.",
                    "Start the newer version");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_newer_migration_that_breaks_nothing_is_fine(Dialect dialect) {
        try (StoreFixture fixture = dialect.open()) {
            fixture.store().close();
            fixture.execute("INSERT INTO semel_migration VALUES (900, 'V900__future.sql', 'sum', 0)");
            try (WorkflowStore store = fixture.store()) {
                store.migrate();
            }
            assertEquals(1, fixture.number("SELECT count(*) FROM semel_migration WHERE number = 900"));
        }
    }

    /** What failed, which one, what state things are in, what to do. */
    private static void assertRefused(StoreFixture fixture, String... parts) {
        StoreFailure refusal = assertThrows(StoreFailure.class, fixture::store);
        for (String part : List.of(parts)) {
            assertTrue(String.valueOf(refusal.getMessage()).contains(part), refusal.getMessage());
        }
    }
}
