package dev.semel.server.cli;

import java.util.ArrayList;
import java.util.List;
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
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** `semel emit`: sends an event to the subscribed workflows. */
@Command(
        name = "emit",
        description =
                "Sends an event to every subscribed workflow. A repeat with the same source and id"
                        + " starts no run.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel emit payment.succeeded --id pay_1 --source /shop --data '{\"amount\":4900}'",
            "  semel emit payment.succeeded --id pay_1 --source /shop --data @payment.json --times 2"
        })
final class EmitCommand implements Callable<Integer> {
    private final Surroundings environment;

    @Spec
    @Nullable
    CommandSpec spec;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(paramLabel = "TYPE", description = "Type of the event, e.g. payment.succeeded.")
    String type = "";

    @Option(names = "--id", required = true, paramLabel = "ID", description = "Id of the event, unique per source.")
    String id = "";

    @Option(names = "--source", paramLabel = "SOURCE", description = "Source of the event. Default: /cli.")
    String source = "/cli";

    @Option(names = "--data", paramLabel = "JSON", description = "Event data: JSON, @FILE, or - for stdin.")
    @Nullable
    String data;

    @Option(names = "--times", paramLabel = "N", description = "Send it N times, to see duplicates prevented.")
    int times = 1;

    EmitCommand(Surroundings environment) {
        this.environment = environment;
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    @Override
    public Integer call() {
        if (times < 1 || times > 1_000) {
            throw usage("--times must be between 1 and 1000, not " + times + ".");
        }
        Call call = Call.post(Call.path("v1", "events"), body());
        Sender sender = new Sender(connection.api(), environment, output);
        List<ObjectNode> answers = new ArrayList<>();
        int exit = Exit.DONE;
        for (int i = 0; i < times; i++) {
            Answer answer = sender.send(call, true); // source and id deduplicate it, so a resend is safe
            if (!answer.ok() || !answer.json() || !(answer.body() instanceof ObjectNode body)) {
                throw answer.ok() ? Failure.notSemel(answer) : Failure.of(answer);
            }
            answers.add(body);
            exit = Math.max(exit, report(body));
        }
        end(answers);
        return exit;
    }

    /** Sends the data as typed, so that no number is rounded. */
    private String body() {
        ObjectNode attributes =
                Json.object().put("type", type).put("source", source).put("id", id);
        String text = Json.compact(attributes);
        return text.substring(0, text.length() - 1) + ",\"data\":" + (data == null ? "{}" : Payload.read(data, environment))
                + "}";
    }

    private int report(ObjectNode answer) {
        int exit = Exit.DONE;
        for (JsonNode run : answer.path("runs")) {
            boolean rejected = run.has("problem");
            exit = rejected ? Exit.FAILED : exit;
            if (!output.json) {
                output.line(line(run));
            }
            if (rejected) {
                output.talk(Json.text(run, "workflow") + ": " + Json.text(run.path("problem"), "detail"));
            }
        }
        for (JsonNode note : answer.path("not_matched")) {
            output.talk(Json.text(note, "workflow") + " did not start a run: " + Json.text(note, "reason"));
        }
        if (answer.path("runs").isEmpty() && !output.json) {
            output.talk(
                    "no workflow subscribes to this event. The server stores it for 7 days: semel events"
                            + " --unmatched");
        }
        return exit;
    }

    private String line(JsonNode run) {
        String workflow = Json.text(run, "workflow");
        String runId = Json.text(run, "run_id");
        boolean replayed = run.path("idempotent_replayed").asBoolean(false);
        String word = run.has("problem") ? "rejected" : replayed ? "replayed" : "new";
        if (output.plain) {
            return workflow + "\t" + runId + "\t" + word;
        }
        return run.has("problem")
                ? "✗ rejected by " + workflow
                : (replayed ? output.yellow("↺ replayed") + " " : "") + runId + " " + workflow;
    }

    private void end(List<ObjectNode> answers) {
        if (output.json) {
            output.document(answers.size() == 1 ? answers.getFirst() : document(answers));
            return;
        }
        String event = Json.text(answers.getLast().path("event"), "event_id");
        output.next("semel events " + Shell.word(event));
    }

    private static ObjectNode document(List<ObjectNode> answers) {
        ObjectNode document = Json.object();
        ArrayNode items = document.putArray("items");
        answers.forEach(items::add);
        return document;
    }

    private ParameterException usage(String message) {
        if (spec == null) {
            throw new IllegalStateException(message);
        }
        return new ParameterException(spec.commandLine(), message);
    }
}
