package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.SemelServer;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.store.StoreFailure;
import dev.semel.trials.support.LiveServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The first admin token: in its file before it is in the store, so that nobody is locked out of a store with tokens. */
class FirstTokenTest {
    @TempDir
    Path folder;

    private Path database;

    @BeforeEach
    void place() {
        database = folder.resolve("semel.db");
    }

    private String store() {
        return "sqlite:" + database;
    }

    private String refusedWith(Path data) {
        ServerOptions options = new ServerOptions(false, false, "127.0.0.1", 0, data, store(), null);
        return String.valueOf(assertThrows(StoreFailure.class, () -> SemelServer.start(options))
                .getMessage());
    }

    private long tokens() throws SQLException {
        try (var connection = DriverManager.getConnection("jdbc:sqlite:" + database);
                var statement = connection.createStatement();
                var row = statement.executeQuery("SELECT count(*) FROM semel_token")) {
            row.next();
            return row.getLong(1);
        }
    }

    @Test
    void a_data_folder_that_is_a_file_stops_the_start_and_creates_no_token() throws Exception {
        Path taken = Files.createFile(folder.resolve("taken"));
        String message = refusedWith(taken);
        assertTrue(message.contains("No token was created"), message);
        assertTrue(message.contains("--data"), message);
        assertEquals(0, tokens());
        assertTheNextStartMakesOne();
    }

    @Test
    void an_unreplaceable_token_file_stops_the_start_and_creates_no_token() throws Exception {
        Path data = Files.createDirectories(folder.resolve("data"));
        Files.createDirectories(data.resolve("admin-token").resolve("in the way"));
        assertTrue(refusedWith(data).contains("No token was created"));
        assertEquals(0, tokens());
        assertTheNextStartMakesOne();
    }

    /** A start that could not write must not have left tokens, or this one would believe that somebody has one. */
    private void assertTheNextStartMakesOne() throws Exception {
        Path good = folder.resolve("good");
        try (LiveServer server = LiveServer.first(store(), good, _ -> {})) {
            server.admin().get("/v1/tokens").expect(200);
        }
        assertEquals(1, tokens());
    }

    @Test
    void a_token_file_left_by_a_crash_is_replaced_and_readable_by_its_owner_only() throws IOException {
        Path data = Files.createDirectories(folder.resolve("data"));
        Path file = data.resolve("admin-token");
        Files.writeString(file, "semel_of_a_start_that_crashed\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        try (LiveServer server = LiveServer.first(store(), data, _ -> {})) {
            assertNotEquals("semel_of_a_start_that_crashed", server.adminToken());
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
            server.admin().get("/v1/tokens").expect(200);
            server.as("semel_of_a_start_that_crashed").get("/v1/tokens").expect(401);
        }
        String written = Files.readString(file);
        try (LiveServer again = LiveServer.first(store(), data, _ -> {})) {
            assertEquals(written.strip(), again.adminToken(), "a store with tokens gets no other one");
            again.admin().get("/v1/tokens").expect(200);
        }
        assertFalse(written.isBlank());
    }
}
