package dev.semel.server;

import dev.semel.server.access.UserAccountStore;
import dev.semel.server.access.UserRole;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** The link that sets up the first administrator; printed and stored in a file while no user exists. */
record FirstAdminSetupLink(UserAccountStore users, int ws, Path file) {
    /** Prints the link of the last start again while it is valid, else a new one. */
    void print(String url, PrintStream err) {
        if (!users.hasNoUsers(ws)) {
            return;
        }
        try {
            String stored = Files.exists(file) ? Files.readString(file).strip() : "";
            String token = stored.substring(stored.lastIndexOf('=') + 1);
            if (users.invitations().find(token) == null) {
                token = users.invitations().create(ws, UserRole.ADMIN, true, "");
            }
            String link = url + "/setup?token=" + token;
            OwnerOnlyFileWriter.write(file, link);
            err.println("  Set up the first log-in: " + link + " (also in " + file + ")");
        } catch (IOException e) {
            err.println(
                    "  The link that sets up the first log-in could not be written to " + file + ": " + e.getMessage());
        }
    }
}
