package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.store.Dialect;
import dev.semel.store.Invariants;
import dev.semel.store.StoreFixture;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The key on the wire is keyed with the workspace's secret: who knows the effect key cannot compute it. */
@ParameterizedClass
@EnumSource
final class WireKeyTest {
    private static final Duration SOON = Duration.ofSeconds(30);

    private final Dialect dialect;
    private final List<String> sent = new CopyOnWriteArrayList<>();
    private final Workflow<String, String> flow = Workflow.define("mail", String.class, String.class)
            .body((ctx, in) -> ctx.effect("mail")
                    .key("reminder", in)
                    .providerHonoursKey(Duration.ofHours(24))
                    .call(String.class, sending -> {
                        sent.add(sending.key());
                        return "sent";
                    }));

    WireKeyTest(Dialect dialect) {
        this.dialect = dialect;
    }

    private void send(StoreFixture fixture) {
        RuntimeOptions settings = RuntimeOptions.of(fixture.url(), version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        });
        try (SemelRuntime semel = SemelRuntime.open(settings)) {
            semel.register(flow);
            assertEquals("sent", semel.start(flow, "anna@shop.example").result(SOON));
        }
    }

    @Test
    void equal_effect_keys_have_one_wire_key_in_a_workspace_and_another_in_another_workspace() {
        try (StoreFixture fixture = dialect.emptied()) {
            send(fixture);
            send(fixture); // a new process reads the same secret
            Invariants.check(fixture);
        }
        assertEquals(sent.getFirst(), sent.getLast());
        try (StoreFixture another = dialect.emptied()) {
            send(another);
        }
        assertEquals(3, sent.size());
        assertNotEquals(sent.getFirst(), sent.getLast(), "an unkeyed hash is the same everywhere");
        assertEquals(48, sent.getLast().length());
    }
}
