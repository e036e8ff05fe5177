package dev.semel.server.cli.access;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

public final class CliTokenCommands {
    private CliTokenCommands() {}

    @Command(
            name = "create",
            description = "Creates a token and prints it to stdout. No command shows it again.",
            footer =
                    "  semel token create --workspace default --scope trigger,read --name shop --quota 600 > token.txt")
    public static final class TokenCreateCommand extends CliApiCommand {
        @Option(names = "--workspace", required = true, paramLabel = "W", description = "Workspace of the token.")
        String workspace = "";

        @Option(
                names = "--scope",
                required = true,
                split = ",",
                paramLabel = "SCOPE",
                description =
                        "Scopes: trigger, read, operate, review, admin, server. Only a token with scope server can"
                                + " give server.")
        List<String> scopes = List.of();

        @Option(names = "--name", paramLabel = "NAME", description = "Name of the user or program that gets the token.")
        String name = "";

        @Option(
                names = "--quota",
                paramLabel = "N",
                description = "Maximum number of new triggers per minute. Duplicate requests have a separate quota, ten"
                        + " times as large. Default: no quota.")
        int quota;

        @Override
        public Integer call() {
            ObjectNode body = TerminalJsonFormatter.newObject().put("workspace", workspace);
            scopes.stream().map(String::strip).forEach(body.putArray("scopes")::add);
            TerminalJsonFormatter.putText(body, "name", name);
            if (quota != 0) {
                body.put("quota_per_minute", quota);
            }
            JsonNode created = send(CliApiRequest.post("v1", "tokens").withJson(body));
            return output.print(created, () -> {
                output.printLine(TerminalJsonFormatter.text(created, "token"));
                output.printMessage(TerminalJsonFormatter.text(created, "token_id")
                        + " created. The token is shown only now and stored only as a hash;"
                        + " put it where only its user can read it.");
            });
        }
    }

    public static final CliListDefinition LIST = CliListDefinition.of(
                    CliApiRequest.get("v1", "tokens"),
                    "token list",
                    "no tokens. Create one: semel token create --workspace default --scope trigger")
            .addText("TOKEN", "token_id")
            .addText("NAME", "name")
            .addText("WORKSPACE", "workspace")
            .addTexts("SCOPES", "scopes", ",")
            .addTime("CREATED", "created_at")
            .addTime("REVOKED", "revoked_at");

    @Command(name = "revoke", description = "Revokes a token at once.")
    public static final class TokenRevokeCommand extends CliApiCommand {
        @Parameters(
                paramLabel = "ID",
                description = "Id of the token, as `semel token list` shows it. Not the secret token.")
        String id = "";

        @Override
        public Integer call() {
            JsonNode response = send(CliApiRequest.delete("v1", "tokens", id));
            return print(
                    response.isEmpty()
                            ? TerminalJsonFormatter.newObject()
                                    .put("token_id", id)
                                    .put("revoked", true)
                            : response,
                    TerminalJsonFormatter.sanitize(id) + " revoked");
        }
    }
}
