package dev.semel.store.sqlite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.SqliteStoreFixture;
import dev.semel.store.StoreFailure;
import dev.semel.store.WorkflowStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One file, one process, readable by its owner only. */
final class SqliteFileTest {
    @Test
    void file_and_new_folder_belong_to_their_owner_alone() throws IOException {
        try (SqliteStoreFixture fixture = new SqliteStoreFixture();
                WorkflowStore _ = fixture.store()) {
            Path file = fixture.file();
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
            assertEquals(
                    "rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(Path.of(file + "-wal"))));
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())));
        }
    }

    @Test
    void a_file_readable_by_others_is_restricted_to_its_owner() throws IOException {
        try (SqliteStoreFixture fixture = new SqliteStoreFixture()) {
            fixture.store().close();
            Files.setPosixFilePermissions(fixture.file(), PosixFilePermissions.fromString("rw-r--r--"));
            try (WorkflowStore _ = fixture.store()) {
                assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(fixture.file())));
            }
        }
    }

    @Test
    void a_second_store_on_the_same_file_is_rejected_with_a_clear_message() {
        try (SqliteStoreFixture fixture = new SqliteStoreFixture()) {
            try (WorkflowStore _ = fixture.store()) {
                assertUsed(assertThrows(StoreFailure.Unreachable.class, fixture::store), fixture);
            }
            fixture.store().close();
        }
    }

    @Test
    void a_second_process_on_the_same_file_is_rejected_with_a_clear_message() throws IOException {
        try (SqliteStoreFixture fixture = new SqliteStoreFixture()) {
            fixture.store().close();
            Process other = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-cp",
                            System.getProperty("java.class.path"),
                            LockHolder.class.getName(),
                            fixture.file() + ".lock")
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try (var said = other.inputReader()) {
                assertEquals("locked", said.readLine());
                assertUsed(assertThrows(StoreFailure.Unreachable.class, fixture::store), fixture);
            } finally {
                other.destroyForcibly().onExit().join();
            }
            fixture.store().close(); // killed, not stopped: the lock went with the process
        }
    }

    private static void assertUsed(StoreFailure refusal, SqliteStoreFixture fixture) {
        for (String part : List.of(
                fixture.file().toString(),
                "another Semel process uses it",
                "Nothing was changed",
                "another --data folder")) {
            assertTrue(String.valueOf(refusal.getMessage()).contains(part), refusal.getMessage());
        }
    }

    @Test
    void a_file_that_is_no_database_is_rejected_as_such_each_time() throws IOException {
        try (SqliteStoreFixture fixture = new SqliteStoreFixture()) {
            Files.createDirectories(fixture.file().getParent());
            Files.writeString(fixture.file(), "this is a letter, not a database. ".repeat(100));
            for (int i = 0; i < 2; i++) {
                StoreFailure refusal = assertThrows(StoreFailure.Unreachable.class, fixture::store);
                assertFalse(String.valueOf(refusal.getMessage()).contains("another Semel process"), "it is not in use");
                assertTrue(String.valueOf(refusal.getMessage())
                        .contains(fixture.file().toString()));
            }
            assertTrue(Files.readString(fixture.file()).startsWith("this is a letter"), "it is as it was");
        }
    }

    @Test
    void a_library_with_the_wal_bug_is_rejected() {
        for (String old : List.of("3.51.2", "3.51", "3.50.9", "3.7.17", "2.99.99")) {
            assertFalse(SqliteStore.isSupportedVersion(old), old);
        }
        for (String fine : List.of("3.51.3", "3.51.10", "3.52.0", "3.53.4", "4.0.0")) {
            assertTrue(SqliteStore.isSupportedVersion(fine), fine);
        }
    }
}
