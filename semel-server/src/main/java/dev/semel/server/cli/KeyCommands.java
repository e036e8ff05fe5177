package dev.semel.server.cli;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The commands of `semel key` for one idempotency key: show, simulate, extend and release. */
abstract sealed class KeyCommands extends ApiCommand {
    @Parameters(paramLabel = "KEY", description = "The key, as it was sent.")
    String key = "";

    @Option(names = "--workflow", paramLabel = "W", description = "The workflow, if several use the key.")
    String workflow = "";

    KeyCommands(CommandEnvironment environment) {
        super(environment);
    }

    @Command(
            name = "show",
            description = "Shows the history of a key, and what a repeat would return.",
            footerHeading = "%nExample:%n",
            footer = "  semel key show evt_1OtV4z2eZvKYlo2C3BXGKQ8")
    static final class KeyShowCommand extends KeyCommands {
        KeyShowCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            ApiClient api = connection.api();
            ApiResponse answer =
                    api.send(ApiRequest.get(ApiRequest.path("v1", "keys", key)).withQuery("workflow", workflow));
            if (output.json) {
                return printJson(answer.body());
            }
            Instant now = now(answer);
            String run = TerminalJson.text(answer.body(), "response_reference");
            JsonNode requests = extra(api, ApiRequest.path("v1", "runs", run, "requests"), run)
                    .path("items");
            String status = TerminalJson.text(extra(api, ApiRequest.path("v1", "runs", run), run), "status");
            new KeyReport(output, answer.body(), now).print(status, requests);
            output.suggestCommand(run.isEmpty() ? "semel runs" : "semel run show " + ShellQuoting.quote(run));
            return ExitCode.OK;
        }

        /** Reads details that the report can do without. */
        private static JsonNode extra(ApiClient api, String path, String run) {
            if (run.isEmpty()) {
                return TerminalJson.newObject();
            }
            try {
                return api.send(ApiRequest.get(path)).body();
            } catch (CommandFailure missing) {
                return TerminalJson.newObject();
            }
        }
    }

    @Command(
            name = "simulate",
            description = "Shows what a request with the key would get now, later or with other data. Changes nothing.",
            footerHeading = "%nExample:%n",
            footer = "  semel key simulate evt_1OtV4z2eZvKYlo2C3BXGKQ8 --at 30h --data '{\"amount\": 5000}'")
    static final class KeySimulateCommand extends KeyCommands {
        @Option(names = "--at", paramLabel = "WHEN", description = "30h from now, or a time. Default: now.")
        String at = "";

        @Option(names = "--data", paramLabel = "JSON", description = "Payload of the request; also @FILE or -.")
        @Nullable
        String data;

        KeySimulateCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            ObjectNode body = TerminalJson.newObject();
            if (!at.isEmpty()) {
                body.put(at.contains("T") ? "at" : "after", at);
            }
            if (data != null) {
                body.set("data", TerminalJson.parse(PayloadArgument.read(data, environment)));
            }
            ApiRequest call =
                    ApiRequest.post(ApiRequest.path("v1", "keys", key, "simulate"), TerminalJson.compact(body));
            JsonNode response = send(call.withQuery("workflow", workflow));
            return print(
                    response,
                    "If " + TerminalJson.sanitize(key) + " came at " + TerminalJson.text(response, "at") + ": "
                            + TerminalJson.text(response, "summary"));
        }
    }

    @Command(
            name = "extend",
            description = "Keeps a key active longer.",
            footerHeading = "%nExample:%n",
            footer = "  semel key extend evt_1OtV4z2eZvKYlo2C3BXGKQ8 --for 48h --reason 'retries come late'")
    static final class KeyExtendCommand extends KeyCommands {
        @Option(names = "--for", required = true, paramLabel = "LENGTH", description = "The window from now, e.g. 48h.")
        String length = "";

        @Option(names = "--reason", required = true, paramLabel = "TEXT", description = "Reason for the audit log.")
        String reason = "";

        KeyExtendCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            if (reason.isBlank()) {
                throw usage("Extending a key needs --reason TEXT: it is stored in the audit log. Nothing was changed.");
            }
            ObjectNode body = TerminalJson.newObject().put("for", length).put("reason", reason);
            ApiRequest call = ApiRequest.post(ApiRequest.path("v1", "keys", key, "extend"), TerminalJson.compact(body));
            JsonNode response = send(call.withQuery("workflow", workflow));
            return print(
                    response,
                    TerminalJson.sanitize(key) + " is active until " + TerminalJson.text(response, "expires_at"));
        }
    }

    @Command(
            name = "release",
            description = "Releases a key: the next request with it starts a new run.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  semel key release evt_1OtV4z2eZvKYlo2C3BXGKQ8 --dry-run",
                "  semel key release evt_1OtV4z2eZvKYlo2C3BXGKQ8 --reason 'customer asked for a second receipt'"
            })
    static final class KeyReleaseCommand extends KeyCommands {
        @Option(names = "--reason", paramLabel = "TEXT", description = "Reason for the audit log.")
        String reason = "";

        @Option(names = "--dry-run", description = "Only list what could happen twice. Changes nothing.")
        boolean dryRun;

        KeyReleaseCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            return dryRun ? listPossibleDuplicates() : release();
        }

        private int listPossibleDuplicates() {
            ObjectNode body = TerminalJson.newObject().put("reason", reason.isBlank() ? "dry run" : reason);
            ApiRequest call =
                    ApiRequest.post(ApiRequest.path("v1", "keys", key, "release"), TerminalJson.compact(body));
            JsonNode response = send(call.withQuery("workflow", workflow).withQuery("dry_run", "true"));
            if (output.json) {
                return printJson(response);
            }
            output.printLine("Nothing was released. " + TerminalJson.text(response, "summary"));
            for (JsonNode effect : response.path("effects")) {
                output.printLine((effect.path("could_duplicate").booleanValue()
                                ? "could happen twice: "
                                : "cannot happen twice: ")
                        + TerminalJson.text(effect, "step") + " (" + TerminalJson.text(effect, "reason") + ")");
            }
            return ExitCode.OK;
        }

        private int release() {
            if (reason.isBlank()) {
                throw usage(
                        "Releasing a key needs --reason TEXT: it is stored in the audit log. Nothing was released.");
            }
            ApiClient api = connection.api();
            ApiRequest call = ApiRequest.post(
                    ApiRequest.path("v1", "keys", key, "release"),
                    TerminalJson.compact(releaseBody(api).put("reason", reason)));
            ApiResponse answer = api.send(call.withQuery("workflow", workflow));
            if (output.json) {
                output.printJson(answer.body());
            } else if (answer.body().path("released").isBoolean()
                    && !answer.body().path("released").booleanValue()) {
                output.printLine(TerminalJson.sanitize(key) + " was not active any more; nothing was released");
                output.suggestCommand("semel key show " + ShellQuoting.quote(TerminalJson.sanitize(key)));
            } else {
                output.printLine(TerminalJson.sanitize(key) + " released: the next request with it starts a new run");
                output.suggestCommand("semel key show " + ShellQuoting.quote(TerminalJson.sanitize(key)));
            }
            return ExitCode.OK;
        }

        /** Names the run, so that a repeated release cannot release the key of the next run. */
        private ObjectNode releaseBody(ApiClient api) {
            JsonNode known;
            try {
                known = api.send(ApiRequest.get(ApiRequest.path("v1", "keys", key))
                                .withQuery("workflow", workflow))
                        .body();
            } catch (CommandFailure unreadable) {
                return TerminalJson.newObject(); // the token may lack the scope read; the release reports other errors
            }
            String run = TerminalJson.text(known, "response_reference");
            boolean one = known.path("others").isEmpty();
            return run.isEmpty() || !one
                    ? TerminalJson.newObject()
                    : TerminalJson.newObject().put("run_id", run);
        }
    }
}
