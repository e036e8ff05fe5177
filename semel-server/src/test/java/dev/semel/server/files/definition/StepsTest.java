package dev.semel.server.files.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class StepsTest {
    private static final WorkflowDefinition CHAIN = DefinitionFixtures.compiled("""
        steps:
          - id: first
            set: {value: '${ input.n }', list: [a, '${ input.n + 1 }'], fixed: 5}
          - id: second
            when: ${ steps.first.value > 10 }
            set: ${ steps.first.list }
          - id: third
            set: ${ step.id }
        output:
          second: ${ default(steps.second, "skipped") }
          third: ${ steps.third }
        """);

    @Test
    void steps_run_in_order_and_each_is_recorded_under_its_id() throws Exception {
        var context = new InMemoryDurableOperations("run_9");
        JsonNode output = CHAIN.body(dev.semel.server.files.steps.YamlStepDependencies.UNAVAILABLE)
                .run(context, StrictJsonCodec.parse("{\"n\": 11}"));
        assertEquals(List.of("first", "second", "third"), List.copyOf(context.recorded.keySet()));
        assertEquals("{\"value\":11,\"list\":[\"a\",12],\"fixed\":5}", context.recorded.get("first"));
        assertEquals("{\"second\":[\"a\",12],\"third\":\"run_9/third\"}", StrictJsonCodec.write(output));
    }

    @Test
    void a_step_whose_condition_is_false_is_skipped_and_absent() throws Exception {
        var context = new InMemoryDurableOperations("run_9");
        JsonNode output = CHAIN.body(dev.semel.server.files.steps.YamlStepDependencies.UNAVAILABLE)
                .run(context, StrictJsonCodec.parse("{\"n\": 1}"));
        assertEquals(List.of("first", "third"), List.copyOf(context.recorded.keySet()));
        assertEquals("skipped", output.get("second").stringValue());
    }

    @Test
    void a_recorded_step_is_not_evaluated_again() throws Exception {
        var context = new InMemoryDurableOperations("run_9");
        context.recorded.put("first", "{\"value\":99,\"list\":\"kept\"}");
        JsonNode output = CHAIN.body(dev.semel.server.files.steps.YamlStepDependencies.UNAVAILABLE)
                .run(context, StrictJsonCodec.parse("{}"));
        assertEquals("kept", output.get("second").stringValue());
    }

    @Test
    void a_failing_step_is_named_and_later_steps_do_not_run() {
        WorkflowDefinition definition = DefinitionFixtures.compiled("""
            steps:
              - {id: good, set: 1}
              - {id: bad, set: '${ lower(input.card) }'}
              - {id: never, set: 2}
            """);
        var context = new InMemoryDurableOperations("run_9");
        SemelException e = assertThrows(
                SemelException.class,
                () -> definition
                        .body(dev.semel.server.files.steps.YamlStepDependencies.UNAVAILABLE)
                        .run(context, StrictJsonCodec.parse("{\"card\": 4111111111111111}")));
        assertEquals(ErrorCode.INVALID_INPUT, e.code());
        assertTrue(e.detail().startsWith("Step 'bad' of workflow 'w' could not be evaluated"), e.detail());
        assertFalse(e.toString().contains("4111"), e.toString());
        assertEquals(List.of("good"), List.copyOf(context.recorded.keySet()));
    }

    @Test
    void a_condition_that_is_not_a_boolean_fails_the_step() {
        WorkflowDefinition definition =
                DefinitionFixtures.compiled("steps:\n  - {id: a, when: '${ input.x }', set: 1}\n");
        SemelException e =
                assertThrows(SemelException.class, () -> DefinitionFixtures.run(definition, "{\"x\": \"true\"}"));
        assertTrue(e.detail().startsWith("The condition of step 'a' of workflow 'w'"), e.detail());
        assertTrue(e.detail().contains("it returned text instead of true or false"), e.detail());
    }

    @Test
    void reading_a_skipped_step_fails_clearly() {
        WorkflowDefinition definition = DefinitionFixtures.compiled("""
            steps:
              - {id: a, when: false, set: {x: 1}}
            output: ${ steps.a.x }
            """);
        SemelException e = assertThrows(SemelException.class, () -> DefinitionFixtures.run(definition, "{}"));
        assertTrue(e.detail().contains("steps.a.x is missing"), e.detail());
    }

    @Test
    void a_copied_number_keeps_every_digit() throws Exception {
        WorkflowDefinition definition = DefinitionFixtures.compiled("""
            steps:
              - {id: a, set: {v: '${ input.v }'}}
            output: ${ steps.a.v }
            """);
        for (String number : List.of(
                "9007199254740993", "123456789012345678901234567890", "0.1000000000000000055511151231257827", "1.10")) {
            assertEquals(number, StrictJsonCodec.write(DefinitionFixtures.run(definition, "{\"v\":" + number + "}")));
        }
    }
}
