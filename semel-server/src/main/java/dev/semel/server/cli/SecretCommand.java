package dev.semel.server.cli;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** `semel secret`: stores, lists and deletes credentials. */
@Command(
        name = "secret",
        description = "Stores credentials for steps and channels; never shows them again.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel secret set smtp_password            prompts for it, without echo",
            "  semel secret set stripe < stripe.txt",
            "  semel secret list"
        })
final class SecretCommand implements Callable<Integer> {
    private static final SettingCommand.Sort SORT = new SettingCommand.Sort("secret", "secrets", "name", "");

    @Spec
    @Nullable
    CommandSpec spec;

    static CommandLine commandLine(Surroundings environment) {
        return new CommandLine(new SecretCommand())
                .addSubcommand(new Set(environment))
                .addSubcommand(new All(environment))
                .addSubcommand(new SettingCommand.Delete(environment, SORT));
    }

    @Override
    public Integer call() {
        if (spec == null) {
            throw new IllegalStateException("not wired");
        }
        throw new ParameterException(spec.commandLine(), "Missing subcommand: semel secret set, list or delete.");
    }

    @Command(
            name = "set",
            description =
                    "Stores a value, typed without echo or read from stdin. It is never an argument, which"
                            + " others see.")
    static final class Set implements Callable<Integer> {
        private final Surroundings environment;

        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME", description = "1 to 64 letters, digits, dots, _ and -.")
        String name = "";

        Set(Surroundings environment) {
            this.environment = environment;
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            String body = Json.compactUnprinted(Json.object().put("value", value()));
            Answer answer = connection.api().ask(Call.put(Call.path("v1", "secrets", name), "application/json", body));
            if (output.json) {
                output.document(answer.body());
            } else {
                output.line("secret " + Json.text(answer.body(), "name") + " v" + Json.text(answer.body(), "version")
                        + "  fingerprint " + Json.text(answer.body(), "fingerprint"));
            }
            return Exit.DONE;
        }

        private String value() {
            try {
                String value = environment.hidden("value of " + Json.clean(name) + ": ");
                if (!value.isEmpty()) {
                    return value;
                }
            } catch (IOException broken) {
                throw Failure.here(
                        Exit.USAGE, "invalid-data", "The value could not be read. Nothing was stored.", "Try again.");
            }
            throw Failure.here(
                    Exit.USAGE,
                    "invalid-data",
                    "The value is empty. Nothing was stored.",
                    "Type it at the prompt, or pass it on stdin: semel secret set " + Shell.word(name) + " < FILE");
        }
    }

    @Command(name = "list", description = "Lists secrets, never their values.")
    static final class All extends ListCommand {
        All(Surroundings environment) {
            super(environment);
        }

        @Override
        Sheet sheet() {
            return Sheet.of(
                            Call.get(Call.path("v1", "secrets")),
                            "secret list",
                            "no secrets. Store one: semel secret set NAME")
                    .text("SECRET", "name")
                    .text("VERSION", "version")
                    .text("FINGERPRINT", "fingerprint")
                    .text("KEY", "key")
                    .time("CHANGED", "changed_at")
                    .text("BY", "changed_by");
        }
    }
}
