package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The first start of a server, halted between the file with its first token and the store's knowledge of it. */
@Tag("trial")
class FirstTokenTest {
    @TempDir
    Path folder;

    @Test
    void sqlite_accepts_the_token_file_after_a_crash_in_the_first_start() throws Exception {
        Path file = folder.resolve("semel.db");
        trial("sqlite:" + file, "jdbc:sqlite:" + file);
    }

    @Test
    void postgres_accepts_the_token_file_after_a_crash_in_the_first_start() throws Exception {
        String url = RealPostgres.url(RealPostgres.newDatabase());
        trial(url, url);
    }

    private void trial(String store, String jdbc) throws Exception {
        assertEquals(CrashChild.HALTED, serve(store, "first-token"), "the point was never hit");
        String useless = token();
        assertEquals(List.of(), hashes(jdbc), "a token that may not be in the file must not be in the store");
        assertEquals(ServeChild.STARTED, serve(store, "none"));
        assertNotEquals(useless, token());
        assertEquals(List.of(hash(token())), hashes(jdbc));
        String usable = token();
        assertEquals(ServeChild.STARTED, serve(store, "first-token"), "there is a first token only once");
        assertEquals(usable, token());
    }

    private int serve(String store, String label) {
        try (CrashableProcess crashable =
                CrashableProcess.start(folder, ServeChild.class, folder.toString(), store, label)) {
            int exit = crashable.exit();
            if (exit != CrashChild.HALTED && exit != ServeChild.STARTED) {
                throw new AssertionError("the server ended with " + exit + ": " + crashable.talk());
            }
            return exit;
        }
    }

    private String token() throws IOException {
        return Files.readString(folder.resolve("admin-token"), StandardCharsets.UTF_8)
                .strip();
    }

    private static String hash(String token) throws Exception {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
        return HexFormat.of().formatHex(digest);
    }

    private static List<String> hashes(String jdbc) throws Exception {
        List<String> hashes = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(jdbc);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT hash FROM semel_token")) {
            while (row.next()) {
                hashes.add(HexFormat.of().formatHex(row.getBytes(1)));
            }
        }
        return hashes;
    }
}
