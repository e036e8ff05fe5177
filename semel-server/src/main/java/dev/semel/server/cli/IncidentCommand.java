package dev.semel.server.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** `semel incident`: creates, lists, edits and exports incident reports. */
@Command(
        name = "incident",
        description = "Manages incident reports: five questions, answered from the stored data.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel incident new --since 2026-11-15T08:40:00Z --until 2026-11-15T09:31:00Z --title \"mail outage\"",
            "  semel incident answer inc_0123456789ab --title \"mail outage\" add=\"a second provider\"",
            "  semel incident export inc_0123456789ab --out outage.md"
        })
final class IncidentCommand implements Callable<Integer> {
    @Spec
    @Nullable
    CommandSpec spec;

    static CommandLine commandLine(Surroundings environment) {
        return new CommandLine(new IncidentCommand())
                .addSubcommand(new New(environment))
                .addSubcommand(new List(environment))
                .addSubcommand(new Show(environment))
                .addSubcommand(new Tell(environment))
                .addSubcommand(new Export(environment));
    }

    @Override
    public Integer call() {
        if (spec == null) {
            throw new IllegalStateException("not wired");
        }
        throw new ParameterException(
                spec.commandLine(), "Missing subcommand: semel incident new, list, show, answer or export.");
    }

    private static Call one(String id) {
        return Call.get(Call.path("v1", "incidents", id));
    }

    private static void answers(Output output, JsonNode incident) {
        output.line(Json.text(incident, "incident_id") + "  " + Json.text(incident, "title"));
        output.line(Json.text(incident, "since") + " to " + Json.text(incident, "until"));
        incident.path("answers").forEachEntry((question, answer) -> {
            output.line("");
            output.line(question);
            answer.asString("").lines().forEach(line -> output.line("  " + Json.clean(line)));
        });
    }

    @Command(name = "new", description = "Drafts an incident report for a period.")
    static final class New implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Option(
                names = "--since",
                required = true,
                paramLabel = "TIME",
                description = "Start of the period: 2026-11-15T08:40:00Z, or an age like 2h.")
        String since = "";

        @Option(names = "--until", paramLabel = "TIME", description = "End of the period. Default: now.")
        String until = "";

        @Option(names = "--workflow", paramLabel = "W", description = "Only runs of this workflow.")
        String workflow = "";

        @Option(names = "--title", paramLabel = "TEXT", description = "Title of the report.")
        String title = "";

        New(Surroundings environment) {
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            ObjectNode body = Json.object().put("since", since);
            put(body, "until", until);
            put(body, "workflow", workflow);
            put(body, "title", title);
            JsonNode made = connection
                    .api()
                    .ask(Call.post(Call.path("v1", "incidents"), Json.compact(body)))
                    .body();
            if (output.json) {
                output.document(made);
            } else {
                answers(output, made);
                output.next("semel incident export " + Json.text(made, "incident_id") + " --out incident.md");
            }
            return Exit.DONE;
        }

        private static void put(ObjectNode body, String name, String value) {
            if (!value.isEmpty()) {
                body.put(name, value);
            }
        }
    }

    @Command(name = "list", description = "Lists incident reports.")
    static final class List extends ListCommand {
        List(Surroundings environment) {
            super(environment);
        }

        @Override
        Sheet sheet() {
            return Sheet.of(
                            Call.get(Call.path("v1", "incidents")),
                            "incident list",
                            "no incident reports yet. Draft one: semel incident new --since 2h")
                    .text("INCIDENT", "incident_id")
                    .text("TITLE", "title")
                    .text("SINCE", "since")
                    .text("UNTIL", "until")
                    .text("BY", "changed_by");
        }
    }

    @Command(name = "show", description = "Shows an incident report with its answers.")
    static final class Show implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "INCIDENT", description = "Its id, inc_….")
        String id = "";

        Show(Surroundings environment) {
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            JsonNode incident = connection.api().ask(one(id)).body();
            if (output.json) {
                output.document(incident);
            } else {
                answers(output, incident);
            }
            return Exit.DONE;
        }
    }

    @Command(name = "answer", description = "Changes the title or the answers of an incident report.")
    static final class Tell implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(index = "0", paramLabel = "INCIDENT", description = "Its id, inc_….")
        String id = "";

        @Parameters(
                index = "1..*",
                arity = "0..*",
                paramLabel = "QUESTION=TEXT",
                description = "Answers by question name; `show --json` lists the names.")
        Map<String, String> answers = new LinkedHashMap<>();

        @Option(names = "--title", paramLabel = "TEXT", description = "Title of the report.")
        String title = "";

        @Option(names = "--over", paramLabel = "N", description = "Change only this version.")
        int version;

        Tell(Surroundings environment) {
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            ObjectNode body = Json.object();
            if (!title.isEmpty()) {
                body.put("title", title);
            }
            if (!answers.isEmpty()) {
                ObjectNode given = body.putObject("answers");
                answers.forEach(given::put);
            }
            Call call = Call.put(Call.path("v1", "incidents", id), "application/json", Json.compactUnprinted(body));
            JsonNode saved = connection
                    .api()
                    .ask(version == 0 ? call : call.with("If-Match", "\"" + version + "\""))
                    .body();
            if (output.json) {
                output.document(saved);
            } else {
                answers(output, saved);
            }
            return Exit.DONE;
        }
    }

    @Command(name = "export", description = "Writes an incident report as Markdown, to stdout or a file.")
    static final class Export implements Callable<Integer> {
        private final Surroundings environment;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "INCIDENT", description = "Its id, inc_….")
        String id = "";

        @Option(names = "--out", paramLabel = "FILE", description = "Output file. Default: stdout.")
        String out = "";

        Export(Surroundings environment) {
            this.environment = environment;
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            String page = connection.api().text(one(id + ".md"));
            if (out.isEmpty()) {
                environment.out().print(page);
                environment.out().flush();
                return Exit.DONE;
            }
            try {
                Files.writeString(environment.folder().resolve(out), page, StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw Failure.here(
                        Exit.FAILED,
                        "not-written",
                        "The incident report could not be written to " + Json.clean(out) + ".",
                        "Choose a file in a writable folder.");
            }
            environment.err().println("written to " + Json.clean(out));
            return Exit.DONE;
        }
    }
}
