package dev.semel.server.files.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.definition.WorkflowTriggers.EventSubscription;
import dev.semel.definition.WorkflowTriggers.MappedEvent;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** `trigger.events` in a file. */
final class SubscriptionTest {
    private static final String EVENT = "{\"id\":\"1\",\"type\":\"paid\",\"data\":{\"amount\":5}}";

    private static List<EventSubscription> events(String entries) {
        return WorkflowDefinition.compile(
                        DefinitionFixtures.with("trigger: {events: [" + entries + "]}\n" + DefinitionFixtures.STEP))
                .versionOptions()
                .triggers()
                .events();
    }

    private static MappedEvent read(String entry, String event) {
        return events(entry).getFirst().mapper().map(StrictJsonCodec.parse(event));
    }

    @Test
    void by_default_the_event_data_is_the_input() {
        assertEquals(new MappedEvent.Input(StrictJsonCodec.parse("{\"amount\":5}")), read("{type: paid}", EVENT));
    }

    @Test
    void a_condition_decides_the_match() {
        String entry = "{type: paid, when: \"${ event.data.amount > 4 }\"}";
        assertInstanceOf(MappedEvent.Input.class, read(entry, EVENT));
        assertEquals(new MappedEvent.NoMatch(), read(entry, "{\"data\":{\"amount\":4}}"));
    }

    @Test
    void a_failing_condition_does_not_match_and_says_why_without_a_value() {
        MappedEvent read =
                read("{type: paid, when: \"${ event.data.amount > 4 }\"}", "{\"data\":{\"secret\":\"s3cr3t\"}}");
        String because = assertInstanceOf(MappedEvent.Failed.class, read).reason();
        assertTrue(because.contains("event.data.amount"), because);
        assertTrue(!because.contains("s3cr3t"), because);
    }

    @Test
    void the_input_may_be_built_from_the_event() {
        assertEquals(
                new MappedEvent.Input(StrictJsonCodec.parse("{\"cents\":5,\"event\":\"1\"}")),
                read("{type: paid, data: {cents: \"${ event.data.amount }\", event: \"${ event.id }\"}}", EVENT));
    }

    @Test
    void a_trailing_star_matches_any_suffix() {
        EventSubscription open = events("{type: payment.*, source: /shop}").getFirst();
        assertTrue(open.matches("payment.failed", "/shop"));
        assertTrue(!open.matches("payments", "/shop"));
        assertTrue(!open.matches("payment.failed", "/other"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
        {}                                              | type is missing
        {type: ""}                                      | type must have 1 to 255 visible
        {type: "a*b"}                                   | * is allowed only at the end
        {type: t, source: " "}                          | source is empty
        {type: t, whne: true}                           | 'whne' is not a field of trigger.events[]
        {type: t, when: yes please}                     | `when` must return true or false
        {type: t, when: "${ event.id }", data: [1]}     | data must be a map
        {type: t, when: "${ input.a }"}                 | 'input' cannot be read in an event subscription
        {type: t, when: "${ now() != '' }"}             | now() cannot be called in an event subscription
        """)
    void a_mistake_is_reported_with_its_position(String entry, String message) {
        SemelException refused = DefinitionFixtures.refused(
                DefinitionFixtures.with("trigger: {events: [" + entry + "]}\n" + DefinitionFixtures.STEP));
        String all = refused.detail() + refused.members().get("errors");
        assertTrue(all.contains(message), all);
        assertTrue(refused.detail().contains("^"), refused.detail());
    }

    @Test
    void check_explains_what_identifies_an_event() {
        WorkflowDefinition definition = WorkflowDefinition.compile(
                DefinitionFixtures.with("trigger: {events: [{type: paid}]}\n" + DefinitionFixtures.STEP));
        WorkflowIdempotencyExplanation idempotencyExplanation =
                WorkflowIdempotencyExplanation.of(definition).get(1);
        assertEquals("event paid", idempotencyExplanation.subject());
        assertTrue(
                idempotencyExplanation.answers().get(1).startsWith("The source and the id of the event"),
                idempotencyExplanation.answers().toString());
    }
}
