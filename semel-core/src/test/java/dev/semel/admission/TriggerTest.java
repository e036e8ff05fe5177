package dev.semel.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.Trigger.Identifiers;
import dev.semel.admission.Trigger.RunLinks;
import dev.semel.admission.Trigger.Sender;
import dev.semel.admission.Trigger.SourceKey;
import dev.semel.admission.Trigger.TriggerWorkspace;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.definition.WorkflowVersion;
import dev.semel.idempotency.ChosenRunId;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.json.StrictJsonCodec;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** What makes a trigger idempotent, and what stays the same when the workflow changes under it. */
final class TriggerTest {
    private static final TriggerWorkspace WORKSPACE = new TriggerWorkspace(1, new byte[32]);
    private static final Sender SENDER = new Sender(TriggerSource.HTTP, "ann", null);

    private static WorkflowCatalogEntry workflow(int version, boolean paused) {
        WorkflowVersion published = new WorkflowVersion(
                "wf_1",
                "order",
                version,
                KeyPolicy.DEFAULT,
                (_, input) -> input,
                List.of(),
                WorkflowVersion.VersionOptions.NONE);
        return new WorkflowCatalogEntry(published, paused, null, version);
    }

    private static Trigger trigger(WorkflowCatalogEntry entry) {
        return new Trigger(WORKSPACE, entry, StrictJsonCodec.parse("{}"), "{}", Identifiers.NONE, SENDER, true, null);
    }

    private static SourceKey key(TriggerSource source) {
        return new SourceKey(source, "text", "shown", Duration.ofDays(1));
    }

    @Test
    void a_trigger_that_no_run_caused_has_no_links_and_starts_at_once() {
        Trigger trigger = trigger(workflow(1, false));
        assertEquals(new RunLinks(null, null, null, null, "", 0), trigger.links());
        assertEquals(0, trigger.delay());
        assertEquals(new RunLinks(null, null, null, null, "", 3), RunLinks.atDepth(3));
    }

    @Test
    void a_workflow_that_was_published_meanwhile_replaces_only_the_workflow() {
        WorkflowCatalogEntry old = workflow(1, false);
        WorkflowCatalogEntry now = workflow(2, true);
        Trigger trigger = trigger(old).withDelay(7);
        assertEquals(old.published(), trigger.workflow());
        assertFalse(trigger.paused());
        Trigger later = trigger.withWorkflow(now);
        assertEquals(now.published(), later.workflow());
        assertTrue(later.paused());
        assertEquals(7, later.delay());
        assertEquals(trigger, later.withWorkflow(old));
        assertEquals(trigger(old), trigger.withDelay(0));
    }

    @Test
    void a_trigger_is_identified_by_a_key_a_run_id_or_its_source() {
        assertTrue(Identifiers.NONE.isEmpty());
        assertFalse(new Identifiers(IdempotencyKey.of("evt_1"), null).isEmpty());
        assertFalse(new Identifiers(null, new ChosenRunId("order-7")).isEmpty());
        Identifiers event = Identifiers.of(key(TriggerSource.EVENT));
        assertFalse(event.isEmpty());
        assertEquals(key(TriggerSource.EVENT), event.sourceKey());
    }

    @ParameterizedTest
    @EnumSource(names = {"EVENT", "WEBHOOK", "SCHEDULE", "REPLAY"})
    void a_source_with_ids_of_its_own_derives_the_key(TriggerSource source) {
        assertEquals(source, key(source).source());
        assertNull(key(source).serialKey());
    }

    @ParameterizedTest
    @EnumSource(
            mode = Mode.EXCLUDE,
            names = {"EVENT", "WEBHOOK", "SCHEDULE", "REPLAY"})
    void another_source_uses_the_key_of_the_caller(TriggerSource source) {
        assertThrows(IllegalArgumentException.class, () -> key(source));
    }

    @Test
    void the_stored_codes_of_sources_are_stable() {
        String codes = Arrays.stream(TriggerSource.values())
                .map(source -> source + "=" + source.code())
                .collect(Collectors.joining(" "));
        assertEquals("HTTP=1 LIBRARY=2 CHILD=3 REPLAY=4 EVENT=5 WEBHOOK=6 SCHEDULE=7", codes);
        for (TriggerSource source : TriggerSource.values()) {
            assertEquals(source, TriggerSource.of(source.code()));
        }
        assertThrows(IllegalArgumentException.class, () -> TriggerSource.of(0));
    }
}
