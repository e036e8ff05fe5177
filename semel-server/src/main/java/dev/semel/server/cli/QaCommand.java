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

/** `semel qa`: runs the pre-production checklist of a workflow on a scratch server. */
@Command(
        name = "qa",
        description = "Runs the pre-production checklist on a scratch server, with stubs for every service that the"
                + " workflow calls. Nothing real is sent.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel qa workflows/payment_receipt.yaml",
            "  semel qa workflows/fulfil_order.yaml --data @order.json",
            "  semel qa payment_receipt --server https://semel.example.com"
        })
final class QaCommand implements Callable<Integer> {
    private final Surroundings environment;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(
            paramLabel = "WORKFLOW",
            description = "Workflow file, or the name of a workflow on the server.")
    String workflow = "";

    @Option(
            names = "--data",
            paramLabel = "JSON",
            description = "Trigger data: JSON, @FILE, or - for stdin. Default: sample data from `input`.")
    @Nullable
    String data;

    @Option(
            names = "--answers",
            paramLabel = "FILE",
            description =
                    "Responses to steps: {\"STEP\": {\"status\": 200, \"body\": {…}}}. Default: what was"
                            + " sent, an id, and every field that the file reads.")
    @Nullable
    Path answers;

    QaCommand(Surroundings environment) {
        this.environment = environment;
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    @Override
    public Integer call() {
        QaSubject subject = subject();
        Queue<String> log = new ConcurrentLinkedQueue<>();
        try (Understudy understudy = Understudy.start();
                Sandbox sandbox = Sandbox.beside(understudy, log::add)) {
            String address = sandbox.start().address();
            var stage = new QaLines.Stage(environment, address, () -> String.join("\n", log));
            return report(subject, new QaLines(subject, understudy, stage).all());
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
                "The checklist did not finish: " + why + ". The scratch server is stopped and nothing real was sent.",
                "Run it again. `semel doctor` checks what a server needs.");
    }

    private int report(QaSubject subject, List<QaLine> lines) {
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
                            ? subject.main().name() + ": all " + lines.size() + " checks passed. Nothing real was sent."
                            : subject.main().name() + ": " + failed + " of " + lines.size()
                                    + " checks failed. Nothing real was sent.");
        }
        return all ? Exit.DONE : Exit.FAILED;
    }

    private QaSubject subject() {
        Path file = environment.folder().resolve(workflow);
        Map<String, Definition> all = new LinkedHashMap<>();
        if (Files.isRegularFile(file)) {
            Definition main = compile(WorkflowFiles.read(file));
            collect(main, all, name -> readSibling(file, name));
        } else {
            collect(compile(readFromServer(workflow)), all, this::readFromServer);
        }
        List<Definition> ordered = new ArrayList<>(all.values());
        Definition main = ordered.getLast();
        main.steps().filter(step -> step.kind().equals("java")).findFirst().ifPresent(step -> {
            throw Failure.here(
                    Exit.FAILED,
                    "qa-refused",
                    "Step " + step.id() + " is written in Java and could call a real service. Nothing was run.",
                    "Test it in Java, see docs/how-to/test-a-workflow.md, and check the rest of the"
                            + " workflow without it.");
        });
        return new QaSubject(ordered, data(main), answers());
    }

    private ObjectNode data(Definition main) {
        if (data == null) {
            return QaSubject.madeUp(main);
        }
        if (Json.parse(Payload.read(data, environment)) instanceof ObjectNode given) {
            return given;
        }
        throw Failure.here(Exit.USAGE, "invalid-data", "The data is not a JSON object. Nothing was run.", "Send {…}.");
    }

    private JsonNode answers() {
        return answers == null ? Json.object() : Json.parse(Payload.read("@" + answers, environment));
    }

    private static Definition compile(String text) {
        try {
            return Definition.compile(text);
        } catch (SemelException e) {
            throw Failure.of(Exit.FAILED, e);
        }
    }

    /** Finds the text of a workflow by its name. */
    private interface Shelf {
        String text(String name);
    }

    /** Collects child workflows before their callers. A cycle ends here; publishing rejects it. */
    private static void collect(Definition one, Map<String, Definition> all, Shelf source) {
        collect(one, all, new HashSet<>(Set.of(one.name())), source);
    }

    private static void collect(Definition one, Map<String, Definition> all, Set<String> seen, Shelf source) {
        for (String name : one.calls()) {
            if (seen.add(name)) {
                collect(compile(source.text(name)), all, seen, source);
            }
        }
        all.put(one.name(), one);
    }

    private static String readSibling(Path file, String name) {
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
                            "The workflow starts " + name + ", and no file in its folder defines it. Nothing was run.",
                            "Put its file into the same folder."));
        } catch (IOException e) {
            throw WorkflowFiles.bad(
                    file, "is in a folder that cannot be listed", "Check the permissions of its folder.");
        }
    }

    private String readFromServer(String name) {
        Api api = connection.api();
        JsonNode known = api.ask(Call.get(Call.path("v1", "workflows", name))).body();
        String version = Json.text(known, "version");
        JsonNode text = api.ask(Call.get(Call.path("v1", "workflows", name, "versions", version)))
                .body();
        return text.path("definition").asString("");
    }
}
