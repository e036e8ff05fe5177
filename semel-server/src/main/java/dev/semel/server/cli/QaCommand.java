package dev.semel.server.cli;

import dev.semel.error.SemelException;
import dev.semel.server.definition.Definition;
import dev.semel.server.definition.WorkflowName;
import dev.semel.server.demo.Sandbox;
import dev.semel.server.demo.Understudy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "qa",
        description = "Goes through the checklist before production, on a scratch server with stand-ins for everybody"
                + " whom the workflow calls. Nothing real is sent.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel qa workflows/payment_receipt.yaml",
            "  semel qa workflows/fulfil_order.yaml --data @order.json",
            "  semel qa payment_receipt --server https://semel.example.com"
        })
final class QaCommand implements Callable<Integer> {
    private final Surroundings around;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(
            paramLabel = "WORKFLOW",
            description = "A file; or the name of a workflow, which is then read from the server.")
    String workflow = "";

    @Option(
            names = "--data",
            paramLabel = "JSON",
            description = "The data of the trigger: JSON, @FILE, or - for stdin; made up from `input` unless told.")
    @Nullable
    String data;

    @Option(
            names = "--answers",
            paramLabel = "FILE",
            description =
                    "What is answered to steps: {\"STEP\": {\"status\": 200, \"body\": {…}}}. Unless told it is what"
                            + " was sent, an id, and whatever the file reads.")
    @Nullable
    Path answers;

    QaCommand(Surroundings around) {
        this.around = around;
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    @Override
    public Integer call() {
        QaSubject subject = subject();
        Queue<String> log = new ConcurrentLinkedQueue<>();
        try (Understudy understudy = Understudy.start();
                Sandbox sandbox = Sandbox.beside(understudy, log::add)) {
            String address = sandbox.start().address();
            var stage = new QaLines.Stage(around, address, () -> String.join("\n", log));
            return told(subject, new QaLines(subject, understudy, stage).all());
        } catch (IOException | UncheckedIOException e) {
            throw broken(String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw broken("it was interrupted");
        }
    }

    private static Failure broken(String why) {
        return Failure.here(
                Exit.FAILED,
                "qa-failed",
                "The checklist did not come to its end: " + why + ". The scratch server is gone and nothing was sent.",
                "Try it again; `semel doctor` looks at what a server needs.");
    }

    private int told(QaSubject subject, List<QaLine> lines) {
        boolean all = lines.stream().allMatch(QaLine::passed);
        if (output.json) {
            ObjectNode document =
                    Json.object().put("workflow", subject.main().name()).put("passed", all);
            ArrayNode items = document.putArray("lines");
            lines.forEach(line -> items.addObject()
                    .put("line", line.title())
                    .put("passed", line.passed())
                    .put("evidence", line.evidence()));
            output.document(document);
        } else {
            for (int i = 0; i < lines.size(); i++) {
                QaLine line = lines.get(i);
                String mark = line.passed() ? output.green("pass") : output.red("FAIL");
                output.line((i + 1) + " " + mark + "  " + line.title());
                output.line("        " + Json.clean(line.evidence()));
            }
            long failed = lines.stream().filter(line -> !line.passed()).count();
            output.talk(
                    all
                            ? subject.main().name() + ": all " + lines.size() + " lines passed. Nothing real was sent."
                            : subject.main().name() + ": " + failed + " of " + lines.size()
                                    + " lines failed. Nothing real was sent.");
        }
        return all ? Exit.DONE : Exit.FAILED;
    }

    private QaSubject subject() {
        Path file = around.folder().resolve(workflow);
        Map<String, Definition> all = new LinkedHashMap<>();
        if (Files.isRegularFile(file)) {
            Definition main = compiled(WorkflowFiles.read(file));
            children(main, all, name -> beside(file, name));
        } else {
            children(compiled(onServer(workflow)), all, this::onServer);
        }
        List<Definition> ordered = new ArrayList<>(all.values());
        Definition main = ordered.getLast();
        main.steps().filter(step -> step.kind().equals("java")).findFirst().ifPresent(step -> {
            throw Failure.here(
                    Exit.FAILED,
                    "qa-refused",
                    "Step " + step.id() + " is written in Java and might reach somebody real. Nothing was run.",
                    "Test it with the Lab (docs/how-to), and the rest of the workflow without it here.");
        });
        return new QaSubject(ordered, data(main), answers());
    }

    private ObjectNode data(Definition main) {
        if (data == null) {
            return QaSubject.madeUp(main);
        }
        if (Json.parse(Payload.read(data, around)) instanceof ObjectNode given) {
            return given;
        }
        throw Failure.here(Exit.USAGE, "invalid-data", "The data is not a JSON object. Nothing was run.", "Send {…}.");
    }

    private JsonNode answers() {
        return answers == null ? Json.object() : Json.parse(Payload.read("@" + answers, around));
    }

    private static Definition compiled(String text) {
        try {
            return Definition.compile(text);
        } catch (SemelException e) {
            throw Failure.of(Exit.FAILED, e);
        }
    }

    /** Where the text of a workflow is found by its name. */
    private interface Shelf {
        String text(String name);
    }

    /** Children before those that call them. A circle ends here and is refused when it is published. */
    private static void children(Definition one, Map<String, Definition> all, Shelf shelf) {
        children(one, all, new HashSet<>(Set.of(one.name())), shelf);
    }

    private static void children(Definition one, Map<String, Definition> all, Set<String> seen, Shelf shelf) {
        for (String name : one.calls()) {
            if (seen.add(name)) {
                children(compiled(shelf.text(name)), all, seen, shelf);
            }
        }
        all.put(one.name(), one);
    }

    private static String beside(Path file, String name) {
        Path folder = file.toAbsolutePath().getParent();
        try (Stream<Path> files = Files.list(folder == null ? Path.of(".") : folder)) {
            return files.filter(WorkflowFiles::isOne)
                    .sorted()
                    .map(WorkflowFiles::read)
                    .filter(text -> name.equals(WorkflowName.in(text).orElse("")))
                    .findFirst()
                    .orElseThrow(() -> Failure.here(
                            Exit.NOT_FOUND,
                            "not-found",
                            "The workflow starts " + name + ", and no file beside it is that. Nothing was run.",
                            "Put its file into the same folder."));
        } catch (IOException e) {
            throw WorkflowFiles.bad(
                    file, "has neighbours that cannot be listed", "Check the permissions of its folder.");
        }
    }

    private String onServer(String name) {
        Api api = connection.api();
        JsonNode known = api.ask(Call.get(Call.path("v1", "workflows", name))).body();
        String version = Json.text(known, "version");
        JsonNode text = api.ask(Call.get(Call.path("v1", "workflows", name, "versions", version)))
                .body();
        return text.path("definition").asString("");
    }
}
