package dev.semel.server.cli.acceptance;

import dev.semel.error.SemelException;
import dev.semel.server.cli.acceptance.WorkflowAcceptanceTestResult.Outcome;
import dev.semel.server.cli.command.CliApiClient;
import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.CliPayloadArgumentReader;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.cli.workflow.CliWorkflowFileReader;
import dev.semel.server.demo.DevServerChildProcess;
import dev.semel.server.demo.ExternalApiSimulator;
import dev.semel.server.demo.TemporaryDevServerEnvironment;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.server.files.definition.YamlWorkflowNameReader;
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
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "qa",
        description = "Runs the pre-production checklist on a temporary server. Stubs replace every service that the"
                + " workflow calls. Nothing real is sent.",
        footer = {
            "  semel qa workflows/payment_receipt.yaml",
            "  semel qa workflows/fulfil_order.yaml --data @order.json",
            "  semel qa payment_receipt --server https://semel.example.com"
        })
public final class WorkflowAcceptanceTestCommand extends CliApiCommand {
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
            description =
                    "Stub responses by step, such as {\"charge\": {\"status\": 200, \"body\": {\"id\": \"ch_1\"}}}."
                            + " Default: each stub returns the sent data, an id, and every response field that the"
                            + " workflow file uses.")
    @Nullable
    Path answers;

    @Override
    public Integer call() {
        WorkflowUnderTest subject = subject();
        Queue<String> log = new ConcurrentLinkedQueue<>();
        try (ExternalApiSimulator simulator = ExternalApiSimulator.start();
                TemporaryDevServerEnvironment sandbox =
                        TemporaryDevServerEnvironment.openWithSimulator(simulator, log::add)) {
            DevServerChildProcess server = sandbox.startServer();
            var stage = new WorkflowAcceptanceTestRunner.QaServer(
                    environment(),
                    server.address(),
                    () -> String.join("\n", log),
                    new AcceptanceTestServerClock(environment().clock(), server::advanceClock));
            return report(subject, new WorkflowAcceptanceTestRunner(subject, simulator, stage).runAll());
        } catch (IOException | UncheckedIOException e) {
            throw broken(String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw broken("it was interrupted");
        }
    }

    private static CliCommandException broken(String why) {
        return CliCommandException.create(
                ExitCode.FAILED,
                "qa-failed",
                "The checklist did not finish: " + why + ". The temporary server is stopped and nothing real was sent.",
                "Run the command again. `semel doctor` checks what a server needs.");
    }

    private int report(WorkflowUnderTest subject, List<WorkflowAcceptanceTestResult> lines) {
        boolean all = lines.stream().allMatch(WorkflowAcceptanceTestResult::passed);
        if (output.json) {
            ObjectNode document = TerminalJsonFormatter.newObject()
                    .put("workflow", subject.workflow().name())
                    .put("passed", all);
            ArrayNode items = document.putArray("lines");
            lines.forEach(line -> items.addObject()
                    .put("line", line.title())
                    .put("passed", line.passed())
                    .put("result", line.outcome().word())
                    .put("evidence", line.evidence()));
            output.printJson(document);
        } else {
            for (int i = 0; i < lines.size(); i++) {
                WorkflowAcceptanceTestResult line = lines.get(i);
                String mark = line.outcome().mark;
                mark = line.passed() ? output.green(mark) : output.red(mark);
                output.printLine((i + 1) + " " + mark + "  " + line.title());
                output.printLine("        " + TerminalJsonFormatter.sanitize(line.evidence()));
            }
            String result = all
                    ? "all " + lines.size() + " checks passed"
                    : count(lines, Outcome.FAILED) + " of " + lines.size() + " checks failed, "
                            + count(lines, Outcome.NOT_TRIED) + " not tried";
            output.printMessage(subject.workflow().name() + ": " + result + ". Nothing real was sent.");
        }
        return all ? ExitCode.OK : ExitCode.FAILED;
    }

    private static long count(List<WorkflowAcceptanceTestResult> lines, Outcome outcome) {
        return lines.stream().filter(line -> line.outcome() == outcome).count();
    }

    private WorkflowUnderTest subject() {
        Path file = environment().folder().resolve(workflow);
        Map<String, WorkflowDefinition> all = new LinkedHashMap<>();
        if (Files.isRegularFile(file)) {
            WorkflowDefinition main = compile(CliWorkflowFileReader.read(file));
            collect(main, all, new HashSet<>(), name -> readSibling(file, name));
        } else {
            collect(compile(readFromServer(workflow)), all, new HashSet<>(), this::readFromServer);
        }
        List<WorkflowDefinition> ordered = new ArrayList<>(all.values());
        WorkflowDefinition main = ordered.getLast();
        main.steps().filter(step -> step.kind().equals("java")).findFirst().ifPresent(step -> {
            throw CliCommandException.create(
                    ExitCode.FAILED,
                    "qa-refused",
                    "Step " + step.id() + " is written in Java and could call a real service. Nothing was run.",
                    "Test this step in Java (docs/how-to/test-a-workflow.md). To check the rest of the workflow,"
                            + " remove the step from a copy of the file.");
        });
        return new WorkflowUnderTest(ordered, data(main), answers());
    }

    private ObjectNode data(WorkflowDefinition main) {
        if (data == null) {
            return WorkflowUnderTest.sampleData(main);
        }
        if (TerminalJsonFormatter.parse(CliPayloadArgumentReader.read(data, environment()))
                instanceof ObjectNode given) {
            return given;
        }
        throw CliCommandException.create(
                ExitCode.USAGE,
                "invalid-data",
                "The data is not a JSON object. Nothing was run.",
                "Pass an object such as {\"amount\":4900}.");
    }

    private JsonNode answers() {
        return answers == null
                ? TerminalJsonFormatter.newObject()
                : TerminalJsonFormatter.parse(CliPayloadArgumentReader.read("@" + answers, environment()));
    }

    private static WorkflowDefinition compile(String text) {
        try {
            return WorkflowDefinition.compile(text);
        } catch (SemelException e) {
            throw CliCommandException.from(ExitCode.FAILED, e);
        }
    }

    /**
     * Collects child workflows before their callers. A cycle ends here; publishing rejects it.
     *
     * @param text finds the text of a workflow by its name
     */
    private static void collect(
            WorkflowDefinition one, Map<String, WorkflowDefinition> all, Set<String> seen, UnaryOperator<String> text) {
        seen.add(one.name());
        for (String name : one.calledWorkflows()) {
            if (seen.add(name)) {
                collect(compile(text.apply(name)), all, seen, text);
            }
        }
        all.put(one.name(), one);
    }

    private static String readSibling(Path file, String name) {
        Path folder = file.toAbsolutePath().getParent();
        try (Stream<Path> files = Files.list(folder == null ? Path.of(".") : folder)) {
            return files.filter(CliWorkflowFileReader::isWorkflowFile)
                    .sorted()
                    .map(CliWorkflowFileReader::read)
                    .filter(text ->
                            name.equals(YamlWorkflowNameReader.find(text).orElse("")))
                    .findFirst()
                    .orElseThrow(() -> CliCommandException.create(
                            ExitCode.NOT_FOUND,
                            "not-found",
                            "The workflow starts " + name
                                    + ", but no file in the same folder defines that workflow. Nothing was run.",
                            "Put its file into the same folder."));
        } catch (IOException e) {
            throw CliWorkflowFileReader.failure(
                    file, "is in a folder that cannot be listed", "Check the permissions of its folder.");
        }
    }

    private String readFromServer(String name) {
        CliApiClient api = connection.api();
        JsonNode known = api.send(CliApiRequest.get("v1", "workflows", name)).body();
        String version = TerminalJsonFormatter.text(known, "version");
        JsonNode text = api.send(CliApiRequest.get("v1", "workflows", name, "versions", version))
                .body();
        return text.path("definition").asString("");
    }
}
