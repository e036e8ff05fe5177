package dev.semel.server.cli.workflow;

import dev.semel.error.SemelException;
import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.CliCommandOutput;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.cli.command.TextTable;
import dev.semel.server.files.definition.WorkflowCallCycleCheck;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.server.files.definition.WorkflowIdempotencyExplanation;
import dev.semel.server.files.definition.YamlWorkflowNameReader;
import dev.semel.server.files.steps.DeclaredEffect;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "check",
        description = "Validates workflow files locally, with the server's validator. With --server the server"
                + " validates them too, because only the server knows the other workflows and the channels.",
        footer = {
            "  semel check workflows",
            "  semel check --explain workflows/payment_receipt.yaml     what could happen twice, and what prevents it",
            "  semel check --server http://127.0.0.1:8085 workflows"
        })
public final class WorkflowCheckCommand extends CliApiCommand {
    private static final int NEXT_SHOWN = 5;

    @Parameters(paramLabel = "FILE", arity = "1..*", description = "YAML or JSON files, or folders of them.")
    List<Path> files = List.of();

    @Option(
            names = "--explain",
            description = "Explain for the trigger and each effect what a duplicate would do and what prevents it.")
    boolean explain;

    @Option(names = "--strict", description = "Treat warnings as errors.")
    boolean strict;

    /** A file and its validation result. A rejected file has no definition. */
    private record CheckedFile(
            Path file,
            String name,
            @Nullable WorkflowDefinition definition,
            @Nullable CliCommandException failure) {
        boolean isUnprotected() {
            JsonNode errors = failure == null
                    ? TerminalJsonFormatter.newObject()
                    : failure.document().path("errors");
            return !errors.isEmpty()
                    && errors.valueStream()
                            .allMatch(
                                    error -> error.path("message").asString("").startsWith("SEM-P01"));
        }
    }

    @Override
    public Integer call() {
        List<CheckedFile> all = CliWorkflowFileReader.expand(environment().folder(), files).stream()
                .map(WorkflowCheckCommand::read)
                .toList();
        List<CheckedFile> checked = all.stream()
                .map(one -> checkOnServer(checkNamesAndCycles(one, all)))
                .toList();
        output.print(document(checked), () -> print(checked));
        boolean warned = checked.stream().anyMatch(one -> !warnings(one).isEmpty());
        List<CheckedFile> rejected =
                checked.stream().filter(one -> one.failure() != null).toList();
        if (rejected.isEmpty()) {
            return strict && warned ? ExitCode.FAILED : ExitCode.OK;
        }
        return rejected.stream().allMatch(CheckedFile::isUnprotected) ? ExitCode.UNPROTECTED : ExitCode.FAILED;
    }

    private static CheckedFile read(Path file) {
        String shown = String.valueOf(file.getFileName());
        try {
            String text = CliWorkflowFileReader.read(file);
            String name = YamlWorkflowNameReader.find(text).orElse(shown);
            try {
                return new CheckedFile(file, name, WorkflowDefinition.compile(text), null);
            } catch (SemelException e) {
                return new CheckedFile(file, name, null, CliCommandException.from(ExitCode.FAILED, e));
            }
        } catch (CliCommandException unreadable) {
            return new CheckedFile(file, shown, null, unreadable);
        }
    }

    /** Rejects duplicate names and call cycles among the given files. Only the server can check its own workflows. */
    private static CheckedFile checkNamesAndCycles(CheckedFile one, List<CheckedFile> all) {
        WorkflowDefinition definition = one.definition();
        if (definition == null) {
            return one;
        }
        Map<String, List<String>> calls = new LinkedHashMap<>();
        for (CheckedFile other : all) {
            if (other.definition() != null) {
                calls.put(other.definition().name(), other.definition().calledWorkflows());
            }
            if (!other.file().equals(one.file())
                    && other.definition() != null
                    && other.name().equals(one.name())) {
                CliCommandException twice = CliCommandException.create(
                        ExitCode.FAILED,
                        "invalid-definition",
                        "Workflow " + one.name() + " is also in " + other.file()
                                + ", so it is ambiguous which file applies.",
                        "Rename one of them.");
                return new CheckedFile(one.file(), one.name(), null, twice);
            }
        }
        try {
            WorkflowCallCycleCheck.rejectCycles(definition, name -> calls.getOrDefault(name, List.of()));
            return one;
        } catch (SemelException e) {
            return new CheckedFile(one.file(), one.name(), null, CliCommandException.from(ExitCode.FAILED, e));
        }
    }

    private CheckedFile checkOnServer(CheckedFile one) {
        WorkflowDefinition definition = one.definition();
        if (definition == null || connection.server == null) {
            return one;
        }
        try {
            String type = one.file().toString().endsWith(".json") ? "application/json" : "application/yaml";
            CliApiRequest call = CliApiRequest.put("v1", "workflows", definition.name())
                    .withBody(type, definition.text())
                    .withFlag("dry_run", true);
            connection.api().send(call);
            return one;
        } catch (CliCommandException failure) {
            if (failure.exitCode() == ExitCode.UNREACHABLE || failure.exitCode() == ExitCode.NOT_ALLOWED) {
                throw failure;
            }
            return new CheckedFile(one.file(), one.name(), null, failure);
        }
    }

    private void print(List<CheckedFile> checked) {
        TextTable table = new TextTable("WORKFLOW", "STEPS", "PROTECTED", "");
        for (CheckedFile one : checked) {
            WorkflowDefinition definition = one.definition();
            String warned = CliCommandOutput.countOf(warnings(one).size(), "warning");
            table.addRow(
                    TerminalJsonFormatter.sanitize(one.name()),
                    definition == null
                            ? ""
                            : CliCommandOutput.countOf(definition.steps().count(), "step"),
                    definition == null ? "" : protections(definition),
                    definition == null
                            ? output.red("rejected")
                            : warnings(one).isEmpty() ? output.green("ok") : output.yellow(warned));
        }
        table.print(output);
        for (CheckedFile one : checked) {
            for (String warning : warnings(one)) {
                output.printMessage(TerminalJsonFormatter.sanitize(one.file().toString()) + ": warning: "
                        + TerminalJsonFormatter.sanitize(warning));
            }
            if (one.failure() != null) {
                output.printMessage(TerminalJsonFormatter.sanitize(one.file().toString()) + ": "
                        + String.join(System.lineSeparator(), one.failure().toLines()));
            }
            if (explain && one.definition() != null) {
                explained(one.definition());
                times(one.definition());
            }
        }
        long rejected = checked.stream().filter(one -> one.failure() != null).count();
        int warned = checked.stream().mapToInt(one -> warnings(one).size()).sum();
        output.printMessage(CliCommandOutput.countOf(rejected, "file") + " rejected, "
                + CliCommandOutput.countOf(warned, "warning"));
    }

    private void explained(WorkflowDefinition definition) {
        for (WorkflowIdempotencyExplanation one : WorkflowIdempotencyExplanation.of(definition)) {
            output.printLine("");
            output.printLine(definition.name() + " › " + TerminalJsonFormatter.sanitize(one.subject()));
            for (int i = 0; i < WorkflowIdempotencyExplanation.QUESTIONS.size(); i++) {
                output.printLine("  " + (i + 1) + " " + WorkflowIdempotencyExplanation.QUESTIONS.get(i));
                output.printLine(
                        "    " + TerminalJsonFormatter.sanitize(one.answers().get(i)));
            }
        }
    }

    /** Prints the next times of each schedule, by the clock of this machine. */
    private void times(WorkflowDefinition definition) {
        definition.nextTimes(environment().clock().instant(), NEXT_SHOWN).forEach((schedule, times) -> {
            output.printLine("");
            output.printLine(definition.name() + " › schedule " + schedule + ", next:");
            times.forEach(time -> output.printLine("    " + time));
        });
    }

    private List<String> warnings(CheckedFile one) {
        return one.definition() == null
                ? List.of()
                : one.definition().warnings(environment().clock().instant());
    }

    /** Counts the effects per protection, in the order of the file. */
    private static String protections(WorkflowDefinition definition) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        definition.steps().forEach(step -> {
            DeclaredEffect effect = step.action().declaredEffect();
            if (effect != null) {
                counts.merge(words(effect.protection()), 1, Integer::sum);
            } else if (step.action().calledWorkflow() != null) {
                counts.merge("child by key", 1, Integer::sum);
            }
        });
        List<String> parts = new ArrayList<>();
        counts.forEach((word, number) -> parts.add(number + " " + word));
        return parts.isEmpty() ? "no external effects" : String.join(", ", parts);
    }

    private static String words(String protection) {
        return switch (protection) {
            case "repeatable" -> "read-only";
            case "none" -> "UNPROTECTED";
            default -> protection.replace('_', ' ');
        };
    }

    private ObjectNode document(List<CheckedFile> checked) {
        ObjectNode document = TerminalJsonFormatter.newObject();
        ArrayNode items = document.putArray("items");
        for (CheckedFile one : checked) {
            ObjectNode item = items.addObject().put("file", one.file().toString());
            item.put("workflow", one.name()).put("ok", one.failure() == null);
            if (one.failure() != null) {
                item.set("problem", one.failure().document());
            }
            ArrayNode warnings = item.putArray("warnings");
            warnings(one).forEach(warnings::add);
            if (explain && one.definition() != null) {
                explained(item.putArray("explained"), one.definition());
                times(item, one.definition());
            }
        }
        return document;
    }

    private void times(ObjectNode item, WorkflowDefinition definition) {
        definition.nextTimes(environment().clock().instant(), NEXT_SHOWN).forEach((schedule, times) -> {
            ArrayNode out = item.withObject("schedules").putArray(schedule);
            times.forEach(time -> out.add(time.toString()));
        });
    }

    private static void explained(ArrayNode out, WorkflowDefinition definition) {
        for (WorkflowIdempotencyExplanation one : WorkflowIdempotencyExplanation.of(definition)) {
            ObjectNode subject = out.addObject().put("subject", one.subject());
            ArrayNode answers = subject.putArray("answers");
            for (int i = 0; i < WorkflowIdempotencyExplanation.QUESTIONS.size(); i++) {
                answers.addObject()
                        .put("question", WorkflowIdempotencyExplanation.QUESTIONS.get(i))
                        .put("answer", one.answers().get(i));
            }
        }
    }
}
