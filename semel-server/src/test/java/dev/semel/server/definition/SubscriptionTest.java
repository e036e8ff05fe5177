package dev.semel.server.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.workflow.Doors.Read;
import dev.semel.workflow.Doors.Subscription;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** `trigger.events` in a file. */
final class SubscriptionTest {
    private static final String EVENT = "{\"id\":\"1\",\"type\":\"paid\",\"data\":{\"amount\":5}}";

    private static List<Subscription> events(String entries) {
        return Definition.compile(Drafts.with("trigger: {events: [" + entries + "]}\n" + Drafts.STEP))
                .extras()
                .doors()
                .events();
    }

    private static Read read(String entry, String event) {
        return events(entry).getFirst().reading().read(Json.parse(event));
    }

    @Test
    void without_more_the_data_is_the_input() {
        assertEquals(new Read.Input(Json.parse("{\"amount\":5}")), read("{type: paid}", EVENT));
    }

    @Test
    void a_condition_decides() {
        String entry = "{type: paid, when: \"${ event.data.amount > 4 }\"}";
        assertInstanceOf(Read.Input.class, read(entry, EVENT));
        assertEquals(new Read.Unfit(), read(entry, "{\"data\":{\"amount\":4}}"));
    }

    @Test
    void a_condition_that_cannot_be_evaluated_does_not_match_and_says_why_without_a_value() {
        Read read = read("{type: paid, when: \"${ event.data.amount > 4 }\"}", "{\"data\":{\"secret\":\"s3cr3t\"}}");
        String because = assertInstanceOf(Read.Failed.class, read).because();
        assertTrue(because.contains("event.data.amount"), because);
        assertTrue(!because.contains("s3cr3t"), because);
    }

    @Test
    void the_input_may_be_made_of_the_event() {
        assertEquals(
                new Read.Input(Json.parse("{\"cents\":5,\"event\":\"1\"}")),
                read("{type: paid, data: {cents: \"${ event.data.amount }\", event: \"${ event.id }\"}}", EVENT));
    }

    @Test
    void a_star_at_the_end_stands_for_any_end() {
        Subscription open = events("{type: payment.*, source: /shop}").getFirst();
        assertTrue(open.fits("payment.failed", "/shop"));
        assertTrue(!open.fits("payments", "/shop"));
        assertTrue(!open.fits("payment.failed", "/other"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        {}                                              | type is missing
        {type: ""}                                      | type must have 1 to 255 visible
        {type: "a*b"}                                   | * is allowed only at the end
        {type: t, source: " "}                          | source is empty
        {type: t, whne: true}                           | 'whne' is not a field of trigger.events[]
        {type: t, when: yes please}                     | when must be true or false
        {type: t, when: "${ event.id }", data: [1]}     | data must be a map
        {type: t, when: "${ input.a }"}                 | 'input' cannot be read in an event subscription
        {type: t, when: "${ now() != '' }"}             | now() cannot be read in an event subscription
        """)
    void a_mistake_is_shown_at_its_place(String entry, String message) {
        SemelException refused = Drafts.refused(Drafts.with("trigger: {events: [" + entry + "]}\n" + Drafts.STEP));
        String all = refused.detail() + refused.members().get("errors");
        assertTrue(all.contains(message), all);
        assertTrue(refused.detail().contains("^"), refused.detail());
    }

    @Test
    void check_explains_what_makes_an_event_the_same() {
        Definition definition = Definition.compile(Drafts.with("trigger: {events: [{type: paid}]}\n" + Drafts.STEP));
        Explanation told = Explanation.of(definition).get(1);
        assertEquals("event paid", told.subject());
        assertTrue(
                told.answers().get(1).startsWith("Source and id of the event"),
                told.answers().toString());
    }
}
