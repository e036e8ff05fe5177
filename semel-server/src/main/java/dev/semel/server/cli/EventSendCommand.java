package dev.semel.server.cli;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** `semel event send`: sends an event to the subscribed workflows. */
@Command(
        name = "send",
        description =
                "Sends an event to every subscribed workflow. A repeat with the same source and id" + " starts no run.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel event send payment.succeeded --id pay_1 --source /shop --data '{\"amount\":4900}'",
            "  semel event send payment.succeeded --id pay_1 --source /shop --data @payment.json --times 2"
        })
final class EventSendCommand extends ApiCommand {
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

    EventSendCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    public Integer call() {
        if (times < 1 || times > 1_000) {
            throw usage("--times must be between 1 and 1000, not " + times + ".");
        }
        ApiRequest call = ApiRequest.post(ApiRequest.path("v1", "events"), body());
        TriggerSender sender = new TriggerSender(connection.api(), environment, output);
        List<ObjectNode> answers = new ArrayList<>();
        int exit = ExitCode.OK;
        for (int i = 0; i < times; i++) {
            ApiResponse answer = sender.send(call, true); // source and id deduplicate it, so a resend is safe
            if (!answer.isSuccess() || !answer.isJson() || !(answer.body() instanceof ObjectNode body)) {
                throw answer.isSuccess() ? CommandFailure.notSemel(answer) : CommandFailure.from(answer);
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
                TerminalJson.newObject().put("type", type).put("source", source).put("id", id);
        String text = TerminalJson.compact(attributes);
        return text.substring(0, text.length() - 1) + ",\"data\":"
                + (data == null ? "{}" : PayloadArgument.read(data, environment)) + "}";
    }

    private int report(ObjectNode answer) {
        int exit = ExitCode.OK;
        for (JsonNode run : answer.path("runs")) {
            boolean rejected = run.has("problem");
            exit = rejected ? ExitCode.FAILED : exit;
            if (!output.json) {
                output.printLine(line(run));
            }
            if (rejected) {
                output.printMessage(
                        TerminalJson.text(run, "workflow") + ": " + TerminalJson.text(run.path("problem"), "detail"));
            }
        }
        for (JsonNode note : answer.path("not_matched")) {
            output.printMessage(
                    TerminalJson.text(note, "workflow") + " did not start a run: " + TerminalJson.text(note, "reason"));
        }
        if (answer.path("runs").isEmpty() && !output.json) {
            output.printMessage(
                    "no workflow subscribes to this event. The server stores it for 7 days: semel event list"
                            + " --unmatched");
        }
        return exit;
    }

    private String line(JsonNode run) {
        String workflow = TerminalJson.text(run, "workflow");
        String runId = TerminalJson.text(run, "run_id");
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
            output.printJson(answers.size() == 1 ? answers.getFirst() : document(answers));
            return;
        }
        String event = TerminalJson.text(answers.getLast().path("event"), "event_id");
        output.suggestCommand("semel event show " + ShellQuoting.quote(event));
    }

    private static ObjectNode document(List<ObjectNode> answers) {
        ObjectNode document = TerminalJson.newObject();
        ArrayNode items = document.putArray("items");
        answers.forEach(items::add);
        return document;
    }
}
