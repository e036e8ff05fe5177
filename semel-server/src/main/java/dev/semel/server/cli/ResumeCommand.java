package dev.semel.server.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "resume",
        description = "Lets a run that failed go on in place, from the step that failed. Effects keep their keys.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel run resume run_9kXmP2vQwL --dry-run",
            "  semel run resume run_9kXmP2vQwL --reason \"the provider is back\"",
            "  semel run resume run_9kXmP2vQwL --skip charge --result '{\"id\": \"ch_1\"}' --reason \"paid by hand\""
        })
final class ResumeCommand implements Callable<Integer> {
    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(paramLabel = "ID", description = "Id of the run.")
    String id = "";

    @Option(names = "--reason", paramLabel = "TEXT", description = "Why; it stands in the timeline and the audit.")
    String reason = "";

    @Option(names = "--skip", paramLabel = "STEP", description = "The step that failed counts as done, with --result.")
    String skip = "";

    @Option(names = "--result", paramLabel = "JSON", description = "The result of the step that is skipped.")
    @Nullable
    String result;

    @Option(names = "--as-it-is", description = "By the current version, and not by the one that the run had.")
    boolean asItIs;

    @Option(names = "--include", paramLabel = "ACTIONS", split = ",", description = "ask, unprotected.")
    List<String> include = new ArrayList<>();

    @Option(names = "--dry-run", description = "Only say what would happen to each step. Changes nothing.")
    boolean dryRun;

    ResumeCommand(Surroundings around) {
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    @Override
    public Integer call() {
        ObjectNode body = Json.object();
        body.put("reason", reason).put("version", asItIs ? "as_it_is" : "as_it_was");
        include.forEach(body.putArray("include")::add);
        if (!skip.isEmpty()) {
            ObjectNode skipped = body.putObject("skip").put("step", skip);
            skipped.set("result", result == null ? skipped.nullNode() : dev.semel.json.Json.parse(result));
        }
        Call call = Call.post(Call.path("v1", "runs", id, "resume"), body.toString())
                .where("dry_run", dryRun ? "true" : "");
        JsonNode said = connection.api().ask(call).body();
        if (output.json) {
            output.document(said);
        } else if (dryRun) {
            foretold(said);
        } else {
            output.line("resumed " + id + " (" + Json.text(said, "status") + ")");
            output.next("semel timeline " + Shell.word(id));
        }
        return dryRun && !Json.text(said, "blocked").isEmpty() ? Exit.FAILED : Exit.DONE;
    }

    private void foretold(JsonNode said) {
        String blocked = Json.text(said, "blocked");
        if (!blocked.isEmpty()) {
            output.talk("it cannot go on in place: " + blocked);
            return;
        }
        Table table = new Table("STEP", "WILL", "BECAUSE");
        for (JsonNode step : said.path("steps")) {
            String until = Json.text(step, "until");
            table.row(
                    Json.text(step, "step"),
                    Json.text(step, "action"),
                    Json.text(step, "why") + (until.isEmpty() ? "" : " until " + until));
        }
        table.print(output);
        if (said.path("open").booleanValue()) {
            output.talk("it is code: an effect that it asks for and that is not on record is sent for the first time");
        }
        output.next("semel run resume " + Shell.word(id) + " --reason …");
    }
}
