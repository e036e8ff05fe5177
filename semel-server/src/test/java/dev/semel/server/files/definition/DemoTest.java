package dev.semel.server.files.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.semel.json.StrictJsonCodec;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class DemoTest {
    private static WorkflowDefinition demo() throws IOException {
        try (InputStream file = WorkflowDefinition.class.getResourceAsStream("/examples/payment_receipt.yaml")) {
            return WorkflowDefinition.compile(
                    new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8));
        }
    }

    @Test
    void the_demo_completes_a_payment() throws Exception {
        JsonNode data = StrictJsonCodec.parse("""
            {"payment_id": "pay_abc", "amount": 4900, "currency": "usd"}\
            """);
        WorkflowDefinition demo = demo();
        demo.checkInput(data);
        var context = new InMemoryDurableOperations("run_1");
        JsonNode output = demo.body(dev.semel.server.files.steps.YamlStepDependencies.UNAVAILABLE)
                .run(context, data);
        assertEquals("pay_abc", output.get("reference").stringValue());
        assertEquals(
                "LIC-" + output.get("license").stringValue().substring(4),
                output.get("license").stringValue());
        assertEquals(
                "Receipt for pay_abc, 49.00 USD, license "
                        + output.get("license").stringValue(),
                output.get("receipt").stringValue());
        assertEquals(List.of("subject", "license", "price", "receipt"), List.copyOf(context.recorded.keySet()));
        assertEquals("payment:pay_abc", demo.objectOf(data));
        assertEquals("49.00 USD", demo.worthOf(data));
    }

    @Test
    void the_demo_completes_a_plain_task() throws Exception {
        JsonNode data = StrictJsonCodec.parse("{\"task_id\": \"t_abc123\"}");
        WorkflowDefinition demo = demo();
        demo.checkInput(data);
        var context = new InMemoryDurableOperations("run_1");
        JsonNode output = demo.body(dev.semel.server.files.steps.YamlStepDependencies.UNAVAILABLE)
                .run(context, data);
        assertEquals("t_abc123", output.get("reference").stringValue());
        assertEquals(List.of("subject", "license", "receipt"), List.copyOf(context.recorded.keySet()));
        assertNull(demo.objectOf(data));
        assertNull(demo.worthOf(data));
    }

    @Test
    void the_demo_completes_even_without_any_field() throws Exception {
        assertEquals(
                "run_1", DefinitionFixtures.run(demo(), "{}").get("reference").stringValue());
    }

    @Test
    void the_demo_rejects_a_changed_payment_and_reads_the_key_from_the_header() throws Exception {
        WorkflowDefinition demo = demo();
        assertEquals(
                List.of("payment_id", "amount", "currency"),
                demo.policy().fingerprint().stream().map(f -> f.name()).toList());
        assertEquals(SameKeyDifferentPayloadPolicy.REJECT, demo.policy().onMismatch());
        assertEquals(Duration.ofHours(24), demo.policy().window());
        assertFalse(demo.derivesKey());
        assertEquals(List.of(), demo.warnings());
    }
}
