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

    static CommandLine commandLine(Surroundings environment) {
        return new CommandLine(new TokenCommand())
                .addSubcommand(new Create(environment))
                .addSubcommand(new All(environment))
                .addSubcommand(new Revoke(environment));
    }

    @Override
    public Integer call() {
        if (spec == null) {
            throw new IllegalStateException("not wired");
        }
        throw new ParameterException(spec.commandLine(), "Missing subcommand: semel token create, list or revoke.");
    }

    @Command(name = "create", description = "Creates a token and prints it to stdout, only once.")
    static final class Create implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

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

        Create(Surroundings environment) {
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            ObjectNode body = Json.object().put("workspace", workspace);
            ArrayNode list = body.putArray("scopes");
            scopes.forEach(scope -> list.add(scope.strip()));
            if (!name.isEmpty()) {
                body.put("name", name);
            }
            if (quota != 0) {
                body.put("quota_per_minute", quota);
            }
            Answer answer = connection.api().ask(Call.post(Call.path("v1", "tokens"), Json.compact(body)));
            if (output.json) {
                output.document(answer.body());
            } else {
                output.line(Json.text(answer.body(), "token"));
                output.talk(
                        Json.text(answer.body(), "token_id") + " created. The token is shown only now and stored only as a hash;"
                                + " put it where only its user can read it.");
            }
            return Exit.DONE;
        }
    }

    @Command(name = "list", description = "Lists tokens, never the secrets.")
    static final class All implements Callable<Integer> {
        private final Surroundings environment;

        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        All(Surroundings environment) {
            this.environment = environment;
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            Answer answer = connection.api().ask(Call.get(Call.path("v1", "tokens")));
            if (output.json) {
                output.document(answer.body());
                return Exit.DONE;
            }
            Instant now = answer.date().orElse(environment.clock().instant());
            Table table = new Table("TOKEN", "NAME", "WORKSPACE", "SCOPES", "CREATED", "REVOKED");
            for (JsonNode token : answer.body().path("items")) {
                table.row(
                        Json.text(token, "token_id"),
                        Json.text(token, "name"),
                        Json.text(token, "workspace"),
                        scopes(token),
                        Listing.when(output, token, "created_at", now),
                        Listing.when(output, token, "revoked_at", now));
            }
            if (!answer.body().path("items").isEmpty()) {
                table.print(output);
            }
            Listing.end(
                    output,
                    answer.body(),
                    "token list",
                    "no tokens. Create one: semel token create --workspace default --scope trigger");
            return Exit.DONE;
        }

        private static String scopes(JsonNode token) {
            List<String> names = new java.util.ArrayList<>();
            token.path("scopes").forEach(scope -> names.add(Json.clean(scope.asString(""))));
            return String.join(",", names);
        }
    }

    @Command(name = "revoke", description = "Revokes a token at once.")
    static final class Revoke implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "ID", description = "Id of the token, as `semel token list` shows it; not the token.")
        String id = "";

        Revoke(Surroundings environment) {
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            Answer answer = connection.api().ask(Call.delete(Call.path("v1", "tokens", id)));
            if (output.json) {
                output.document(
                        answer.body().isEmpty()
                                ? Json.object().put("token_id", id).put("revoked", true)
                                : answer.body());
            } else {
                output.line(Json.clean(id) + " revoked");
            }
            return Exit.DONE;
        }
    }
}
