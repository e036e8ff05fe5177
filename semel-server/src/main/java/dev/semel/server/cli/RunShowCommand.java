package dev.semel.server.cli;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** `semel run show`: shows one run. */
@Command(
        name = "show",
        description = "Shows one run. Exits 0 if the run exists, whatever its status.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel run show run_9kXmP2vQwL", "  semel run show run_9kXmP2vQwL --json"})
final class RunShowCommand extends ApiCommand {
    @Parameters(paramLabel = "ID", description = "Id of the run.")
    String id = "";

    RunShowCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    public Integer call() {
        ApiResponse answer = connection.api().send(ApiRequest.get(ApiRequest.path("v1", "runs", id)));
        if (output.json) {
            output.printJson(answer.body());
        } else {
            print(answer.body(), now(answer));
            output.suggestCommand("semel request list " + ShellQuoting.quote(id));
        }
        return ExitCode.OK;
    }

    private void print(JsonNode run, Instant now) {
        String version = TerminalJson.text(run, "version");
        String name = TerminalJson.text(run, "workflow");
        field("run", TerminalJson.text(run, "run_id"));
        field("status", output.colourStatus(TerminalJson.text(run, "status")));
        run.path("waiting_for").forEach(wait -> field("waiting for", waiting(wait)));
        field("workflow", name + (version.isEmpty() ? "" : " v" + version));
        field("key", TerminalJson.text(run, "key"));
        field("created", PagingOptions.formatTime(output, run, "created_at", now));
        field("took", took(run));
        field("replay of", TerminalJson.text(run, "replay_of"));
        field("replayed by", TerminalJson.text(run, "superseded_by"));
        field("parent", TerminalJson.text(run, "parent_run_id"));
        field("correlation", TerminalJson.text(run, "correlation_id"));
        JsonNode error = run.path("error");
        if (error.isObject()) {
            String step = TerminalJson.text(error, "step");
            field("error", TerminalJson.text(error, "code") + (step.isEmpty() ? "" : " in step " + step));
            field("", TerminalJson.text(error, "message"));
        }
        json("input", run.path("input"));
        json("output", run.path("output"));
    }

    private static String waiting(JsonNode wait) {
        String name = TerminalJson.text(wait, "name");
        String key = TerminalJson.text(wait, "key");
        String other = TerminalJson.text(wait, "run_id");
        String until = TerminalJson.text(wait, "until");
        return TerminalJson.text(wait, "kind").replace('_', ' ')
                + (name.isEmpty() ? "" : " " + name)
                + (key.isEmpty() ? "" : " with key " + key)
                + (other.isEmpty() ? "" : " " + other)
                + (until.isEmpty() ? "" : " until " + until);
    }

    private String took(JsonNode run) {
        @Nullable Instant started = TerminalJson.instant(run, "started_at");
        @Nullable Instant ended = TerminalJson.instant(run, "ended_at");
        return started == null || ended == null ? "" : DurationText.format(Duration.between(started, ended));
    }

    private void json(String label, JsonNode value) {
        if (!value.isMissingNode() && !value.isNull()) {
            field(label, TerminalJson.compact(value));
        }
    }

    private void field(String label, String value) {
        if (!value.isEmpty()) {
            output.printLine(output.plain ? label + "\t" + value : String.format("%-12s %s", label, value));
        }
    }
}
