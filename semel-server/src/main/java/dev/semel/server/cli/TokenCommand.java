package dev.semel.server.cli;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** `semel token`: creates, lists and revokes API tokens. */
@Command(
        name = "token",
        description = "Creates, lists and revokes API tokens.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel token create --workspace default --scope trigger,read --name shop --quota 600 > token.txt",
            "  semel token list",
            "  semel token revoke tok_7Hq"
        })
final class TokenCommand implements Callable<Integer> {
    @Spec
    @Nullable
    CommandSpec spec;

    static CommandLine commandLine(CommandEnvironment environment) {
        return new CommandLine(new TokenCommand())
                .addSubcommand(new TokenCreateCommand(environment))
                .addSubcommand(new TokenListCommand(environment))
                .addSubcommand(new TokenRevokeCommand(environment));
    }

    @Override
    public Integer call() {
        if (spec == null) {
            throw new IllegalStateException("not wired");
        }
        throw new ParameterException(spec.commandLine(), "Missing subcommand: semel token create, list or revoke.");
    }

    @Command(name = "create", description = "Creates a token and prints it to stdout, only once.")
    static final class TokenCreateCommand implements Callable<Integer> {
        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

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
                description =
                        "New triggers per minute; Replayed requests have a quota of ten times as many."
                                + " Default: none.")
        int quota;

        TokenCreateCommand(CommandEnvironment environment) {
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
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
            ApiResponse answer = connection.api().send(ApiRequest.post(ApiRequest.path("v1", "tokens"), TerminalJson.compact(body)));
            if (output.json) {
                output.printJson(answer.body());
            } else {
                output.printLine(TerminalJson.text(answer.body(), "token"));
                output.printMessage(
                        TerminalJson.text(answer.body(), "token_id") + " created. The token is shown only now and stored only as a hash;"
                                + " put it where only its user can read it.");
            }
            return ExitCode.OK;
        }
    }

    @Command(name = "list", description = "Lists tokens, never the secrets.")
    static final class TokenListCommand implements Callable<Integer> {
        private final CommandEnvironment environment;

        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

        TokenListCommand(CommandEnvironment environment) {
            this.environment = environment;
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            ApiResponse answer = connection.api().send(ApiRequest.get(ApiRequest.path("v1", "tokens")));
            if (output.json) {
                output.printJson(answer.body());
                return ExitCode.OK;
            }
            Instant now = answer.date().orElse(environment.clock().instant());
            TextTable table = new TextTable("TOKEN", "NAME", "WORKSPACE", "SCOPES", "CREATED", "REVOKED");
            for (JsonNode token : answer.body().path("items")) {
                table.addRow(
                        TerminalJson.text(token, "token_id"),
                        TerminalJson.text(token, "name"),
                        TerminalJson.text(token, "workspace"),
                        scopes(token),
                        PagingOptions.formatTime(output, token, "created_at", now),
                        PagingOptions.formatTime(output, token, "revoked_at", now));
            }
            if (!answer.body().path("items").isEmpty()) {
                table.print(output);
            }
            PagingOptions.printFooter(
                    output,
                    answer.body(),
                    "token list",
                    "no tokens. Create one: semel token create --workspace default --scope trigger");
            return ExitCode.OK;
        }

        private static String scopes(JsonNode token) {
            List<String> names = new java.util.ArrayList<>();
            token.path("scopes").forEach(scope -> names.add(TerminalJson.sanitize(scope.asString(""))));
            return String.join(",", names);
        }
    }

    @Command(name = "revoke", description = "Revokes a token at once.")
    static final class TokenRevokeCommand implements Callable<Integer> {
        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

        @Parameters(paramLabel = "ID", description = "Id of the token, as `semel token list` shows it; not the token.")
        String id = "";

        TokenRevokeCommand(CommandEnvironment environment) {
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            ApiResponse answer = connection.api().send(ApiRequest.delete(ApiRequest.path("v1", "tokens", id)));
            if (output.json) {
                output.printJson(
                        answer.body().isEmpty()
                                ? TerminalJson.newObject().put("token_id", id).put("revoked", true)
                                : answer.body());
            } else {
                output.printLine(TerminalJson.sanitize(id) + " revoked");
            }
            return ExitCode.OK;
        }
    }
}
