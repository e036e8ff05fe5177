package dev.semel.server.cli.idempotency;

import dev.semel.server.cli.command.CliApiClient;
import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliApiResponse;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.CliPayloadArgumentReader;
import dev.semel.server.cli.command.ShellQuoting;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

public abstract sealed class IdempotencyKeyCommand extends CliApiCommand {
    @Parameters(paramLabel = "KEY", description = "The key, as it was sent.")
    String key = "";

    @Option(
            names = "--workflow",
            paramLabel = "W",
            description = "Name of the workflow, if several workflows use the key.")
    String workflow = "";

    final CliApiRequest actionCall(String action, ObjectNode body) {
        return CliApiRequest.post("v1", "keys", key, action).withJson(body).withQuery("workflow", workflow);
    }

    @Command(
            name = "show",
            description = "Shows the history of a key, and what a repeat would return.",
            footer = "  semel key show evt_1OtV4z2eZvKYlo2C3BXGKQ8")
    public static final class KeyShowCommand extends IdempotencyKeyCommand {
        @Override
        public Integer call() {
            CliApiClient api = connection.api();
            CliApiResponse answer =
                    api.send(CliApiRequest.get("v1", "keys", key).withQuery("workflow", workflow));
            return output.print(answer.body(), () -> {
                String run = TerminalJsonFormatter.text(answer.body(), "response_reference");
                JsonNode requests = extra(api, CliApiRequest.get("v1", "runs", run, "requests"), run)
                        .path("items");
                String status =
                        TerminalJsonFormatter.text(extra(api, CliApiRequest.get("v1", "runs", run), run), "status");
                new CliIdempotencyKeyHistoryPrinter(output, answer.body(), now(answer)).print(status, requests);
                output.suggestCommand(run.isEmpty() ? "semel runs" : "semel run show " + ShellQuoting.quote(run));
            });
        }

        /** Reads details that the report can do without. */
        private static JsonNode extra(CliApiClient api, CliApiRequest call, String run) {
            if (run.isEmpty()) {
                return TerminalJsonFormatter.newObject();
            }
            try {
                return api.send(call).body();
            } catch (CliCommandException missing) {
                return TerminalJsonFormatter.newObject();
            }
        }
    }

    @Command(
            name = "simulate",
            description = "Shows what a request with the key would get now, later or with other data. Changes nothing.",
            footer = "  semel key simulate evt_1OtV4z2eZvKYlo2C3BXGKQ8 --at 30h --data '{\"amount\": 5000}'")
    public static final class KeySimulateCommand extends IdempotencyKeyCommand {
        @Option(
                names = "--at",
                paramLabel = "WHEN",
                description = "When the request would come: a time, or a duration from now such as 30h. Default: now.")
        String at = "";

        @Option(
                names = "--data",
                paramLabel = "JSON",
                description = "Payload of the request: JSON, @FILE, or - for stdin.")
        @Nullable
        String data;

        @Override
        public Integer call() {
            ObjectNode body = TerminalJsonFormatter.newObject();
            if (!at.isEmpty()) {
                body.put(at.contains("T") ? "at" : "after", at);
            }
            if (data != null) {
                body.set("data", TerminalJsonFormatter.parse(CliPayloadArgumentReader.read(data, environment())));
            }
            JsonNode response = send(actionCall("simulate", body));
            return print(
                    response,
                    "If " + TerminalJsonFormatter.sanitize(key) + " is sent at "
                            + TerminalJsonFormatter.text(response, "at") + ": "
                            + TerminalJsonFormatter.text(response, "summary"));
        }
    }

    @Command(
            name = "extend",
            description = "Keeps a key active longer.",
            footer = "  semel key extend evt_1OtV4z2eZvKYlo2C3BXGKQ8 --for 48h --reason 'retries come late'")
    public static final class KeyExtendCommand extends IdempotencyKeyCommand {
        @Option(
                names = "--for",
                required = true,
                paramLabel = "LENGTH",
                description = "New window of the key, counted from now, e.g. 48h.")
        String length = "";

        @Option(names = "--reason", required = true, paramLabel = "TEXT", description = "Reason for the audit log.")
        String reason = "";

        @Override
        public Integer call() {
            if (reason.isBlank()) {
                throw usage(
                        "Extending a key needs --reason TEXT; the audit log stores the reason. Nothing was changed.");
            }
            ObjectNode body =
                    TerminalJsonFormatter.newObject().put("for", length).put("reason", reason);
            JsonNode response = send(actionCall("extend", body));
            return print(
                    response,
                    TerminalJsonFormatter.sanitize(key) + " is active until "
                            + TerminalJsonFormatter.text(response, "expires_at"));
        }
    }

    @Command(
            name = "release",
            description = "Releases a key: the next request with it starts a new run.",
            footer = {
                "  semel key release evt_1OtV4z2eZvKYlo2C3BXGKQ8 --dry-run",
                "  semel key release evt_1OtV4z2eZvKYlo2C3BXGKQ8 --reason 'customer asked for a second receipt'"
            })
    public static final class KeyReleaseCommand extends IdempotencyKeyCommand {
        @Option(names = "--reason", paramLabel = "TEXT", description = "Reason for the audit log.")
        String reason = "";

        @Option(names = "--dry-run", description = "Only list the effects that could happen twice. Changes nothing.")
        boolean dryRun;

        @Override
        public Integer call() {
            return dryRun ? listPossibleDuplicates() : release();
        }

        private int listPossibleDuplicates() {
            ObjectNode body = TerminalJsonFormatter.newObject().put("reason", reason.isBlank() ? "dry run" : reason);
            JsonNode response = send(actionCall("release", body).withFlag("dry_run", true));
            return output.print(response, () -> {
                output.printLine(TerminalJsonFormatter.text(response, "summary"));
                for (JsonNode effect : response.path("effects")) {
                    boolean twice = effect.path("could_duplicate").booleanValue();
                    output.printLine((twice ? "could happen twice: " : "cannot happen twice: ")
                            + TerminalJsonFormatter.text(effect, "step") + " ("
                            + TerminalJsonFormatter.text(effect, "reason") + ")");
                }
            });
        }

        private int release() {
            if (reason.isBlank()) {
                throw usage(
                        "Releasing a key needs --reason TEXT; the audit log stores the reason. Nothing was released.");
            }
            CliApiClient api = connection.api();
            JsonNode response = api.send(actionCall("release", releaseBody(api).put("reason", reason)))
                    .body();
            String shown = TerminalJsonFormatter.sanitize(key);
            int exit = print(
                    response,
                    shown
                            + (response.path("released").asBoolean(true)
                                    ? " released: the next request with it starts a new run"
                                    : " was not active any more; nothing was released"));
            output.suggestCommand("semel key show " + ShellQuoting.quote(shown));
            return exit;
        }

        /** Names the run, so that a repeated release cannot release the key of the next run. */
        private ObjectNode releaseBody(CliApiClient api) {
            JsonNode known;
            try {
                known = api.send(CliApiRequest.get("v1", "keys", key).withQuery("workflow", workflow))
                        .body();
            } catch (CliCommandException unreadable) {
                return TerminalJsonFormatter
                        .newObject(); // the token may lack the scope read; the release reports other errors
            }
            ObjectNode body = TerminalJsonFormatter.newObject();
            if (known.path("others").isEmpty()) {
                TerminalJsonFormatter.putText(body, "run_id", TerminalJsonFormatter.text(known, "response_reference"));
            }
            return body;
        }
    }
}
