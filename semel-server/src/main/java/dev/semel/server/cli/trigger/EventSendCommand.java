package dev.semel.server.cli.trigger;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliPayloadArgumentReader;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.ShellQuoting;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "send",
        description =
                "Sends an event to every subscribed workflow. A repeat with the same source and id starts no run.",
        footer = {
            "  semel event send payment.succeeded --id pay_1 --source /shop --data '{\"amount\":4900}'",
            "  semel event send payment.succeeded --id pay_1 --source /shop --data @payment.json --times 2"
        })
public final class EventSendCommand extends CliApiCommand {
    @Parameters(paramLabel = "TYPE", description = "Type of the event, e.g. payment.succeeded.")
    String type = "";

    @Option(names = "--id", required = true, paramLabel = "ID", description = "Id of the event, unique per source.")
    String id = "";

    @Option(names = "--source", paramLabel = "SOURCE", description = "Source of the event. Default: /cli.")
    String source = "/cli";

    @Option(names = "--data", paramLabel = "JSON", description = "Event data: JSON, @FILE, or - for stdin.")
    @Nullable
    String data;

    @Option(
            names = "--times",
            paramLabel = "N",
            description = "Send the event N times, to see how the server handles duplicates.")
    int times = 1;

    @Override
    public Integer call() {
        if (times < 1 || times > 1_000) {
            throw usage("--times must be between 1 and 1000, not " + times + ".");
        }
        CliApiRequest call = CliApiRequest.post("v1", "events").withJson(body());
        CliWorkflowTriggerClient sender = new CliWorkflowTriggerClient(connection.api(), environment(), output);
        List<ObjectNode> answers = new ArrayList<>();
        int exit = ExitCode.OK;
        for (int i = 0; i < times; i++) {
            // source and id deduplicate it, so a resend is safe
            ObjectNode body = sender.sendForObject(call, true, () -> {});
            answers.add(body);
            exit = Math.max(exit, report(body));
        }
        end(answers);
        return exit;
    }

    /** Sends the data as typed, so that no number is rounded. */
    private String body() {
        ObjectNode attributes = TerminalJsonFormatter.newObject()
                .put("type", type)
                .put("source", source)
                .put("id", id);
        String text = TerminalJsonFormatter.compact(attributes);
        return text.substring(0, text.length() - 1) + ",\"data\":"
                + (data == null ? "{}" : CliPayloadArgumentReader.read(data, environment())) + "}";
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
                output.printMessage(TerminalJsonFormatter.text(run, "workflow") + ": "
                        + TerminalJsonFormatter.text(run.path("problem"), "detail"));
            }
        }
        for (JsonNode note : answer.path("not_matched")) {
            output.printMessage(TerminalJsonFormatter.text(note, "workflow") + " did not start a run: "
                    + TerminalJsonFormatter.text(note, "reason"));
        }
        if (answer.path("runs").isEmpty() && !output.json) {
            output.printMessage(
                    "no workflow subscribes to this event. The server stores it for 7 days: semel event list"
                            + " --unmatched");
        }
        return exit;
    }

    private String line(JsonNode run) {
        String workflow = TerminalJsonFormatter.text(run, "workflow");
        String runId = TerminalJsonFormatter.text(run, "run_id");
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
            output.printJson(answers.size() == 1 ? answers.getFirst() : CliTriggerResponsePrinter.document(answers));
        }
        String event = TerminalJsonFormatter.text(answers.getLast().path("event"), "event_id");
        output.suggestCommand("semel event show " + ShellQuoting.quote(event));
    }
}
