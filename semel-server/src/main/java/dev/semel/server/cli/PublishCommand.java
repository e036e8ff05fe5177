package dev.semel.server.cli;

import dev.semel.server.definition.WorkflowName;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "publish",
        description = "Publishes workflow files. Each stands for itself: a bad one does not hold up the others.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel publish workflows/payment_receipt.yaml", "  semel publish --dry-run workflows"})
final class PublishCommand implements Callable<Integer> {
    private static final long LARGEST = 4 << 20;

    private final Surroundings around;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(paramLabel = "FILE", arity = "1..*", description = "YAML or JSON files, or folders of them.")
    List<Path> files = List.of();

    @Option(names = "--dry-run", description = "Check only; publish nothing.")
    boolean dryRun;

    PublishCommand(Surroundings around) {
        this.around = around;
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    @Override
    public Integer call() {
        List<Path> all = expand();
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
        String text = read(file);
        String name = WorkflowName.in(text)
                .orElseThrow(() -> bad(file, "says no name", "Begin it with `semel: 1` and `workflow: NAME`."));
        String type = file.toString().endsWith(".json") ? "application/json" : "application/yaml";
        JsonNode answer = api.ask(
                        Call.put(Call.path("v1", "workflows", name), type, text).where("dry_run", dryRun ? "true" : ""))
                .body();
        if (!answer.isObject()) {
            throw bad(file, "was answered in a form that Semel does not use", "Check --server.");
        }
        if (!output.json) {
            String version = Json.text(answer, "version");
            output.line(
                    output.plain
                            ? String.join("\t", file.toString(), name, version, Json.text(answer, "workflow_id"))
                            : Json.clean(name)
                                    + (version.isEmpty() || dryRun ? "" : " v" + version)
                                    + (dryRun ? " is fine; nothing was published" : " published"));
        }
        for (JsonNode warning : answer.path("warnings")) {
            String said = warning.isObject() ? Json.text(warning, "message") : Json.clean(warning.asString(""));
            String line = Json.text(warning, "line");
            output.talk(Json.clean(file.toString()) + (line.isEmpty() ? "" : ":" + line) + ": warning: "
                    + (said.isEmpty() ? Json.compact(warning) : said));
        }
        return answer;
    }

    private List<Path> expand() {
        List<Path> all = new ArrayList<>();
        for (Path named : files) {
            Path path = around.folder().resolve(named);
            if (!Files.isDirectory(path)) {
                all.add(path);
                continue;
            }
            try (Stream<Path> inside = Files.list(path)) {
                inside.filter(file -> file.toString().matches(".*\\.(yaml|yml|json)"))
                        .sorted()
                        .forEach(all::add);
            } catch (IOException unreadable) {
                throw bad(path, "cannot be listed", "Check its permissions.");
            }
        }
        if (all.isEmpty()) {
            throw Failure.here(
                    Exit.NOT_FOUND,
                    "no-files",
                    "There is no .yaml, .yml or .json file in what was named." + " Nothing was published.",
                    "Name the files.");
        }
        return all;
    }

    private static String read(Path file) {
        try {
            if (Files.size(file) > LARGEST) {
                throw bad(file, "is larger than 4 MiB", "A workflow file is small; is this the right one?");
            }
            return Files.readString(file);
        } catch (CharacterCodingException notText) {
            throw bad(file, "is not UTF-8", "Convert it.");
        } catch (IOException unreadable) {
            throw bad(file, "cannot be read", "Check the path.");
        }
    }

    private static Failure bad(Path file, String what, String fix) {
        return Failure.here(
                Exit.FAILED, "invalid-file", Json.clean(file.toString()) + " " + what + ". It was not published.", fix);
    }
}
