package dev.semel.server;

import dev.semel.server.auth.People;
import dev.semel.server.auth.Role;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** The link that sets up the first administrator; printed and stored in a file while no user exists. */
record SetUpLink(People people, int ws, Path file) {
    /** Prints the link of the last start again while it is valid, else a new one. */
    void tell(String url, PrintStream err) {
        if (!people.nobodyYet(ws)) {
            return;
        }
        try {
            String stored = Files.exists(file) ? Files.readString(file).strip() : "";
            String token = stored.substring(stored.lastIndexOf('=') + 1);
            if (people.invitations().find(token) == null) {
                token = people.invitations().make(ws, Role.ADMIN, true, "");
            }
            String link = url + "/setup?token=" + token;
            OwnFile.write(file, link);
            err.println("  Set up the first log-in: " + link + " (also in " + file + ")");
        } catch (IOException e) {
            err.println(
                    "  The link that sets up the first log-in could not be written to " + file + ": " + e.getMessage());
        }
    }
}
