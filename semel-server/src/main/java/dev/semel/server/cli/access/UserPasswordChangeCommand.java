package dev.semel.server.cli.access;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "password",
        description = "Changes a user's password and ends the user's sessions. Type the old and the new password at the"
                + " prompt. Or pass them on stdin, the old password in the first line. A password is never an"
                + " argument.")
public final class UserPasswordChangeCommand extends CliApiCommand {
    @Parameters(paramLabel = "NAME")
    String name = "";

    private record PasswordInput(String oldPassword, String newPassword) {
        PasswordInput {
            if (oldPassword.isEmpty() || newPassword.isEmpty()) {
                throw wrong("A password is missing.");
            }
        }
    }

    @Override
    public Integer call() {
        PasswordInput typed = typed();
        ObjectNode body = TerminalJsonFormatter.newObject()
                .put("old", typed.oldPassword())
                .put("new", typed.newPassword());
        JsonNode answer =
                send(CliApiRequest.post("v1", "users", name, "password").withJson(body));
        return print(answer, TerminalJsonFormatter.sanitize(name) + " has a new password; all sessions have ended");
    }

    private PasswordInput typed() {
        try {
            String first = environment().readHidden("password of " + TerminalJsonFormatter.sanitize(name) + ": ");
            int line = first.indexOf('\n');
            if (line >= 0) {
                return new PasswordInput(first.substring(0, line).replaceFirst("\r$", ""), first.substring(line + 1));
            }
            String fresh = environment().readHidden("new password: ");
            if (!fresh.isEmpty() && !fresh.equals(environment().readHidden("new password again: "))) {
                throw wrong("The two new passwords differ.");
            }
            return new PasswordInput(first, fresh);
        } catch (IOException broken) {
            throw wrong("The passwords could not be read.");
        }
    }

    private static CliCommandException wrong(String what) {
        return CliCommandException.create(
                ExitCode.USAGE,
                "invalid-data",
                what + " Nothing was changed.",
                "Type both passwords at the prompt, or pass them on stdin, one per line: semel user password NAME <"
                        + " FILE");
    }
}
