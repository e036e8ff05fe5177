package dev.semel.server.cli;

import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** The commands of `semel secret` that settings do not have: set and list credentials. */
final class SecretCommands {
    private SecretCommands() {}

    @Command(
            name = "set",
            description = "Stores a value, typed without echo or read from stdin. It is never an argument, which"
                    + " others see.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  semel secret set smtp_password            prompts for it, without echo",
                "  semel secret set stripe < stripe.txt"
            })
    static final class SecretSetCommand extends ApiCommand {
        @Parameters(paramLabel = "NAME", description = "1 to 64 letters, digits, dots, _ and -.")
        String name = "";

        SecretSetCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            String body =
                    TerminalJson.compactForRequest(TerminalJson.newObject().put("value", value()));
            JsonNode answer = send(ApiRequest.put(ApiRequest.path("v1", "secrets", name), "application/json", body));
            return print(
                    answer,
                    "secret " + TerminalJson.text(answer, "name") + " v" + TerminalJson.text(answer, "version")
                            + "  fingerprint " + TerminalJson.text(answer, "fingerprint"));
        }

        private String value() {
            try {
                String value = environment.readHidden("value of " + TerminalJson.sanitize(name) + ": ");
                if (!value.isEmpty()) {
                    return value;
                }
            } catch (IOException broken) {
                throw CommandFailure.create(
                        ExitCode.USAGE,
                        "invalid-data",
                        "The value could not be read. Nothing was stored.",
                        "Try again.");
            }
            throw CommandFailure.create(
                    ExitCode.USAGE,
                    "invalid-data",
                    "The value is empty. Nothing was stored.",
                    "Type it at the prompt, or pass it on stdin: semel secret set " + ShellQuoting.quote(name)
                            + " < FILE");
        }
    }

    static final ListDefinition LIST = ListDefinition.of(
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
