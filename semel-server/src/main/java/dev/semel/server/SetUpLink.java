package dev.semel.server;

import dev.semel.server.auth.People;
import dev.semel.server.auth.Role;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** As long as nobody can log in: the link by which the first administrator is set up, shown and in a file. */
record SetUpLink(People people, int ws, Path file) {
    /** The link of the last start is told again as long as it is good. */
    void tell(String url, PrintStream talk) {
        if (!people.nobodyYet(ws)) {
            return;
        }
        try {
            String known = Files.exists(file) ? Files.readString(file).strip() : "";
            String token = known.substring(known.lastIndexOf('=') + 1);
            if (people.invitations().find(token) == null) {
                token = people.invitations().make(ws, Role.ADMIN, true, "");
            }
            String link = url + "/setup?token=" + token;
            OwnFile.write(file, link);
            talk.println("  Set up the first log-in: " + link + " (also in " + file + ")");
        } catch (IOException e) {
            talk.println(
                    "  The link that sets up the first log-in could not be written to " + file + ": " + e.getMessage());
        }
    }
}
