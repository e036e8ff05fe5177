package dev.semel.server.files.definition;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Assertions;
import tools.jackson.databind.JsonNode;

/** Words of the tests of this room. */
final class DefinitionFixtures {
    private DefinitionFixtures() {}

    static final String STEP = "steps:\n  - {id: note, set: {ok: true}}\n";

    /** A whole file from the part under test. */
    static String with(String section) {
        return "semel: 1\nworkflow: w\nowner: o\n" + section + (section.contains("steps:") ? "" : STEP);
    }

    /** What compiles here fits the schema as well: all tests of this room are its corpus. */
    static WorkflowDefinition compiled(String section) {
        WorkflowDefinition definition = WorkflowDefinition.compile(with(section));
        Assertions.assertEquals(List.of(), Schemas.faults(with(section)), section);
        return definition;
    }

    static SemelException refused(String text) {
        SemelException e = assertThrows(SemelException.class, () -> WorkflowDefinition.compile(text));
        Assertions.assertEquals(ErrorCode.INVALID_DEFINITION, e.code());
        Schemas.checkRejected(text, e);
        return e;
    }

    record Mistake(int line, int column, String message, String pointer) {}

    @SuppressWarnings("unchecked")
    static List<Mistake> mistakes(String text) {
        var errors = (List<Map<String, Object>>) refused(text).members().get("errors");
        return Objects.requireNonNull(errors).stream()
                .map(error -> new Mistake(
                        (int) member(error, "line"),
                        (int) member(error, "column"),
                        (String) member(error, "message"),
                        (String) member(error, "pointer")))
                .toList();
    }

    private static Object member(Map<String, Object> error, String name) {
        return Objects.requireNonNull(error.get(name));
    }

    static Mistake only(String text) {
        List<Mistake> mistakes = mistakes(text);
        Assertions.assertEquals(1, mistakes.size(), mistakes::toString);
        return mistakes.getFirst();
    }

    /** The output of a workflow whose only work is this output, written as one line of YAML. */
    static JsonNode output(String output, String input) {
        WorkflowDefinition definition = compiled(STEP + "output: " + output + "\n");
        return run(definition, input);
    }

    static JsonNode run(WorkflowDefinition definition, String input) {
        try {
            return definition
                    .body(dev.semel.server.files.steps.YamlStepDependencies.UNAVAILABLE)
                    .run(new InMemoryDurableOperations("run_1"), StrictJsonCodec.parse(input));
        } catch (SemelException e) {
            throw e;
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Why an expression could not be evaluated. */
    static String failure(String output, String input) {
        SemelException e = assertThrows(SemelException.class, () -> output(output, input));
        Assertions.assertEquals(ErrorCode.INVALID_INPUT, e.code());
        return e.detail();
    }
}
