package dev.semel.server.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.semel.idempotency.JsonFieldPath;
import dev.semel.json.StrictJsonCodec;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What of a text is masked, for the values that the marked fields of a run hold. */
class RunPiiMaskFactoryTest {
    private static final JsonNode INPUT = StrictJsonCodec.parse("""
        {"name": "Ada", "mail": "ada@b.example", "zip": "12345", "house": 7, "card": 4000123412341234,
         "lines": [{"to": "Eve Ünal", "sku": "s-1"}, {"to": null}], "id": "o-1"}
        """);
    private static final PiiMask MASK = RunPiiMaskFactory.fromInputs(
            List.of(
                    JsonFieldPath.parse("name"),
                    JsonFieldPath.parse("mail"),
                    JsonFieldPath.parse("zip"),
                    JsonFieldPath.parse("house"),
                    JsonFieldPath.parse("card"),
                    JsonFieldPath.parse("lines[].to")),
            List.of(INPUT));

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        Dear Ada, hello             | Dear •••, hello
        ADA and ada                 | ••• and •••
        Adaptation of ada_lovelace  | Adaptation of •••_lovelace
        write to ada@b.example now  | write to ••• now
        <mailto:Ada@B.example>      | <mailto:•••>
        EVE ÜNAL was here           | ••• was here
        12345 Berlin, house 7       | ••• Berlin, house 7
        112345 of 4000123412341234. | 112345 of •••.
        o-1 s-1                     | o-1 s-1
        """)
    void a_whole_value_is_masked_in_any_letter_case(String text, String shown) {
        assertEquals(shown, MASK.maskText(text));
    }

    @Test
    void the_input_is_also_masked_by_path_even_for_short_values() {
        assertEquals(StrictJsonCodec.parse("""
            {"name": "•••", "mail": "•••", "zip": "•••", "house": "•••", "card": "•••",
             "lines": [{"to": "•••", "sku": "s-1"}, {"to": null}], "id": "o-1"}
            """), MASK.maskInput(INPUT));
    }

    @Test
    void values_derived_from_an_input_are_masked_at_every_depth() {
        JsonNode out = StrictJsonCodec.parse("""
            {"error": {"message": "no such mailbox: ada@b.example", "code": "refused"},
             "result": [4000123412341234, 12, true, {"k": "Ada"}], "none": null}
            """);
        assertEquals(StrictJsonCodec.parse("""
            {"error": {"message": "no such mailbox: •••", "code": "refused"},
             "result": ["•••", 12, true, {"k": "•••"}], "none": null}
            """), MASK.maskValue(out));
    }

    @Test
    void with_too_many_values_to_search_everything_is_masked() {
        ObjectNode input = (ObjectNode) StrictJsonCodec.parse("{}");
        for (int i = 0; i <= 200; i++) {
            input.withArray("names").add("name " + i);
        }
        PiiMask mask = RunPiiMaskFactory.fromInputs(List.of(JsonFieldPath.parse("names")), List.of(input));
        assertEquals("•••", mask.maskText("something\nelse"));
        assertEquals(
                StrictJsonCodec.parse("{\"•••\": \"•••\", \"••• 2\": true}"),
                mask.maskValue(StrictJsonCodec.parse("{\"a\": \"b\", \"c\": true}")));
    }

    @Test
    void member_names_are_masked_too_and_stay_distinct() {
        JsonNode out = StrictJsonCodec.parse("""
            {"result": {"ada@b.example": "sent", "Ada@B.example": "again", "•••": 1, "to Ada": {"EVE ÜNAL": true}, "id": "o-1"}}
            """);
        assertEquals(StrictJsonCodec.parse("""
            {"result": {"•••": "sent", "••• 2": "again", "••• 3": 1, "to •••": {"•••": true}, "id": "o-1"}}
            """), MASK.maskValue(out));
    }

    @Test
    void names_of_our_own_fields_are_never_masked() {
        PiiMask mask = RunPiiMaskFactory.fromInputs(
                List.of(JsonFieldPath.parse("name")), List.of(StrictJsonCodec.parse("{\"name\": \"message\"}")));
        JsonNode out = StrictJsonCodec.parse("{\"error\": {\"message\": \"no message\", \"code\": \"refused\"}}");
        assertEquals(
                StrictJsonCodec.parse("{\"error\": {\"message\": \"no •••\", \"code\": \"refused\"}}"),
                mask.maskValuesOnly(out));
    }

    @Test
    void a_name_inside_a_marked_field_is_masked_unless_it_is_a_field_name() {
        PiiMask mask = RunPiiMaskFactory.fromInputs(
                List.of(JsonFieldPath.parse("people")),
                List.of(StrictJsonCodec.parse("{\"people\": {\"ada@b.example\": {\"first-name\": true}}}")));
        assertEquals("first-name of •••", mask.maskText("first-name of ada@b.example"));
    }

    @Test
    void values_of_any_of_several_inputs_are_masked() {
        PiiMask mask = RunPiiMaskFactory.fromInputs(
                List.of(JsonFieldPath.parse("name"), JsonFieldPath.parse("mail")),
                List.of(
                        StrictJsonCodec.parse("{\"name\": \"Ada\"}"),
                        StrictJsonCodec.parse("{\"mail\": \"eve@b.example\"}")));
        assertEquals("••• and •••", mask.maskText("Ada and eve@b.example"));
        assertEquals(List.of("name", "mail"), mask.fieldNames());
    }

    @Test
    void run_payloads_are_only_rendered_through_a_mask() {
        UnmaskedPiiValue made =
                UnmaskedPiiValue.withFixedNames(StrictJsonCodec.parse("{\"message\": \"no Ada\", \"step\": null}"));
        assertEquals(StrictJsonCodec.parse("{\"message\": \"no •••\", \"step\": null}"), made.maskWith(MASK));
        assertFalse(made.toString().contains("Ada"), "not even in a log");
    }

    @Test
    void without_marked_fields_everything_is_shown() {
        assertEquals("Ada", RunPiiMaskFactory.noMask().maskText("Ada"));
        assertEquals(INPUT, RunPiiMaskFactory.noMask().maskInput(INPUT));
    }
}
