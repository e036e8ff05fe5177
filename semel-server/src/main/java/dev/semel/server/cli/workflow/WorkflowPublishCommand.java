package dev.semel.server.cli.workflow;

import dev.semel.server.cli.command.CliApiClient;
import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.ShellQuoting;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.files.definition.YamlWorkflowNameReader;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "publish",
        description = "Publishes workflow files. If a file is invalid, the command still publishes the other files.",
        footer = {
            "  semel publish workflows/payment_receipt.yaml",
            "  semel publish --dry-run workflows",
            "  semel publish --percent 10 workflows/payment_receipt.yaml     for 10 %% of the new triggers"
        })
public final class WorkflowPublishCommand extends CliApiCommand {
    @Parameters(paramLabel = "FILE", arity = "1..*", description = "YAML or JSON files, or folders of them.")
    List<Path> files = List.of();

    @Option(names = "--dry-run", description = "Check only; publish nothing.")
    boolean dryRun;

    @Option(
            names = "--percent",
            paramLabel = "PERCENT",
            description =
                    "Percentage of new triggers that get the new version; `semel workflow promote` sets 100, `semel"
                            + " workflow rollback` sets 0. Default: 100.")
    int percentage = 100;

    @Option(
            names = "--over",
            paramLabel = "VERSION",
            description =
                    "Publish only if this version is current; 0 means that no version exists. Default: always publish.")
    @Nullable
    Integer over;

    @Override
    public Integer call() {
        List<Path> all = CliWorkflowFileReader.expand(environment().folder(), files);
        CliApiClient api = connection.api();
        ObjectNode document = TerminalJsonFormatter.newObject();
        ArrayNode items = document.putArray("items");
        int exit = ExitCode.OK;
        String last = "";
        for (Path file : all) {
            ObjectNode item = items.addObject().put("file", file.toString());
            try {
                JsonNode published = publish(api, file);
                item.setAll((ObjectNode) published);
                last = TerminalJsonFormatter.text(published, "workflow");
            } catch (CliCommandException failure) {
                if (failure.exitCode() == ExitCode.UNREACHABLE || failure.exitCode() == ExitCode.NOT_ALLOWED) {
                    throw failure;
                }
                item.setAll(failure.document());
                output.printMessage(TerminalJsonFormatter.sanitize(file.toString()) + ": "
                        + String.join(System.lineSeparator(), failure.toLines()));
                exit = ExitCode.FAILED;
            }
        }
        if (output.json) {
            output.printJson(document);
        } else if (exit == ExitCode.OK && !last.isEmpty() && !dryRun) {
            output.suggestCommand("semel send " + ShellQuoting.quote(last) + " --key KEY --data '{}'");
        }
        return exit;
    }

    private JsonNode publish(CliApiClient api, Path file) {
        String text = CliWorkflowFileReader.read(file);
        String name = YamlWorkflowNameReader.find(text)
                .orElseThrow(() -> CliWorkflowFileReader.failure(
                        file, "has no workflow name", "Begin the file with `semel: 1` and `workflow: NAME`."));
        String type = file.toString().endsWith(".json") ? "application/json" : "application/yaml";
        CliApiRequest call = CliApiRequest.put("v1", "workflows", name)
                .withBody(type, text)
                .withFlag("dry_run", dryRun)
                .withQuery("percentage", percentage == 100 ? "" : String.valueOf(percentage));
        JsonNode answer = api.send(call.withExpectedVersion(over)).body();
        if (!answer.isObject()) {
            throw CliWorkflowFileReader.failure(file, "got a response that is not from Semel", "Check --server.");
        }
        if (!output.json) {
            JsonNode candidate = answer.path("candidate");
            boolean shared = percentage != 100 && candidate.isObject();
            String version = TerminalJsonFormatter.text(shared ? candidate : answer, "version");
            output.printLine(
                    output.plain
                            ? String.join(
                                    "\t",
                                    file.toString(),
                                    name,
                                    version,
                                    TerminalJsonFormatter.text(answer, "workflow_id"))
                            : TerminalJsonFormatter.sanitize(name)
                                    + (version.isEmpty() || dryRun ? "" : " v" + version)
                                    + (dryRun ? " is valid; nothing was published" : " published")
                                    + (shared
                                            ? " for " + TerminalJsonFormatter.text(candidate, "percentage")
                                                    + " % of the triggers"
                                            : ""));
        }
        for (JsonNode warning : answer.path("warnings")) {
            String message = warning.isObject()
                    ? TerminalJsonFormatter.text(warning, "message")
                    : TerminalJsonFormatter.sanitize(warning.asString(""));
            String line = TerminalJsonFormatter.text(warning, "line");
            output.printMessage(TerminalJsonFormatter.sanitize(file.toString()) + (line.isEmpty() ? "" : ":" + line)
                    + ": warning: " + (message.isEmpty() ? TerminalJsonFormatter.compact(warning) : message));
        }
        return answer;
    }
}
