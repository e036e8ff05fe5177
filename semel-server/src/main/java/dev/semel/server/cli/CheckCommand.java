package dev.semel.server.cli;

import dev.semel.error.SemelException;
import dev.semel.server.definition.Definition;
import dev.semel.server.definition.Explanation;
import dev.semel.server.definition.Loops;
import dev.semel.server.definition.WorkflowName;
import dev.semel.server.steps.Declared;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** `semel check`: validates workflow files, without a server or also against one. */
@Command(
        name = "check",
        description =
                "Validates workflow files locally, with the server's validator. With --server the"
                        + " server validates"
                + " them too, because only it knows the other workflows and the channels.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel check workflows",
            "  semel check --explain workflows/payment_receipt.yaml     what could happen twice, and what prevents it",
            "  semel check --server http://127.0.0.1:8085 workflows"
        })
final class CheckCommand implements Callable<Integer> {
    private static final int NEXT_SHOWN = 5;

    private final Surroundings environment;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(paramLabel = "FILE", arity = "1..*", description = "YAML or JSON files, or folders of them.")
    List<Path> files = List.of();

    @Option(
            names = "--explain",
            description =
                    "Explain for the trigger and each effect what a duplicate would do and what prevents it.")
    boolean explain;

    @Option(names = "--strict", description = "Treat warnings as errors.")
    boolean strict;

    CheckCommand(Surroundings environment) {
        this.environment = environment;
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    /** A file and its validation result. A rejected file has no definition. */
    private record Checked(
            Path file,
            String name,
            @Nullable Definition definition,
            @Nullable Failure failure) {
        boolean unprotected() {
            if (failure == null) {
                return false;
            }
            JsonNode errors = failure.document().path("errors");
            boolean all = !errors.isEmpty();
            for (JsonNode error : errors) {
                all &= error.path("message").asString("").startsWith("SEM-P01");
            }
            return all;
        }
    }

    @Override
    public Integer call() {
        List<Checked> all = WorkflowFiles.expand(environment.folder(), files).stream()
                .map(CheckCommand::read)
                .toList();
        List<Checked> checked =
                all.stream().map(one -> checkOnServer(checkNamesAndCycles(one, all))).toList();
        if (output.json) {
            output.document(document(checked));
        } else {
            print(checked);
        }
        boolean warned = checked.stream()
                .anyMatch(one -> one.definition() != null && !warnings(one).isEmpty());
        List<Checked> rejected =
                checked.stream().filter(one -> one.failure() != null).toList();
        if (rejected.isEmpty()) {
            return strict && warned ? Exit.FAILED : Exit.DONE;
        }
        return rejected.stream().allMatch(Checked::unprotected) ? Exit.UNPROTECTED : Exit.FAILED;
    }

    private static Checked read(Path file) {
        String shown = String.valueOf(file.getFileName());
        try {
            String text = WorkflowFiles.read(file);
            String name = WorkflowName.in(text).orElse(shown);
            try {
                return new Checked(file, name, Definition.compile(text), null);
            } catch (SemelException e) {
                return new Checked(file, name, null, Failure.of(Exit.FAILED, e));
            }
        } catch (Failure unreadable) {
            return new Checked(file, shown, null, unreadable);
        }
    }

    /** Rejects duplicate names and call cycles among the given files. Only the server can check its own workflows. */
    private static Checked checkNamesAndCycles(Checked one, List<Checked> all) {
        Definition definition = one.definition();
        if (definition == null) {
            return one;
        }
        Map<String, List<String>> calls = new LinkedHashMap<>();
        for (Checked other : all) {
            if (other.definition() != null) {
                calls.put(other.definition().name(), other.definition().calls());
            }
            if (!other.file().equals(one.file())
                    && other.definition() != null
                    && other.name().equals(one.name())) {
                Failure twice = Failure.here(
                        Exit.FAILED,
                        "invalid-definition",
                        "Workflow " + one.name() + " is also in " + other.file()
                                + ", so it is ambiguous which file applies.",
                        "Rename one of them.");
                return new Checked(one.file(), one.name(), null, twice);
            }
        }
        try {
            Loops.refuse(definition, name -> calls.getOrDefault(name, List.of()));
            return one;
        } catch (SemelException e) {
            return new Checked(one.file(), one.name(), null, Failure.of(Exit.FAILED, e));
        }
    }

    private Checked checkOnServer(Checked one) {
        Definition definition = one.definition();
        if (definition == null || connection.server == null) {
            return one;
        }
        try {
            String type = one.file().toString().endsWith(".json") ? "application/json" : "application/yaml";
            Call call = Call.put(Call.path("v1", "workflows", definition.name()), type, definition.text())
                    .where("dry_run", "true");
            connection.api().ask(call);
            return one;
        } catch (Failure failure) {
            if (failure.exit() == Exit.UNREACHABLE || failure.exit() == Exit.NOT_ALLOWED) {
                throw failure;
            }
            return new Checked(one.file(), one.name(), null, failure);
        }
    }

    private void print(List<Checked> checked) {
        Table table = new Table("WORKFLOW", "STEPS", "PROTECTED", "");
        for (Checked one : checked) {
            Definition definition = one.definition();
            String warned = count(warnings(one).size(), "warning");
            table.row(
                    Json.clean(one.name()),
                    definition == null ? "" : count((int) definition.steps().count(), "step"),
                    definition == null ? "" : protections(definition),
                    definition == null
                            ? output.red("rejected")
                            : warnings(one).isEmpty() ? output.green("ok") : output.yellow(warned));
        }
        table.print(output);
        for (Checked one : checked) {
            for (String warning : warnings(one)) {
                output.talk(Json.clean(one.file().toString()) + ": warning: " + Json.clean(warning));
            }
            if (one.failure() != null) {
                output.talk(Json.clean(one.file().toString()) + ": "
                        + String.join(System.lineSeparator(), one.failure().lines()));
            }
            if (explain && one.definition() != null) {
                explained(one.definition());
                times(one.definition());
            }
        }
        long rejected = checked.stream().filter(one -> one.failure() != null).count();
        int warned = checked.stream().mapToInt(one -> warnings(one).size()).sum();
        output.talk(count((int) rejected, "file") + " rejected, " + count(warned, "warning"));
    }

    private void explained(Definition definition) {
        for (Explanation one : Explanation.of(definition)) {
            output.line("");
            output.line(definition.name() + " › " + Json.clean(one.subject()));
            for (int i = 0; i < Explanation.QUESTIONS.size(); i++) {
                output.line("  " + (i + 1) + " " + Explanation.QUESTIONS.get(i));
                output.line("    " + Json.clean(one.answers().get(i)));
            }
        }
    }

    /** Prints the next times of each schedule, by the clock of this machine. */
    private void times(Definition definition) {
        definition.nextTimes(environment.clock().instant(), NEXT_SHOWN).forEach((schedule, times) -> {
            output.line("");
            output.line(definition.name() + " › schedule " + schedule + ", next:");
            times.forEach(time -> output.line("    " + time));
        });
    }

    private static List<String> warnings(Checked one) {
        return one.definition() == null ? List.of() : one.definition().warnings();
    }

    private static String count(int number, String word) {
        return number + " " + word + (number == 1 ? "" : "s");
    }

    /** Counts the effects per protection, in the order of the file. */
    private static String protections(Definition definition) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        definition.steps().forEach(step -> {
            Declared effect = step.act().effect();
            if (effect != null) {
                counts.merge(words(effect.protection()), 1, Integer::sum);
            } else if (step.act().calls() != null) {
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

    private ObjectNode document(List<Checked> checked) {
        ObjectNode document = Json.object();
        ArrayNode items = document.putArray("items");
        for (Checked one : checked) {
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

    private void times(ObjectNode item, Definition definition) {
        definition.nextTimes(environment.clock().instant(), NEXT_SHOWN).forEach((schedule, times) -> {
            ArrayNode out = item.withObject("schedules").putArray(schedule);
            times.forEach(time -> out.add(time.toString()));
        });
    }

    private static void explained(ArrayNode out, Definition definition) {
        for (Explanation one : Explanation.of(definition)) {
            ObjectNode subject = out.addObject().put("subject", one.subject());
            ArrayNode answers = subject.putArray("answers");
            for (int i = 0; i < Explanation.QUESTIONS.size(); i++) {
                answers.addObject()
                        .put("question", Explanation.QUESTIONS.get(i))
                        .put("answer", one.answers().get(i));
            }
        }
    }
}
