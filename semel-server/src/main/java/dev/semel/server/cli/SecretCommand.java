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
    private static final SettingCommand.SettingResource SORT = new SettingCommand.SettingResource("secret", "secrets", "name", "");

    @Spec
    @Nullable
    CommandSpec spec;

    static CommandLine commandLine(CommandEnvironment environment) {
        return new CommandLine(new SecretCommand())
                .addSubcommand(new SecretSetCommand(environment))
                .addSubcommand(new SecretListCommand(environment))
                .addSubcommand(new SettingCommand.SettingDeleteCommand(environment, SORT));
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
    static final class SecretSetCommand implements Callable<Integer> {
        private final CommandEnvironment environment;

        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

        @Parameters(paramLabel = "NAME", description = "1 to 64 letters, digits, dots, _ and -.")
        String name = "";

        SecretSetCommand(CommandEnvironment environment) {
            this.environment = environment;
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            String body = TerminalJson.compactForRequest(TerminalJson.newObject().put("value", value()));
            ApiResponse answer = connection.api().send(ApiRequest.put(ApiRequest.path("v1", "secrets", name), "application/json", body));
            if (output.json) {
                output.printJson(answer.body());
            } else {
                output.printLine("secret " + TerminalJson.text(answer.body(), "name") + " v" + TerminalJson.text(answer.body(), "version")
                        + "  fingerprint " + TerminalJson.text(answer.body(), "fingerprint"));
            }
            return ExitCode.OK;
        }

        private String value() {
            try {
                String value = environment.readHidden("value of " + TerminalJson.sanitize(name) + ": ");
                if (!value.isEmpty()) {
                    return value;
                }
            } catch (IOException broken) {
                throw CommandFailure.create(
                        ExitCode.USAGE, "invalid-data", "The value could not be read. Nothing was stored.", "Try again.");
            }
            throw CommandFailure.create(
                    ExitCode.USAGE,
                    "invalid-data",
                    "The value is empty. Nothing was stored.",
                    "Type it at the prompt, or pass it on stdin: semel secret set " + ShellQuoting.quote(name) + " < FILE");
        }
    }

    @Command(name = "list", description = "Lists secrets, never their values.")
    static final class SecretListCommand extends ListCommand {
        SecretListCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        ListDefinition listDefinition() {
            return ListDefinition.of(
                            ApiRequest.get(ApiRequest.path("v1", "secrets")),
                            "secret list",
                            "no secrets. Store one: semel secret set NAME")
                    .addText("SECRET", "name")
                    .addText("VERSION", "version")
                    .addText("FINGERPRINT", "fingerprint")
                    .addText("KEY", "key")
                    .addTime("CHANGED", "changed_at")
                    .addText("BY", "changed_by");
        }
    }
}
