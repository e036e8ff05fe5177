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

@Command(
        name = "key",
        description = "Tells the story of a key, what would happen if it came, or changes how long it stands.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel key evt_1OtV4z2eZvKYlo2C3BXGKQ8",
            "  semel key evt_1OtV4z2eZvKYlo2C3BXGKQ8 --at 30h --data '{\"amount\": 5000}'",
            "  semel key evt_1OtV4z2eZvKYlo2C3BXGKQ8 extend --for 48h --reason 'retries come late'",
            "  semel key evt_1OtV4z2eZvKYlo2C3BXGKQ8 release --dry-run",
            "  semel key evt_1OtV4z2eZvKYlo2C3BXGKQ8 release --reason 'customer asked for a second receipt'"
        })
final class KeyCommand implements Callable<Integer> {
    private final Surroundings around;

    @Spec
    @Nullable
    CommandSpec spec;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(index = "0", paramLabel = "KEY", description = "The key, as it was sent.")
    String key = "";

    // A word and not a subcommand, because a key may be called anything, also "release".
    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "release|extend",
            description = "release: let the next request start anew. extend: let the key stand for longer.")
    String action = "";

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why it is changed; kept in the audit.")
    String reason = "";

    @Option(names = "--at", paramLabel = "WHEN", description = "What if it came then: 30h from now, or a time.")
    String at = "";

    @Option(names = "--data", paramLabel = "JSON", description = "What if it came with this; also @FILE or -.")
    @Nullable
    String data;

    @Option(names = "--for", paramLabel = "LENGTH", description = "With extend: so long from now, e.g. 48h.")
    String length = "";

    @Option(names = "--dry-run", description = "With release: only list what could happen twice.")
    boolean dry;

    @Option(names = "--workflow", paramLabel = "W", description = "Which one, where several workflows know the key.")
    String workflow = "";

    KeyCommand(Surroundings around) {
        this.around = around;
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    @Override
    public Integer call() {
        return switch (action) {
            case "" -> at.isEmpty() && data == null ? show() : simulate();
            case "release" -> dry ? doubles() : release();
            case "extend" -> extend();
            default ->
                throw usage(
                        key.equals("release")
                                ? "The key comes first: semel key " + Shell.word(action) + " release --reason TEXT"
                                : "Unknown word after the key; there are: release, extend");
        };
    }

    private int show() {
        Api api = connection.api();
        Answer answer = api.ask(Call.get(Call.path("v1", "keys", key)).where("workflow", workflow));
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        Instant now = answer.date().orElse(around.clock().instant());
        String run = Json.text(answer.body(), "response_reference");
        JsonNode requests =
                extra(api, Call.path("v1", "runs", run, "requests"), run).path("items");
        String status = Json.text(extra(api, Call.path("v1", "runs", run), run), "status");
        new KeyStory(output, answer.body(), now).print(status, requests);
        output.next(run.isEmpty() ? "semel runs" : "semel run " + Shell.word(run));
        return Exit.DONE;
    }

    /** Details that make the story better; it can be told without them. */
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

    /** Decided as in earnest, and nothing happens. */
    private int simulate() {
        ObjectNode body = Json.object();
        if (!at.isEmpty()) {
            body.put(at.contains("T") ? "at" : "after", at);
        }
        if (data != null) {
            body.set("data", Json.parse(Payload.read(data, around)));
        }
        Call call = Call.post(Call.path("v1", "keys", key, "simulate"), Json.compact(body));
        JsonNode told = connection.api().ask(call.where("workflow", workflow)).body();
        if (output.json) {
            output.document(told);
        } else {
            output.line(
                    "If " + Json.clean(key) + " came at " + Json.text(told, "at") + ": " + Json.text(told, "sentence"));
        }
        return Exit.DONE;
    }

    private int extend() {
        if (reason.isBlank() || length.isBlank()) {
            throw usage("Extending a key needs --for LENGTH and --reason TEXT. Nothing was changed.");
        }
        ObjectNode body = Json.object().put("for", length).put("reason", reason);
        Call call = Call.post(Call.path("v1", "keys", key, "extend"), Json.compact(body));
        JsonNode told = connection.api().ask(call.where("workflow", workflow)).body();
        if (output.json) {
            output.document(told);
        } else {
            output.line(Json.clean(key) + " stands until " + Json.text(told, "expires_at"));
        }
        return Exit.DONE;
    }

    private int doubles() {
        ObjectNode body = Json.object().put("reason", reason.isBlank() ? "only a look" : reason);
        Call call = Call.post(Call.path("v1", "keys", key, "release"), Json.compact(body));
        JsonNode told = connection
                .api()
                .ask(call.where("workflow", workflow).where("dry_run", "true"))
                .body();
        if (output.json) {
            output.document(told);
            return Exit.DONE;
        }
        output.line("Nothing was released. " + Json.text(told, "could_double"));
        for (JsonNode effect : told.path("effects")) {
            output.line((effect.path("could_double").booleanValue() ? "could happen twice: " : "held back: ")
                    + Json.text(effect, "step") + " (" + Json.text(effect, "because") + ")");
        }
        return Exit.DONE;
    }

    private int release() {
        if (reason.isBlank()) {
            throw usage("Releasing a key needs --reason TEXT: it is kept in the audit. Nothing was released.");
        }
        Api api = connection.api();
        Call call = Call.post(
                Call.path("v1", "keys", key, "release"),
                Json.compact(releasing(api).put("reason", reason)));
        Answer answer = api.ask(call.where("workflow", workflow));
        if (output.json) {
            output.document(answer.body());
        } else if (answer.body().path("released").isBoolean()
                && !answer.body().path("released").booleanValue()) {
            output.line(Json.clean(key) + " was not held any more; nothing was released");
            output.next("semel key " + Shell.word(Json.clean(key)));
        } else {
            output.line(Json.clean(key) + " released: the next request with it starts a new run");
            output.next("semel key " + Shell.word(Json.clean(key)));
        }
        return Exit.DONE;
    }

    /** Names the run, so that a release that is sent twice does not let the next run's key go. */
    private ObjectNode releasing(Api api) {
        JsonNode known;
        try {
            known = api.ask(Call.get(Call.path("v1", "keys", key)).where("workflow", workflow))
                    .body();
        } catch (Failure unseen) {
            return Json.object(); // a token that may release and not read; what else is wrong the release itself tells
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
