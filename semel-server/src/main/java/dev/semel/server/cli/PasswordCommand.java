package dev.semel.server.cli;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** `semel people password`: changes a user's password, given the old one. */
@Command(
        name = "password",
        description =
                "Changes a user's password, given the old one, and ends the user's sessions. Type both at the prompt,"
                    + " or pass them on stdin, the old one in the first line. A password is never an argument.")
final class PasswordCommand implements Callable<Integer> {
    private final Surroundings environment;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(paramLabel = "NAME")
    String name = "";

    PasswordCommand(Surroundings environment) {
        this.environment = environment;
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    private record Typed(String old, String fresh) {}

    @Override
    public Integer call() {
        Typed typed = typed();
        String body =
                Json.compactUnprinted(Json.object().put("old", typed.old()).put("new", typed.fresh()));
        Answer answer = connection.api().ask(Call.post(Call.path("v1", "people", name, "password"), body));
        if (output.json) {
            output.document(answer.body());
        } else {
            output.line(Json.clean(name) + " has a new password; all sessions have ended");
        }
        return Exit.DONE;
    }

    private Typed typed() {
        try {
            String first = environment.hidden("password of " + Json.clean(name) + ": ");
            int line = first.indexOf('\n');
            if (line >= 0) {
                return checked(new Typed(first.substring(0, line).replaceFirst("\r$", ""), first.substring(line + 1)));
            }
            String fresh = environment.hidden("new password: ");
            if (!fresh.isEmpty() && !fresh.equals(environment.hidden("new password again: "))) {
                throw wrong("The two new passwords differ.");
            }
            return checked(new Typed(first, fresh));
        } catch (IOException broken) {
            throw wrong("The passwords could not be read.");
        }
    }

    private static Typed checked(Typed typed) {
        if (typed.old().isEmpty() || typed.fresh().isEmpty()) {
            throw wrong("A password is missing.");
        }
        return typed;
    }

    private static Failure wrong(String what) {
        return Failure.here(
                Exit.USAGE,
                "invalid-data",
                what + " Nothing was changed.",
                "Type both at the prompt, or pass them on stdin, one per line: semel people password NAME < FILE");
    }
}
