package dev.semel.server.cli;

import dev.semel.server.definition.WorkflowName;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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
            "  semel publish --share 10 workflows/payment_receipt.yaml     for 10 %% of the new triggers"
        })
final class PublishCommand implements Callable<Integer> {
    private final Surroundings environment;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(paramLabel = "FILE", arity = "1..*", description = "YAML or JSON files, or folders of them.")
    List<Path> files = List.of();

    @Option(names = "--dry-run", description = "Check only; publish nothing.")
    boolean dryRun;

    @Option(
            names = "--share",
            paramLabel = "PERCENT",
            description =
                    "Rollout percentage of new triggers; `semel promote` sets 100, `semel rollback` 0. Default: 100.")
    int share = 100;

    @Option(
            names = "--over",
            paramLabel = "VERSION",
            description = "Publish only if this version is current, 0 for none. Default: any version.")
    @Nullable
    Integer over;

    PublishCommand(Surroundings environment) {
        this.environment = environment;
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    @Override
    public Integer call() {
        List<Path> all = WorkflowFiles.expand(environment.folder(), files);
        Api api = connection.api();
        ObjectNode document = Json.object();
        ArrayNode items = document.putArray("items");
        int exit = Exit.DONE;
        String last = "";
        for (Path file : all) {
            ObjectNode item = items.addObject().put("file", file.toString());
            try {
                JsonNode published = publish(api, file);
                item.setAll((ObjectNode) published);
                last = Json.text(published, "workflow");
            } catch (Failure failure) {
                if (failure.exit() == Exit.UNREACHABLE || failure.exit() == Exit.NOT_ALLOWED) {
                    throw failure;
                }
                item.setAll(failure.document());
                output.talk(Json.clean(file.toString()) + ": " + String.join(System.lineSeparator(), failure.lines()));
                exit = Exit.FAILED;
            }
        }
        if (output.json) {
            output.document(document);
        } else if (exit == Exit.DONE && !last.isEmpty() && !dryRun) {
            output.next("semel send " + Shell.word(last) + " --key KEY --data '{}'");
        }
        return exit;
    }

    private JsonNode publish(Api api, Path file) {
        String text = WorkflowFiles.read(file);
        String name = WorkflowName.in(text)
                .orElseThrow(() ->
                        WorkflowFiles.bad(file, "has no workflow name", "Begin it with `semel: 1` and `workflow: NAME`."));
        String type = file.toString().endsWith(".json") ? "application/json" : "application/yaml";
        Call call = Call.put(Call.path("v1", "workflows", name), type, text)
                .where("dry_run", dryRun ? "true" : "")
                .where("share", share == 100 ? "" : String.valueOf(share));
        JsonNode answer = api.ask(SettingCommand.expecting(call, over)).body();
        if (!answer.isObject()) {
            throw WorkflowFiles.bad(file, "got a response that is not from Semel", "Check --server.");
        }
        if (!output.json) {
            JsonNode candidate = answer.path("candidate");
            boolean shared = share != 100 && candidate.isObject();
            String version = Json.text(shared ? candidate : answer, "version");
            output.line(
                    output.plain
                            ? String.join("\t", file.toString(), name, version, Json.text(answer, "workflow_id"))
                            : Json.clean(name)
                                    + (version.isEmpty() || dryRun ? "" : " v" + version)
                                    + (dryRun ? " is valid; nothing was published" : " published")
                                    + (shared ? " for " + Json.text(candidate, "share") + " % of the triggers" : ""));
        }
        for (JsonNode warning : answer.path("warnings")) {
            String message = warning.isObject() ? Json.text(warning, "message") : Json.clean(warning.asString(""));
            String line = Json.text(warning, "line");
            output.talk(Json.clean(file.toString()) + (line.isEmpty() ? "" : ":" + line) + ": warning: "
                    + (message.isEmpty() ? Json.compact(warning) : message));
        }
        return answer;
    }
}
