package dev.semel.server.cli.run;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliApiResponse;
import dev.semel.server.cli.command.CliDurationFormatter;
import dev.semel.server.cli.command.ShellQuoting;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "show",
        description = "Shows one run. Exits 0 if the run exists, whatever its status.",
        footer = {"  semel run show run_9kXmP2vQwL", "  semel run show run_9kXmP2vQwL --json"})
public final class RunShowCommand extends CliApiCommand {
    @Parameters(paramLabel = "ID", description = "Id of the run.")
    String id = "";

    @Override
    public Integer call() {
        CliApiResponse answer = connection.api().send(CliApiRequest.get("v1", "runs", id));
        int exit = output.print(answer.body(), () -> print(answer.body(), now(answer)));
        output.suggestCommand("semel request list " + ShellQuoting.quote(id));
        return exit;
    }

    private void print(JsonNode run, Instant now) {
        String version = TerminalJsonFormatter.text(run, "version");
        String name = TerminalJsonFormatter.text(run, "workflow");
        field("run", TerminalJsonFormatter.text(run, "run_id"));
        field("status", output.colourStatus(TerminalJsonFormatter.text(run, "status")));
        run.path("waiting_for").forEach(wait -> field("waiting for", waiting(wait)));
        field("workflow", name + (version.isEmpty() ? "" : " v" + version));
        field("key", TerminalJsonFormatter.text(run, "key"));
        field("created", output.formatTime(run, "created_at", now));
        field("took", took(run));
        field("replay of", TerminalJsonFormatter.text(run, "replay_of"));
        field("replayed by", TerminalJsonFormatter.text(run, "superseded_by"));
        field("parent", TerminalJsonFormatter.text(run, "parent_run_id"));
        field("correlation", TerminalJsonFormatter.text(run, "correlation_id"));
        JsonNode error = run.path("error");
        if (error.isObject()) {
            String step = TerminalJsonFormatter.text(error, "step");
            field("error", TerminalJsonFormatter.text(error, "code") + (step.isEmpty() ? "" : " in step " + step));
            field("", TerminalJsonFormatter.text(error, "message"));
        }
        field("safe to re-send until", TerminalJsonFormatter.text(run, "safe_to_resend_until"));
        json("input", run.path("input"));
        json("output", run.path("output"));
    }

    private static String waiting(JsonNode wait) {
        String name = TerminalJsonFormatter.text(wait, "name");
        String key = TerminalJsonFormatter.text(wait, "key");
        String other = TerminalJsonFormatter.text(wait, "run_id");
        String until = TerminalJsonFormatter.text(wait, "until");
        return TerminalJsonFormatter.text(wait, "kind").replace('_', ' ')
                + (name.isEmpty() ? "" : " " + name)
                + (key.isEmpty() ? "" : " with key " + key)
                + (other.isEmpty() ? "" : " " + other)
                + (until.isEmpty() ? "" : " until " + until);
    }

    private String took(JsonNode run) {
        @Nullable Instant started = TerminalJsonFormatter.instant(run, "started_at");
        @Nullable Instant ended = TerminalJsonFormatter.instant(run, "ended_at");
        return started == null || ended == null ? "" : CliDurationFormatter.format(Duration.between(started, ended));
    }

    private void json(String label, JsonNode value) {
        if (!value.isMissingNode() && !value.isNull()) {
            field(label, TerminalJsonFormatter.compact(value));
        }
    }

    private void field(String label, String value) {
        if (!value.isEmpty()) {
            output.printLine(output.plain ? label + "\t" + value : String.format("%-12s %s", label, value));
        }
    }
}
