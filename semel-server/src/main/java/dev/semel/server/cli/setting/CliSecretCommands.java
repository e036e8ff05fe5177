package dev.semel.server.cli.setting;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.ShellQuoting;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The commands of `semel secret` that settings do not have: set and list credentials. */
public final class CliSecretCommands {
    private CliSecretCommands() {}

    @Command(
            name = "set",
            description =
                    "Stores a secret value, typed without echo or read from stdin. The value is never an argument,"
                            + " because other users of this machine could see it.",
            footer = {
                "  semel secret set smtp_password            prompts for it, without echo",
                "  semel secret set stripe --host api.stripe.com < stripe.txt"
            })
    public static final class SecretSetCommand extends CliApiCommand {
        @Parameters(paramLabel = "NAME", description = "Name of the secret: 1 to 64 letters, digits, dots, _ and -.")
        String name = "";

        @Option(
                names = "--host",
                paramLabel = "HOST",
                description =
                        "A host, or host:port, that may receive the secret; repeatable. Default: as before, for a new"
                                + " secret every host.")
        List<String> hosts = new ArrayList<>();

        @Option(names = "--any-host", description = "Every host may receive the secret.")
        boolean anyHost;

        @Override
        public Integer call() {
            if (anyHost && !hosts.isEmpty()) {
                throw CliCommandException.create(
                        ExitCode.USAGE,
                        "invalid-data",
                        "--host and --any-host exclude each other. Nothing was stored.",
                        "Use one of them.");
            }
            ObjectNode document = TerminalJsonFormatter.newObject().put("value", value());
            if (anyHost || !hosts.isEmpty()) {
                hosts.forEach(document.putArray("hosts")::add);
            }
            String body = TerminalJsonFormatter.compactForRequest(document);
            JsonNode answer = send(CliApiRequest.put("v1", "secrets", name).withJson(body));
            return print(
                    answer,
                    "secret " + TerminalJsonFormatter.text(answer, "name") + " v"
                            + TerminalJsonFormatter.text(answer, "version") + "  fingerprint "
                            + TerminalJsonFormatter.text(answer, "fingerprint"));
        }

        private String value() {
            try {
                String value = environment().readHidden("value of " + TerminalJsonFormatter.sanitize(name) + ": ");
                if (!value.isEmpty()) {
                    return value;
                }
            } catch (IOException broken) {
                throw CliCommandException.create(
                        ExitCode.USAGE,
                        "invalid-data",
                        "The value could not be read. Nothing was stored.",
                        "Try again.");
            }
            throw CliCommandException.create(
                    ExitCode.USAGE,
                    "invalid-data",
                    "The value is empty. Nothing was stored.",
                    "Type the value at the prompt, or pass it on stdin: semel secret set " + ShellQuoting.quote(name)
                            + " < FILE");
        }
    }

    public static final CliListDefinition LIST = CliListDefinition.of(
                    CliApiRequest.get("v1", "secrets"), "secret list", "no secrets. Store one: semel secret set NAME")
            .addText("SECRET", "name")
            .addText("VERSION", "version")
            .addText("FINGERPRINT", "fingerprint")
            .addText("KEY", "key")
            .addTexts("HOSTS", "hosts", " ")
            .addTime("CHANGED", "changed_at")
            .addText("BY", "changed_by");
}
