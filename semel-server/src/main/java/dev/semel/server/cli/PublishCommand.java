package dev.semel.server.cli;

import dev.semel.server.definition.WorkflowNameFinder;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** `semel publish`: publishes workflow files. */
@Command(
        name = "publish",
        description = "Publishes workflow files. An invalid file does not stop the others.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel publish workflows/payment_receipt.yaml",
            "  semel publish --dry-run workflows",
            "  semel publish --percent 10 workflows/payment_receipt.yaml     for 10 %% of the new triggers"
        })
final class PublishCommand extends ApiCommand {
    @Parameters(paramLabel = "FILE", arity = "1..*", description = "YAML or JSON files, or folders of them.")
    List<Path> files = List.of();

    @Option(names = "--dry-run", description = "Check only; publish nothing.")
    boolean dryRun;

    @Option(
            names = "--percent",
            paramLabel = "PERCENT",
            description =
                    "Rollout percentage of new triggers; `semel workflow promote` sets 100, `semel workflow rollback`"
                            + " 0. Default: 100.")
    int share = 100;

    @Option(
            names = "--over",
            paramLabel = "VERSION",
            description = "Publish only if this version is current, 0 for none. Default: any version.")
    @Nullable
    Integer over;

    PublishCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    public Integer call() {
        List<Path> all = WorkflowFiles.expand(environment.folder(), files);
        ApiClient api = connection.api();
        ObjectNode document = TerminalJson.newObject();
        ArrayNode items = document.putArray("items");
        int exit = ExitCode.OK;
        String last = "";
        for (Path file : all) {
            ObjectNode item = items.addObject().put("file", file.toString());
            try {
                JsonNode published = publish(api, file);
                item.setAll((ObjectNode) published);
                last = TerminalJson.text(published, "workflow");
            } catch (CommandFailure failure) {
                if (failure.exitCode() == ExitCode.UNREACHABLE || failure.exitCode() == ExitCode.NOT_ALLOWED) {
                    throw failure;
                }
                item.setAll(failure.document());
                output.printMessage(TerminalJson.sanitize(file.toString()) + ": "
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

    private JsonNode publish(ApiClient api, Path file) {
        String text = WorkflowFiles.read(file);
        String name = WorkflowNameFinder.find(text)
                .orElseThrow(() -> WorkflowFiles.failure(
                        file, "has no workflow name", "Begin it with `semel: 1` and `workflow: NAME`."));
        String type = file.toString().endsWith(".json") ? "application/json" : "application/yaml";
        ApiRequest call = ApiRequest.put(ApiRequest.path("v1", "workflows", name), type, text)
                .withQuery("dry_run", dryRun ? "true" : "")
                .withQuery("percentage", share == 100 ? "" : String.valueOf(share));
        JsonNode answer =
                api.send(SettingCommands.withExpectedVersion(call, over)).body();
        if (!answer.isObject()) {
            throw WorkflowFiles.failure(file, "got a response that is not from Semel", "Check --server.");
        }
        if (!output.json) {
            JsonNode candidate = answer.path("candidate");
            boolean shared = share != 100 && candidate.isObject();
            String version = TerminalJson.text(shared ? candidate : answer, "version");
            output.printLine(
                    output.plain
                            ? String.join(
                                    "\t", file.toString(), name, version, TerminalJson.text(answer, "workflow_id"))
                            : TerminalJson.sanitize(name)
                                    + (version.isEmpty() || dryRun ? "" : " v" + version)
                                    + (dryRun ? " is valid; nothing was published" : " published")
                                    + (shared
                                            ? " for " + TerminalJson.text(candidate, "percentage")
                                                    + " % of the triggers"
                                            : ""));
        }
        for (JsonNode warning : answer.path("warnings")) {
            String message = warning.isObject()
                    ? TerminalJson.text(warning, "message")
                    : TerminalJson.sanitize(warning.asString(""));
            String line = TerminalJson.text(warning, "line");
            output.printMessage(TerminalJson.sanitize(file.toString()) + (line.isEmpty() ? "" : ":" + line)
                    + ": warning: " + (message.isEmpty() ? TerminalJson.compact(warning) : message));
        }
        return answer;
    }
}
