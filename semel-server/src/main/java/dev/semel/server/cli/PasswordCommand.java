package dev.semel.server.cli;

import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** `people password`: another password for whoever knows the one they have. */
@Command(
        name = "password",
        description =
                "Changes a password, for whoever knows it; their sessions end. Both are typed without echo, or read"
                    + " from stdin, the old one in the first line and the new one in the second; never an argument.")
final class PasswordCommand implements Callable<Integer> {
    private final Surroundings around;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(paramLabel = "NAME")
    String name = "";

    PasswordCommand(Surroundings around) {
        this.around = around;
        this.output = new Output(around);
        this.connection = new Connection(around);
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
            output.line(Json.clean(name) + " has another password and is logged out everywhere");
        }
        return Exit.DONE;
    }

    private Typed typed() {
        try {
            String first = around.hidden("password of " + Json.clean(name) + ": ");
            int line = first.indexOf('\n');
            if (line >= 0) {
                return checked(new Typed(first.substring(0, line).replaceFirst("\r$", ""), first.substring(line + 1)));
            }
            String fresh = around.hidden("new password: ");
            if (!fresh.isEmpty() && !fresh.equals(around.hidden("new password again: "))) {
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
                "Type both when asked, or pass them in, one in a line: semel people password NAME < FILE");
    }
}
