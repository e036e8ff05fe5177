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
    private final Surroundings environment;

    @Spec
    @Nullable
    CommandSpec spec;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

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

    KeyCommand(Surroundings environment) {
        this.environment = environment;
        this.output = new Output(environment);
        this.connection = new Connection(environment);
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
                                ? "The key comes first: semel key " + Shell.word(action) + " release --reason TEXT"
                                : "Unknown action after the key; use release or extend.");
        };
    }

    private int show() {
        Api api = connection.api();
        Answer answer = api.ask(Call.get(Call.path("v1", "keys", key)).where("workflow", workflow));
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        Instant now = answer.date().orElse(environment.clock().instant());
        String run = Json.text(answer.body(), "response_reference");
        JsonNode requests =
                extra(api, Call.path("v1", "runs", run, "requests"), run).path("items");
        String status = Json.text(extra(api, Call.path("v1", "runs", run), run), "status");
        new KeyStory(output, answer.body(), now).print(status, requests);
        output.next(run.isEmpty() ? "semel runs" : "semel run " + Shell.word(run));
        return Exit.DONE;
    }

    /** Reads details that the report can do without. */
    private static JsonNode extra(Api api, String path, String run) {
        if (run.isEmpty()) {
            return Json.object();
        }
        try {
            return api.ask(Call.get(path)).body();
        } catch (Failure missing) {
            return Json.object();
        }
    }

    /** Runs the admission decision; changes nothing. */
    private int simulate() {
        ObjectNode body = Json.object();
        if (!at.isEmpty()) {
            body.put(at.contains("T") ? "at" : "after", at);
        }
        if (data != null) {
            body.set("data", Json.parse(Payload.read(data, environment)));
        }
        Call call = Call.post(Call.path("v1", "keys", key, "simulate"), Json.compact(body));
        JsonNode response = connection.api().ask(call.where("workflow", workflow)).body();
        if (output.json) {
            output.document(response);
        } else {
            output.line(
                    "If " + Json.clean(key) + " came at " + Json.text(response, "at") + ": " + Json.text(response, "sentence"));
        }
        return Exit.DONE;
    }

    private int extend() {
        if (reason.isBlank() || length.isBlank()) {
            throw usage("Extending a key needs --for LENGTH and --reason TEXT. Nothing was changed.");
        }
        ObjectNode body = Json.object().put("for", length).put("reason", reason);
        Call call = Call.post(Call.path("v1", "keys", key, "extend"), Json.compact(body));
        JsonNode response = connection.api().ask(call.where("workflow", workflow)).body();
        if (output.json) {
            output.document(response);
        } else {
            output.line(Json.clean(key) + " is active until " + Json.text(response, "expires_at"));
        }
        return Exit.DONE;
    }

    private int listPossibleDuplicates() {
        ObjectNode body = Json.object().put("reason", reason.isBlank() ? "dry run" : reason);
        Call call = Call.post(Call.path("v1", "keys", key, "release"), Json.compact(body));
        JsonNode response = connection
                .api()
                .ask(call.where("workflow", workflow).where("dry_run", "true"))
                .body();
        if (output.json) {
            output.document(response);
            return Exit.DONE;
        }
        output.line("Nothing was released. " + Json.text(response, "could_double"));
        for (JsonNode effect : response.path("effects")) {
            output.line((effect.path("could_double").booleanValue() ? "could happen twice: " : "cannot happen twice: ")
                    + Json.text(effect, "step") + " (" + Json.text(effect, "because") + ")");
        }
        return Exit.DONE;
    }

    private int release() {
        if (reason.isBlank()) {
            throw usage("Releasing a key needs --reason TEXT: it is stored in the audit log. Nothing was released.");
        }
        Api api = connection.api();
        Call call = Call.post(
                Call.path("v1", "keys", key, "release"),
                Json.compact(releaseBody(api).put("reason", reason)));
        Answer answer = api.ask(call.where("workflow", workflow));
        if (output.json) {
            output.document(answer.body());
        } else if (answer.body().path("released").isBoolean()
                && !answer.body().path("released").booleanValue()) {
            output.line(Json.clean(key) + " was not active any more; nothing was released");
            output.next("semel key " + Shell.word(Json.clean(key)));
        } else {
            output.line(Json.clean(key) + " released: the next request with it starts a new run");
            output.next("semel key " + Shell.word(Json.clean(key)));
        }
        return Exit.DONE;
    }

    /** Names the run, so that a repeated release cannot release the key of the next run. */
    private ObjectNode releaseBody(Api api) {
        JsonNode known;
        try {
            known = api.ask(Call.get(Call.path("v1", "keys", key)).where("workflow", workflow))
                    .body();
        } catch (Failure unreadable) {
            return Json.object(); // the token may lack the scope read; the release reports other errors
        }
        String run = Json.text(known, "response_reference");
        boolean one = known.path("others").isEmpty();
        return run.isEmpty() || !one ? Json.object() : Json.object().put("run_id", run);
    }

    private ParameterException usage(String message) {
        if (spec == null) {
            throw new IllegalStateException(message);
        }
        return new ParameterException(spec.commandLine(), message);
    }
}
