package dev.semel.server.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** `semel run`: shows one run. */
@Command(
        name = "run",
        description = "Shows one run. Exits 0 if the run exists, whatever its status.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel run run_9kXmP2vQwL", "  semel run run_9kXmP2vQwL --json"})
final class RunCommand implements Callable<Integer> {
    private final Surroundings environment;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(arity = "0..1", paramLabel = "ID", description = "Id of the run.")
    String id = "";

    @Spec
    @Nullable
    CommandSpec spec;

    RunCommand(Surroundings environment) {
        this.environment = environment;
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    static CommandLine commandLine(Surroundings environment) {
        return new CommandLine(new RunCommand(environment)).addSubcommand(new ResumeCommand(environment));
    }

    @Override
    public Integer call() {
        if (id.isEmpty()) {
            throw new ParameterException(
                    Objects.requireNonNull(spec).commandLine(), "Missing required parameter: 'ID'");
        }
        Answer answer = connection.api().ask(Call.get(Call.path("v1", "runs", id)));
        if (output.json) {
            output.document(answer.body());
        } else {
            print(answer.body(), answer.date().orElse(environment.clock().instant()));
            output.next("semel requests " + Shell.word(id));
        }
        return Exit.DONE;
    }

    private void print(JsonNode run, Instant now) {
        String version = Json.text(run, "version");
        String name = Json.text(run, "workflow");
        field("run", Json.text(run, "run_id"));
        field("status", output.status(Json.text(run, "status")));
        run.path("waiting_for").forEach(wait -> field("waiting for", waiting(wait)));
        field("workflow", name + (version.isEmpty() ? "" : " v" + version));
        field("key", Json.text(run, "key"));
        field("created", Listing.when(output, run, "created_at", now));
        field("took", took(run));
        field("replay of", Json.text(run, "replay_of"));
        field("replayed by", Json.text(run, "superseded_by"));
        field("parent", Json.text(run, "parent_run_id"));
        field("correlation", Json.text(run, "correlation_id"));
        JsonNode error = run.path("error");
        if (error.isObject()) {
            String step = Json.text(error, "step");
            field("error", Json.text(error, "code") + (step.isEmpty() ? "" : " in step " + step));
            field("", Json.text(error, "message"));
        }
        json("input", run.path("input"));
        json("output", run.path("output"));
    }

    private static String waiting(JsonNode wait) {
        String name = Json.text(wait, "name");
        String key = Json.text(wait, "key");
        String other = Json.text(wait, "run_id");
        String until = Json.text(wait, "until");
        return Json.text(wait, "kind").replace('_', ' ')
                + (name.isEmpty() ? "" : " " + name)
                + (key.isEmpty() ? "" : " with key " + key)
                + (other.isEmpty() ? "" : " " + other)
                + (until.isEmpty() ? "" : " until " + until);
    }

    private String took(JsonNode run) {
        @Nullable Instant started = Json.instant(run, "started_at");
        @Nullable Instant ended = Json.instant(run, "ended_at");
        return started == null || ended == null ? "" : Times.span(Duration.between(started, ended));
    }

    private void json(String label, JsonNode value) {
        if (!value.isMissingNode() && !value.isNull()) {
            field(label, Json.compact(value));
        }
    }

    private void field(String label, String value) {
        if (!value.isEmpty()) {
            output.line(output.plain ? label + "\t" + value : String.format("%-12s %s", label, value));
        }
    }
}
