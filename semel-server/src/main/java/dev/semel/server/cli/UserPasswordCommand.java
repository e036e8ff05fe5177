package dev.semel.server.cli;

import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** `semel user password`: changes a user's password, given the old one. */
@Command(
        name = "password",
        description =
                "Changes a user's password, given the old one, and ends the user's sessions. Type both at the prompt,"
                        + " or pass them on stdin, the old one in the first line. A password is never an argument.")
final class UserPasswordCommand extends ApiCommand {
    @Parameters(paramLabel = "NAME")
    String name = "";

    UserPasswordCommand(CommandEnvironment environment) {
        super(environment);
    }

    private record PasswordInput(String oldPassword, String newPassword) {}

    @Override
    public Integer call() {
        PasswordInput typed = typed();
        String body = TerminalJson.compactForRequest(
                TerminalJson.newObject().put("old", typed.oldPassword()).put("new", typed.newPassword()));
        ApiResponse answer =
                connection.api().send(ApiRequest.post(ApiRequest.path("v1", "users", name, "password"), body));
        if (output.json) {
            output.printJson(answer.body());
        } else {
            output.printLine(TerminalJson.sanitize(name) + " has a new password; all sessions have ended");
        }
        return ExitCode.OK;
    }

    private PasswordInput typed() {
        try {
            String first = environment.readHidden("password of " + TerminalJson.sanitize(name) + ": ");
            int line = first.indexOf('\n');
            if (line >= 0) {
                return checked(
                        new PasswordInput(first.substring(0, line).replaceFirst("\r$", ""), first.substring(line + 1)));
            }
            String fresh = environment.readHidden("new password: ");
            if (!fresh.isEmpty() && !fresh.equals(environment.readHidden("new password again: "))) {
                throw wrong("The two new passwords differ.");
            }
            return checked(new PasswordInput(first, fresh));
        } catch (IOException broken) {
            throw wrong("The passwords could not be read.");
        }
    }

    private static PasswordInput checked(PasswordInput typed) {
        if (typed.oldPassword().isEmpty() || typed.newPassword().isEmpty()) {
            throw wrong("A password is missing.");
        }
        return typed;
    }

    private static CommandFailure wrong(String what) {
        return CommandFailure.create(
                ExitCode.USAGE,
                "invalid-data",
                what + " Nothing was changed.",
                "Type both at the prompt, or pass them on stdin, one per line: semel user password NAME < FILE");
    }
}
