package dev.semel.server.cli;

import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The commands of `semel token`: create, list and revoke API tokens. */
final class TokenCommands {
    private TokenCommands() {}

    @Command(
            name = "create",
            description = "Creates a token and prints it to stdout, only once.",
            footerHeading = "%nExample:%n",
            footer =
                    "  semel token create --workspace default --scope trigger,read --name shop --quota 600 > token.txt")
    static final class TokenCreateCommand extends ApiCommand {
        @Option(names = "--workspace", required = true, paramLabel = "W", description = "Workspace of the token.")
        String workspace = "";

        @Option(
                names = "--scope",
                required = true,
                split = ",",
                paramLabel = "SCOPE",
                description = "Scopes: trigger, read, operate, review, admin.")
        List<String> scopes = List.of();

        @Option(names = "--name", paramLabel = "NAME", description = "Name of its user or program.")
        String name = "";

        @Option(
                names = "--quota",
                paramLabel = "N",
                description = "New triggers per minute; Replayed requests have a quota of ten times as many."
                        + " Default: none.")
        int quota;

        TokenCreateCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            ObjectNode body = TerminalJson.newObject().put("workspace", workspace);
            ArrayNode list = body.putArray("scopes");
            scopes.forEach(scope -> list.add(scope.strip()));
            if (!name.isEmpty()) {
                body.put("name", name);
            }
            if (quota != 0) {
                body.put("quota_per_minute", quota);
            }
            ApiResponse answer =
                    connection.api().send(ApiRequest.post(ApiRequest.path("v1", "tokens"), TerminalJson.compact(body)));
            if (output.json) {
                output.printJson(answer.body());
            } else {
                output.printLine(TerminalJson.text(answer.body(), "token"));
                output.printMessage(TerminalJson.text(answer.body(), "token_id")
                        + " created. The token is shown only now and stored only as a hash;"
                        + " put it where only its user can read it.");
            }
            return ExitCode.OK;
        }
    }

    @Command(name = "list", description = "Lists tokens, never the secrets.")
    static final class TokenListCommand extends ListCommand {
        TokenListCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        ListDefinition listDefinition() {
            return ListDefinition.of(
                            ApiRequest.get(ApiRequest.path("v1", "tokens")),
                            "token list",
                            "no tokens. Create one: semel token create --workspace default --scope trigger")
                    .addText("TOKEN", "token_id")
                    .addText("NAME", "name")
                    .addText("WORKSPACE", "workspace")
                    .addTexts("SCOPES", "scopes", ",")
                    .addTime("CREATED", "created_at")
                    .addTime("REVOKED", "revoked_at");
        }
    }

    @Command(name = "revoke", description = "Revokes a token at once.")
    static final class TokenRevokeCommand extends ApiCommand {
        @Parameters(paramLabel = "ID", description = "Id of the token, as `semel token list` shows it; not the token.")
        String id = "";

        TokenRevokeCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            JsonNode response = send(ApiRequest.delete(ApiRequest.path("v1", "tokens", id)));
            return print(
                    response.isEmpty()
                            ? TerminalJson.newObject().put("token_id", id).put("revoked", true)
                            : response,
                    TerminalJson.sanitize(id) + " revoked");
        }
    }
}
