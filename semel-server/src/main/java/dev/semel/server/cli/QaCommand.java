package dev.semel.server.cli;

import dev.semel.error.SemelException;
import dev.semel.server.definition.WorkflowDefinition;
import dev.semel.server.definition.WorkflowNameFinder;
import dev.semel.server.demo.DemoEnvironment;
import dev.semel.server.demo.ProviderSimulator;
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
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** `semel qa`: runs the pre-production checklist of a workflow on a scratch server. */
@Command(
        name = "qa",
        description = "Runs the pre-production checklist on a scratch server. Stubs replace every service that the"
                + " workflow calls. Nothing real is sent.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel qa workflows/payment_receipt.yaml",
            "  semel qa workflows/fulfil_order.yaml --data @order.json",
            "  semel qa payment_receipt --server https://semel.example.com"
        })
final class QaCommand extends ApiCommand {
    @Parameters(paramLabel = "WORKFLOW", description = "Workflow file, or the name of a workflow on the server.")
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
            description = "Responses to steps: {\"STEP\": {\"status\": 200, \"body\": {…}}}. Default: what was"
                    + " sent, an id, and every field that the file reads.")
    @Nullable
    Path answers;

    QaCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    public Integer call() {
        QaWorkflow subject = subject();
        Queue<String> log = new ConcurrentLinkedQueue<>();
        try (ProviderSimulator understudy = ProviderSimulator.start();
                DemoEnvironment sandbox = DemoEnvironment.openWithSimulator(understudy, log::add)) {
            String address = sandbox.startServer().address();
            var stage = new QaChecklist.QaServer(environment, address, () -> String.join("\n", log));
            return report(subject, new QaChecklist(subject, understudy, stage).runAll());
        } catch (IOException | UncheckedIOException e) {
            throw broken(String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw broken("it was interrupted");
        }
    }

    private static CommandFailure broken(String why) {
        return CommandFailure.create(
                ExitCode.FAILED,
                "qa-failed",
                "The checklist did not finish: " + why + ". The scratch server is stopped and nothing real was sent.",
                "Run it again. `semel doctor` checks what a server needs.");
    }

    private int report(QaWorkflow subject, List<QaCheckResult> lines) {
        boolean all = lines.stream().allMatch(QaCheckResult::passed);
        if (output.json) {
            ObjectNode document = TerminalJson.newObject()
                    .put("workflow", subject.workflow().name())
                    .put("passed", all);
            ArrayNode items = document.putArray("lines");
            lines.forEach(line -> items.addObject()
                    .put("line", line.title())
                    .put("passed", line.passed())
                    .put("evidence", line.evidence()));
            output.printJson(document);
        } else {
            for (int i = 0; i < lines.size(); i++) {
                QaCheckResult line = lines.get(i);
                String mark = line.passed() ? output.green("pass") : output.red("FAIL");
                output.printLine((i + 1) + " " + mark + "  " + line.title());
                output.printLine("        " + TerminalJson.sanitize(line.evidence()));
            }
            long failed = lines.stream().filter(line -> !line.passed()).count();
            output.printMessage(
                    all
                            ? subject.workflow().name() + ": all " + lines.size()
                                    + " checks passed. Nothing real was sent."
                            : subject.workflow().name() + ": " + failed + " of " + lines.size()
                                    + " checks failed. Nothing real was sent.");
        }
        return all ? ExitCode.OK : ExitCode.FAILED;
    }

    private QaWorkflow subject() {
        Path file = environment.folder().resolve(workflow);
        Map<String, WorkflowDefinition> all = new LinkedHashMap<>();
        if (Files.isRegularFile(file)) {
            WorkflowDefinition main = compile(WorkflowFiles.read(file));
            collect(main, all, name -> readSibling(file, name));
        } else {
            collect(compile(readFromServer(workflow)), all, this::readFromServer);
        }
        List<WorkflowDefinition> ordered = new ArrayList<>(all.values());
        WorkflowDefinition main = ordered.getLast();
        main.steps().filter(step -> step.kind().equals("java")).findFirst().ifPresent(step -> {
            throw CommandFailure.create(
                    ExitCode.FAILED,
                    "qa-refused",
                    "Step " + step.id() + " is written in Java and could call a real service. Nothing was run.",
                    "Test it in Java, see docs/how-to/test-a-workflow.md, and check the rest of the"
                            + " workflow without it.");
        });
        return new QaWorkflow(ordered, data(main), answers());
    }

    private ObjectNode data(WorkflowDefinition main) {
        if (data == null) {
            return QaWorkflow.sampleData(main);
        }
        if (TerminalJson.parse(PayloadArgument.read(data, environment)) instanceof ObjectNode given) {
            return given;
        }
        throw CommandFailure.create(
                ExitCode.USAGE, "invalid-data", "The data is not a JSON object. Nothing was run.", "Send {…}.");
    }

    private JsonNode answers() {
        return answers == null
                ? TerminalJson.newObject()
                : TerminalJson.parse(PayloadArgument.read("@" + answers, environment));
    }

    private static WorkflowDefinition compile(String text) {
        try {
            return WorkflowDefinition.compile(text);
        } catch (SemelException e) {
            throw CommandFailure.from(ExitCode.FAILED, e);
        }
    }

    /** Finds the text of a workflow by its name. */
    private interface WorkflowTextSource {
        String read(String name);
    }

    /** Collects child workflows before their callers. A cycle ends here; publishing rejects it. */
    private static void collect(
            WorkflowDefinition one, Map<String, WorkflowDefinition> all, WorkflowTextSource source) {
        collect(one, all, new HashSet<>(Set.of(one.name())), source);
    }

    private static void collect(
            WorkflowDefinition one, Map<String, WorkflowDefinition> all, Set<String> seen, WorkflowTextSource source) {
        for (String name : one.calledWorkflows()) {
            if (seen.add(name)) {
                collect(compile(source.read(name)), all, seen, source);
            }
        }
        all.put(one.name(), one);
    }

    private static String readSibling(Path file, String name) {
        Path folder = file.toAbsolutePath().getParent();
        try (Stream<Path> files = Files.list(folder == null ? Path.of(".") : folder)) {
            return files.filter(WorkflowFiles::isWorkflowFile)
                    .sorted()
                    .map(WorkflowFiles::read)
                    .filter(text -> name.equals(WorkflowNameFinder.find(text).orElse("")))
                    .findFirst()
                    .orElseThrow(() -> CommandFailure.create(
                            ExitCode.NOT_FOUND,
                            "not-found",
                            "The workflow starts " + name + ", and no file in its folder defines it. Nothing was run.",
                            "Put its file into the same folder."));
        } catch (IOException e) {
            throw WorkflowFiles.failure(
                    file, "is in a folder that cannot be listed", "Check the permissions of its folder.");
        }
    }

    private String readFromServer(String name) {
        ApiClient api = connection.api();
        JsonNode known = api.send(ApiRequest.get(ApiRequest.path("v1", "workflows", name)))
                .body();
        String version = TerminalJson.text(known, "version");
        JsonNode text = api.send(ApiRequest.get(ApiRequest.path("v1", "workflows", name, "versions", version)))
                .body();
        return text.path("definition").asString("");
    }
}
