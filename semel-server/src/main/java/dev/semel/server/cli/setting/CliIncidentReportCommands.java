package dev.semel.server.cli.setting;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.CliCommandOutput;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
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

public final class CliIncidentReportCommands {
    public static final CliListDefinition LIST = CliListDefinition.of(
                    CliApiRequest.get("v1", "incidents"),
                    "incident list",
                    "no incident reports yet. Draft one: semel incident create --since 2h")
            .addText("INCIDENT", "incident_id")
            .addText("TITLE", "title")
            .addText("SINCE", "since")
            .addText("UNTIL", "until")
            .addText("BY", "changed_by");

    private CliIncidentReportCommands() {}

    private static CliApiRequest one(String id) {
        return CliApiRequest.get("v1", "incidents", id);
    }

    private static int printIncident(CliCommandOutput output, JsonNode incident) {
        return output.print(incident, () -> {
            output.printLine(TerminalJsonFormatter.text(incident, "incident_id") + "  "
                    + TerminalJsonFormatter.text(incident, "title"));
            output.printLine(TerminalJsonFormatter.text(incident, "since") + " to "
                    + TerminalJsonFormatter.text(incident, "until"));
            incident.path("answers").forEachEntry((question, answer) -> {
                output.printLine("");
                output.printLine(question);
                answer.asString("")
                        .lines()
                        .forEach(line -> output.printLine("  " + TerminalJsonFormatter.sanitize(line)));
            });
        });
    }

    @Command(
            name = "create",
            description = "Drafts an incident report for a period.",
            footer = "  semel incident create --since 2026-11-15T08:40:00Z --until 2026-11-15T09:31:00Z --title outage")
    public static final class IncidentCreateCommand extends CliApiCommand {
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

        @Override
        public Integer call() {
            ObjectNode body = TerminalJsonFormatter.newObject().put("since", since);
            TerminalJsonFormatter.putText(body, "until", until);
            TerminalJsonFormatter.putText(body, "workflow", workflow);
            TerminalJsonFormatter.putText(body, "title", title);
            JsonNode made = send(CliApiRequest.post("v1", "incidents").withJson(body));
            int exit = printIncident(output, made);
            output.suggestCommand(
                    "semel incident export " + TerminalJsonFormatter.text(made, "incident_id") + " --out incident.md");
            return exit;
        }
    }

    @Command(name = "show", description = "Shows an incident report with its answers.")
    public static final class IncidentShowCommand extends CliApiCommand {
        @Parameters(paramLabel = "INCIDENT", description = "Id of the report, such as inc_0123456789ab.")
        String id = "";

        @Override
        public Integer call() {
            return printIncident(output, send(one(id)));
        }
    }

    @Command(
            name = "answer",
            description = "Changes the title of an incident report, or the answers to its questions.",
            footer = "  semel incident answer inc_0123456789ab --title \"mail outage\" add=\"a second provider\"")
    public static final class IncidentAnswerCommand extends CliApiCommand {
        @Parameters(index = "0", paramLabel = "INCIDENT", description = "Id of the report, such as inc_0123456789ab.")
        String id = "";

        @Parameters(
                index = "1..*",
                arity = "0..*",
                paramLabel = "QUESTION=TEXT",
                description = "Answers by question name; `semel incident show ID --json` lists the names.")
        Map<String, String> answers = new LinkedHashMap<>();

        @Option(names = "--title", paramLabel = "TEXT", description = "Title of the report.")
        String title = "";

        @Option(
                names = "--over",
                paramLabel = "N",
                description = "Change the report only if this is its current version.")
        int version;

        @Override
        public Integer call() {
            ObjectNode body = TerminalJsonFormatter.newObject();
            TerminalJsonFormatter.putText(body, "title", title);
            if (!answers.isEmpty()) {
                answers.forEach(body.putObject("answers")::put);
            }
            CliApiRequest call = CliApiRequest.put("v1", "incidents", id).withJson(body);
            return printIncident(output, send(call.withExpectedVersion(version == 0 ? null : version)));
        }
    }

    @Command(name = "export", description = "Writes an incident report as Markdown, to stdout or a file.")
    public static final class IncidentExportCommand extends CliApiCommand {
        @Parameters(paramLabel = "INCIDENT", description = "Id of the report, such as inc_0123456789ab.")
        String id = "";

        @Option(names = "--out", paramLabel = "FILE", description = "Output file. Default: stdout.")
        String out = "";

        @Override
        public Integer call() {
            String page = connection.api().fetchText(one(id + ".md"));
            if (out.isEmpty()) {
                return output.print(
                        TerminalJsonFormatter.newObject().put("incident_id", id).put("markdown", page), () -> {
                            environment().out().print(page);
                            environment().out().flush();
                        });
            }
            try {
                Files.writeString(environment().folder().resolve(out), page, StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw CliCommandException.create(
                        ExitCode.FAILED,
                        "not-written",
                        "The incident report could not be written to " + TerminalJsonFormatter.sanitize(out) + ".",
                        "Choose a file in a writable folder.");
            }
            return output.print(
                    TerminalJsonFormatter.newObject().put("incident_id", id).put("file", out),
                    () -> output.printMessage("written to " + TerminalJsonFormatter.sanitize(out)));
        }
    }
}
