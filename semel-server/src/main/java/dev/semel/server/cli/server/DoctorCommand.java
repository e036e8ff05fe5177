package dev.semel.server.cli.server;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.nio.file.Path;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "doctor",
        description = "Checks Java, port, store, disk, server, clock and token. Exits 1 if a check fails.",
        footer = {"  semel doctor", "  semel doctor --server https://semel.example.com --token-file token.txt"})
public final class DoctorCommand extends CliApiCommand {
    @Option(names = "--port", paramLabel = "PORT", description = "Port that `semel dev` would use. Default: 8085.")
    int port = 8085;

    @Option(names = "--data", paramLabel = "DIR", description = "Folder that `semel dev` would use. Default: ./.semel.")
    Path data = Path.of(".semel");

    @Override
    public Integer call() {
        List<DoctorFinding> findings = new DoctorChecks(environment(), connection)
                .runAll(port, environment().folder().resolve(data));
        boolean well = findings.stream().noneMatch(finding -> finding.severity() == DoctorFinding.Severity.FAIL);
        if (output.json) {
            ObjectNode document = TerminalJsonFormatter.newObject().put("ok", well);
            findings.stream().map(DoctorFinding::toJson).forEach(document.putArray("checks")::add);
            output.printJson(document);
        } else {
            findings.forEach(this::print);
            output.suggestCommand(
                    well ? "semel workflow list" : "fix each problem marked fail, then run semel doctor again");
        }
        return well ? ExitCode.OK : ExitCode.FAILED;
    }

    private void print(DoctorFinding finding) {
        String word = finding.severityName();
        if (output.plain) {
            output.printLine(String.join("\t", word, finding.name(), finding.detail(), finding.fix()));
            return;
        }
        String grade = switch (finding.severity()) {
            case OK -> output.green(word);
            case WARN -> output.yellow(word);
            case FAIL -> output.red(word);
        };
        output.printLine(
                grade + " ".repeat(6 - word.length()) + String.format("%-8s", finding.name()) + finding.detail());
        if (!finding.fix().isEmpty()) {
            output.printLine("              " + finding.fix());
        }
    }
}
