package dev.semel.server.cli;

import java.time.Instant;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** `semel key`: shows, simulates, extends or releases an idempotency key. */
@Command(
        name = "key",
        description = "Shows the history of a key, simulates a request with it, or changes its window.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel key evt_1OtV4z2eZvKYlo2C3BXGKQ8",
            "  semel key evt_1OtV4z2eZvKYlo2C3BXGKQ8 --at 30h --data '{\"amount\": 5000}'",
            "  semel key evt_1OtV4z2eZvKYlo2C3BXGKQ8 extend --for 48h --reason 'retries come late'",
            "  semel key evt_1OtV4z2eZvKYlo2C3BXGKQ8 release --dry-run",
            "  semel key evt_1OtV4z2eZvKYlo2C3BXGKQ8 release --reason 'customer asked for a second receipt'"
        })
final class KeyCommand implements Callable<Integer> {
    private final CommandEnvironment environment;

    @Spec
    @Nullable
    CommandSpec spec;

    @Mixin
    final CommandOutput output;

    @Mixin
    final ServerConnectionOptions connection;

    @Parameters(index = "0", paramLabel = "KEY", description = "The key, as it was sent.")
    String key = "";

    // A parameter and not a subcommand, because a key may have any text, also "release".
    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "release|extend",
            description = "release: the next request starts a new run. extend: the key stays active longer.")
    String action = "";

    @Option(names = "--reason", paramLabel = "TEXT", description = "Reason for the audit log.")
    String reason = "";

    @Option(names = "--at", paramLabel = "WHEN", description = "Simulate a request then: 30h from now, or a time.")
    String at = "";

    @Option(names = "--data", paramLabel = "JSON", description = "Simulate a request with this payload; also @FILE or -.")
    @Nullable
    String data;

    @Option(names = "--for", paramLabel = "LENGTH", description = "With extend: the window from now, e.g. 48h.")
    String length = "";

    @Option(names = "--dry-run", description = "With release: only list what could happen twice.")
    boolean dry;

    @Option(names = "--workflow", paramLabel = "W", description = "The workflow, if several use the key.")
    String workflow = "";

    KeyCommand(CommandEnvironment environment) {
        this.environment = environment;
        this.output = new CommandOutput(environment);
        this.connection = new ServerConnectionOptions(environment);
    }

    @Override
    public Integer call() {
        return switch (action) {
            case "" -> at.isEmpty() && data == null ? show() : simulate();
            case "release" -> dry ? listPossibleDuplicates() : release();
            case "extend" -> extend();
            default ->
                throw usage(
                        key.equals("release")
                                ? "The key comes first: semel key " + ShellQuoting.quote(action) + " release --reason TEXT"
                                : "Unknown action after the key; use release or extend.");
        };
    }

    private int show() {
        ApiClient api = connection.api();
        ApiResponse answer = api.send(ApiRequest.get(ApiRequest.path("v1", "keys", key)).withQuery("workflow", workflow));
        if (output.json) {
            output.printJson(answer.body());
            return ExitCode.OK;
        }
        Instant now = answer.date().orElse(environment.clock().instant());
        String run = TerminalJson.text(answer.body(), "response_reference");
        JsonNode requests =
                extra(api, ApiRequest.path("v1", "runs", run, "requests"), run).path("items");
        String status = TerminalJson.text(extra(api, ApiRequest.path("v1", "runs", run), run), "status");
        new KeyReport(output, answer.body(), now).print(status, requests);
        output.suggestCommand(run.isEmpty() ? "semel runs" : "semel run " + ShellQuoting.quote(run));
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

    /** Runs the admission decision; changes nothing. */
    private int simulate() {
        ObjectNode body = TerminalJson.newObject();
        if (!at.isEmpty()) {
            body.put(at.contains("T") ? "at" : "after", at);
        }
        if (data != null) {
            body.set("data", TerminalJson.parse(PayloadArgument.read(data, environment)));
        }
        ApiRequest call = ApiRequest.post(ApiRequest.path("v1", "keys", key, "simulate"), TerminalJson.compact(body));
        JsonNode response = connection.api().send(call.withQuery("workflow", workflow)).body();
        if (output.json) {
            output.printJson(response);
        } else {
            output.printLine(
                    "If " + TerminalJson.sanitize(key) + " came at " + TerminalJson.text(response, "at") + ": " + TerminalJson.text(response, "summary"));
        }
        return ExitCode.OK;
    }

    private int extend() {
        if (reason.isBlank() || length.isBlank()) {
            throw usage("Extending a key needs --for LENGTH and --reason TEXT. Nothing was changed.");
        }
        ObjectNode body = TerminalJson.newObject().put("for", length).put("reason", reason);
        ApiRequest call = ApiRequest.post(ApiRequest.path("v1", "keys", key, "extend"), TerminalJson.compact(body));
        JsonNode response = connection.api().send(call.withQuery("workflow", workflow)).body();
        if (output.json) {
            output.printJson(response);
        } else {
            output.printLine(TerminalJson.sanitize(key) + " is active until " + TerminalJson.text(response, "expires_at"));
        }
        return ExitCode.OK;
    }

    private int listPossibleDuplicates() {
        ObjectNode body = TerminalJson.newObject().put("reason", reason.isBlank() ? "dry run" : reason);
        ApiRequest call = ApiRequest.post(ApiRequest.path("v1", "keys", key, "release"), TerminalJson.compact(body));
        JsonNode response = connection
                .api()
                .send(call.withQuery("workflow", workflow).withQuery("dry_run", "true"))
                .body();
        if (output.json) {
            output.printJson(response);
            return ExitCode.OK;
        }
        output.printLine("Nothing was released. " + TerminalJson.text(response, "summary"));
        for (JsonNode effect : response.path("effects")) {
            output.printLine((effect.path("could_duplicate").booleanValue() ? "could happen twice: " : "cannot happen twice: ")
                    + TerminalJson.text(effect, "step") + " (" + TerminalJson.text(effect, "reason") + ")");
        }
        return ExitCode.OK;
    }

    private int release() {
        if (reason.isBlank()) {
            throw usage("Releasing a key needs --reason TEXT: it is stored in the audit log. Nothing was released.");
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
            output.suggestCommand("semel key " + ShellQuoting.quote(TerminalJson.sanitize(key)));
        } else {
            output.printLine(TerminalJson.sanitize(key) + " released: the next request with it starts a new run");
            output.suggestCommand("semel key " + ShellQuoting.quote(TerminalJson.sanitize(key)));
        }
        return ExitCode.OK;
    }

    /** Names the run, so that a repeated release cannot release the key of the next run. */
    private ObjectNode releaseBody(ApiClient api) {
        JsonNode known;
        try {
            known = api.send(ApiRequest.get(ApiRequest.path("v1", "keys", key)).withQuery("workflow", workflow))
                    .body();
        } catch (CommandFailure unreadable) {
            return TerminalJson.newObject(); // the token may lack the scope read; the release reports other errors
        }
        String run = TerminalJson.text(known, "response_reference");
        boolean one = known.path("others").isEmpty();
        return run.isEmpty() || !one ? TerminalJson.newObject() : TerminalJson.newObject().put("run_id", run);
    }

    private ParameterException usage(String message) {
        if (spec == null) {
            throw new IllegalStateException(message);
        }
        return new ParameterException(spec.commandLine(), message);
    }
}
