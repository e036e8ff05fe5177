package dev.semel.server.files.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InputTest {
    private static final WorkflowDefinition PAYMENT = DefinitionFixtures.compiled("""
        input:
          payment_id: { type: string, required: true, search: true }
          amount:     { type: integer, required: true }
          currency:   { type: string, enum: [usd, eur, gbp] }
          email:      { type: string, pii: true }
          note:       string
          any:        {}
          a/b~c:      { type: object }
          tags:       { type: array }
          share:      { type: number }
          paid:       { type: boolean }
        """);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"payment_id\":\"p\",\"amount\":1}",
                "{\"payment_id\":\"p\",\"amount\":1.0}",
                "{\"payment_id\":\"p\",\"amount\":123456789012345678901234567890,\"unknown\":[1,2]}",
                "{\"payment_id\":\"p\",\"amount\":1,\"currency\":\"eur\",\"any\":null,\"a/b~c\":{},\"tags\":[]}",
                "{\"payment_id\":\"p\",\"amount\":1,\"share\":0.5,\"paid\":true}"
            })
    void matching_data_passes(String data) {
        PAYMENT.checkInput(StrictJsonCodec.parse(data));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        {"amount":1}                                        | /data/payment_id | is missing
        {"payment_id":"p","amount":"4111111111111111"}      | /data/amount     | must be of type integer, but is text
        {"payment_id":"p","amount":4111.5}                  | /data/amount     | must be of type integer, but is a number
        {"payment_id":"p","amount":null}                    | /data/amount     | must be of type integer, but is null
        {"payment_id":"p","amount":1e2000000000,"note":4111} | /data/note      | must be of type string, but is a number
        {"payment_id":"p","amount":1,"currency":"4111"}     | /data/currency   | must be one of ["usd","eur","gbp"]
        {"payment_id":"p","amount":1,"note":{"x":4111}}     | /data/note       | must be of type string, but is a map
        {"payment_id":"p","amount":1,"a/b~c":4111}          | /data/a~1b~0c    | must be of type object, but is a number
        [4111]                                              | /data       | must be of type object, but is a list
        """)
    void mismatched_data_is_named_by_pointer_and_never_by_value(String data, String pointer, String message) {
        SemelException e = assertThrows(SemelException.class, () -> PAYMENT.checkInput(StrictJsonCodec.parse(data)));
        assertEquals(ErrorCode.INVALID_INPUT, e.code());
        assertEquals(
                List.of(Map.of("pointer", pointer, "message", message)),
                e.members().get("errors"));
        assertFalse(e.toString().contains("4111"), e.toString());
        assertTrue(e.detail().endsWith("No run was started; the key is still unused."), e.detail());
    }

    @Test
    void every_mistake_in_the_data_is_reported() {
        SemelException e = assertThrows(
                SemelException.class, () -> PAYMENT.checkInput(StrictJsonCodec.parse("{\"note\":1,\"tags\":2}")));
        assertEquals(4, ((List<?>) Objects.requireNonNull(e.members().get("errors"))).size());
    }

    @Test
    void a_file_without_input_accepts_anything() {
        DefinitionFixtures.compiled("").checkInput(StrictJsonCodec.parse("[1]"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        ${ input.email }                   | true
        ${ "mail:" + lower(input.email) }  | true
        ${ key("mail", input.box.address) } | true
        ${ sha256(input.email) }           | false
        ${ input.id }                      | false
        """)
    void a_key_that_shows_personal_data_gives_a_warning(String key, boolean warned) {
        WorkflowDefinition file = DefinitionFixtures.compiled("""
            trigger: { http: { key: '%s' } }
            input:
              email: { type: string, pii: true }
              box: { type: object, pii: true }
              id: string
            """.formatted(key));
        assertEquals(
                warned ? 1 : 0,
                file.warnings().stream().filter(one -> one.contains("SEM-K09")).count(),
                file.warnings().toString());
    }

    @Test
    void search_and_personal_fields_are_known() {
        assertEquals(Set.of("payment_id"), PAYMENT.searchFields());
        assertEquals(Set.of("email"), PAYMENT.piiFields());
    }
}
