package dev.semel.server.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The commands of `semel incident`: create, list, show, edit and export incident reports. */
final class IncidentCommands {
    static final ListDefinition LIST = ListDefinition.of(
                    ApiRequest.get(ApiRequest.path("v1", "incidents")),
                    "incident list",
                    "no incident reports yet. Draft one: semel incident create --since 2h")
            .addText("INCIDENT", "incident_id")
            .addText("TITLE", "title")
            .addText("SINCE", "since")
            .addText("UNTIL", "until")
            .addText("BY", "changed_by");

    private IncidentCommands() {}

    private static ApiRequest one(String id) {
        return ApiRequest.get(ApiRequest.path("v1", "incidents", id));
    }

    private static void answers(CommandOutput output, JsonNode incident) {
        output.printLine(TerminalJson.text(incident, "incident_id") + "  " + TerminalJson.text(incident, "title"));
        output.printLine(TerminalJson.text(incident, "since") + " to " + TerminalJson.text(incident, "until"));
        incident.path("answers").forEachEntry((question, answer) -> {
            output.printLine("");
            output.printLine(question);
            answer.asString("").lines().forEach(line -> output.printLine("  " + TerminalJson.sanitize(line)));
        });
    }

    @Command(
            name = "create",
            description = "Drafts an incident report for a period.",
            footerHeading = "%nExample:%n",
            footer = "  semel incident create --since 2026-11-15T08:40:00Z --until 2026-11-15T09:31:00Z --title outage")
    static final class IncidentCreateCommand extends ApiCommand {
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

        IncidentCreateCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            ObjectNode body = TerminalJson.newObject().put("since", since);
            put(body, "until", until);
            put(body, "workflow", workflow);
            put(body, "title", title);
            JsonNode made = send(ApiRequest.post(ApiRequest.path("v1", "incidents"), TerminalJson.compact(body)));
            if (output.json) {
                output.printJson(made);
            } else {
                answers(output, made);
                output.suggestCommand(
                        "semel incident export " + TerminalJson.text(made, "incident_id") + " --out incident.md");
            }
            return ExitCode.OK;
        }

        private static void put(ObjectNode body, String name, String value) {
            if (!value.isEmpty()) {
                body.put(name, value);
            }
        }
    }

    @Command(name = "show", description = "Shows an incident report with its answers.")
    static final class IncidentShowCommand extends ApiCommand {
        @Parameters(paramLabel = "INCIDENT", description = "Its id, inc_….")
        String id = "";

        IncidentShowCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            JsonNode incident = send(one(id));
            if (output.json) {
                output.printJson(incident);
            } else {
                answers(output, incident);
            }
            return ExitCode.OK;
        }
    }

    @Command(
            name = "answer",
            description = "Changes the title or the answers of an incident report.",
            footerHeading = "%nExample:%n",
            footer = "  semel incident answer inc_0123456789ab --title \"mail outage\" add=\"a second provider\"")
    static final class IncidentAnswerCommand extends ApiCommand {
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

        IncidentAnswerCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            ObjectNode body = TerminalJson.newObject();
            if (!title.isEmpty()) {
                body.put("title", title);
            }
            if (!answers.isEmpty()) {
                ObjectNode given = body.putObject("answers");
                answers.forEach(given::put);
            }
            ApiRequest call = ApiRequest.put(
                    ApiRequest.path("v1", "incidents", id), "application/json", TerminalJson.compactForRequest(body));
            JsonNode saved = send(version == 0 ? call : call.withHeader("If-Match", "\"" + version + "\""));
            if (output.json) {
                output.printJson(saved);
            } else {
                answers(output, saved);
            }
            return ExitCode.OK;
        }
    }

    @Command(name = "export", description = "Writes an incident report as Markdown, to stdout or a file.")
    static final class IncidentExportCommand extends ApiCommand {
        @Parameters(paramLabel = "INCIDENT", description = "Its id, inc_….")
        String id = "";

        @Option(names = "--out", paramLabel = "FILE", description = "Output file. Default: stdout.")
        String out = "";

        IncidentExportCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            String page = connection.api().fetchText(one(id + ".md"));
            if (out.isEmpty() && output.json) {
                return printJson(TerminalJson.newObject().put("incident_id", id).put("markdown", page));
            }
            if (out.isEmpty()) {
                environment.out().print(page);
                environment.out().flush();
                return ExitCode.OK;
            }
            try {
                Files.writeString(environment.folder().resolve(out), page, StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw CommandFailure.create(
                        ExitCode.FAILED,
                        "not-written",
                        "The incident report could not be written to " + TerminalJson.sanitize(out) + ".",
                        "Choose a file in a writable folder.");
            }
            if (output.json) {
                return printJson(TerminalJson.newObject().put("incident_id", id).put("file", out));
            }
            output.printMessage("written to " + TerminalJson.sanitize(out));
            return ExitCode.OK;
        }
    }
}
