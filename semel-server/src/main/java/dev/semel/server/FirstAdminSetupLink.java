package dev.semel.server;

import dev.semel.server.access.Role;
import dev.semel.server.access.UserAccounts;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** The link that sets up the first administrator; printed and stored in a file while no user exists. */
record FirstAdminSetupLink(UserAccounts users, int ws, Path file) {
    /** Prints the link of the last start again while it is valid, else a new one. */
    void print(String url, PrintStream err) {
        if (!users.hasNoUsers(ws)) {
            return;
        }
        try {
            String stored = Files.exists(file) ? Files.readString(file).strip() : "";
            String token = stored.substring(stored.lastIndexOf('=') + 1);
            if (users.invitations().find(token) == null) {
                token = users.invitations().create(ws, Role.ADMIN, true, "");
            }
            String link = url + "/setup?token=" + token;
            OwnerOnlyFile.write(file, link);
            err.println("  Set up the first log-in: " + link + " (also in " + file + ")");
        } catch (IOException e) {
            err.println(
                    "  The link that sets up the first log-in could not be written to " + file + ": " + e.getMessage());
        }
    }
}
