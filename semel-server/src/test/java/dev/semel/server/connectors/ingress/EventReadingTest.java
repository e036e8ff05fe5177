package dev.semel.server.connectors.ingress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.TriggerSource;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** CloudEvents 1.0 by its HTTP and JSON bindings, and what is refused. */
final class EventReadingTest {
    private static InboundEvent binary(String body, @Nullable String type, String... headers) {
        Map<String, List<String>> all = new TreeMap<>(Map.of(
                "ce-specversion", List.of("1.0"),
                "ce-id", List.of("1"),
                "ce-source", List.of("/shop"),
                "ce-type", List.of("paid")));
        for (String header : headers) {
            int colon = header.indexOf(':');
            all.put(header.substring(0, colon), List.of(header.substring(colon + 1)));
        }
        return BinaryCloudEventReader.read(all, type, body.getBytes(StandardCharsets.UTF_8));
    }

    private static SemelException refused(org.junit.jupiter.api.function.Executable action) {
        SemelException refusal = assertThrows(SemelException.class, action);
        assertEquals(ErrorCode.INVALID_INPUT, refusal.code());
        assertTrue(refusal.detail().endsWith("Nothing was stored and no run was started."), refusal.detail());
        return refusal;
    }

    @Test
    void attributes_are_headers_and_the_body_is_the_data() {
        InboundEvent event = binary(
                "{\"amount\":1}",
                "application/json",
                "ce-subject:order 7",
                "ce-time:2026-11-15T10:00:00+01:00",
                "ce-tenant:t1");
        assertEquals("/shop", event.source());
        assertEquals("order 7", event.envelope().path("subject").asString());
        assertEquals("2026-11-15T10:00:00+01:00", event.envelope().path("time").asString());
        assertEquals("1.0", event.envelope().path("specversion").asString());
        assertEquals(
                "application/json", event.envelope().path("datacontenttype").asString());
        assertEquals(1, event.data().path("amount").asInt());
        assertEquals("t1", event.envelope().path("tenant").asString(), "extensions are part of it");
        assertEquals("paid", event.envelope().path("type").asString());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        Euro%20%E2%82%AC%20%F0%9F%98%80 | Euro € 😀
        "quoted \\"%41\\" text"        | quoted "A" text
        %2541                          | %41
        plain                          | plain
        """)
    void a_header_value_is_unquoted_and_percent_decoded_once(String sent, String read) {
        assertEquals(
                read,
                binary("", "application/json", "ce-subject:" + sent)
                        .envelope()
                        .path("subject")
                        .asString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"%C0%A0", "%ED%A0%80", "%FF", "%4", "%", "%GG", "%+1", "1 €", "\"open", "\"a\"b", "a\tb"})
    void a_badly_encoded_attribute_is_rejected_by_name(String value) {
        SemelException refusal = refused(() -> binary("", "application/json", "ce-id:" + value));
        assertEquals("id", refusal.members().get("attribute"));
        assertFalse(value.length() > 1 && refusal.detail().contains(value), "no value is shown");
    }

    @Test
    void the_content_type_has_one_place_in_binary_mode() {
        SemelException refusal = refused(() -> binary("", null, "ce-datacontenttype:application/json"));
        assertEquals("datacontenttype", refusal.members().get("attribute"));
    }

    @Test
    void non_json_data_is_text_or_base64() {
        assertEquals("hello", binary("hello", "text/plain").data().asString());
        assertEquals(
                "AQI=",
                binary("\u0001\u0002", "application/octet-stream").data().asString());
        assertThrows(SemelException.class, () -> binary("{", "application/json"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        {"id":"1","source":"/s","type":"t"}                                          | specversion
        {"specversion":"0.3","id":"1","source":"/s","type":"t"}                      | specversion
        {"specversion":1.0,"id":"1","source":"/s","type":"t"}                        | specversion
        {"specversion":"1.0","source":"/s","type":"t"}                               | id
        {"specversion":"1.0","id":"","source":"/s","type":"t"}                       | id
        {"specversion":"1.0","id":7,"source":"/s","type":"t"}                        | id
        {"specversion":"1.0","id":null,"source":"/s","type":"t"}                     | id
        {"specversion":"1.0","id":"1","type":"t"}                                    | source
        {"specversion":"1.0","id":"1","source":"/s"}                                 | type
        {"specversion":"1.0","id":"1","source":"/s","type":"t","time":"yesterday"}   | time
        {"specversion":"1.0","id":"1","source":"/s","type":"t","time":"2026-11-15T09:00Z"}    | time
        {"specversion":"1.0","id":"1","source":"/s","type":"t","time":"2026-11-15"}  | time
        {"specversion":"1.0","id":"1","source":"/s","type":"t","time":""}            | time
        {"specversion":"1.0","id":"1","source":"/s","type":"t","subject":""}         | subject
        {"specversion":"1.0","id":"1","source":"/s","type":"t","datacontenttype":""} | datacontenttype
        {"specversion":"1.0","id":"1","source":"/s","type":"t","datacontenttype":"json"}      | datacontenttype
        {"specversion":"1.0","id":"1","source":"/s","type":"t","datacontenttype":"a/b;c"}     | datacontenttype
        {"specversion":"1.0","id":"1","source":"/s","type":"t","dataschema":""}      | dataschema
        {"specversion":"1.0","id":"1","source":"/s","type":"t","dataschema":"/relative"}      | dataschema
        {"specversion":"1.0","id":"1","source":"/s","type":"t","dataschema":"https://a b"}    | dataschema
        {"specversion":"1.0","id":"1","source":"/s","type":"t","Upper":"x"}          | Upper
        {"specversion":"1.0","id":"1","source":"/s","type":"t","ext":{"a":1}}        | ext
        {"specversion":"1.0","id":"1","source":"/s","type":"t","data_base64":"***"}  | data_base64
        {"specversion":"1.0","id":"1","source":"/s","type":"t","data_base64":"AQ==","data":1} | data_base64
        """)
    void a_mistake_names_its_attribute(String json, String attribute) {
        SemelException refusal = refused(() -> JsonInboundEventReader.read(StrictJsonCodec.parse(json), true));
        assertEquals(attribute, refusal.members().get("attribute"));
    }

    @Test
    void data_base64_is_read_where_it_is_json() {
        String head = "{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"/s\",\"type\":\"t\",";
        InboundEvent json = JsonInboundEventReader.read(
                StrictJsonCodec.parse(
                        head + "\"datacontenttype\":\"application/json\",\"data_base64\":\"eyJhIjoxfQ==\"}"),
                true);
        assertEquals(1, json.data().path("a").asInt());
        InboundEvent bytes =
                JsonInboundEventReader.read(StrictJsonCodec.parse(head + "\"data_base64\":\"AQI=\"}"), true);
        assertEquals("AQI=", bytes.data().asString());
        InboundEvent absent = JsonInboundEventReader.read(
                StrictJsonCodec.parse(head + "\"data_base64\":\"AQI=\",\"data\":null}"), true);
        assertEquals("AQI=", absent.data().asString(), "null counts as absent");
    }

    @Test
    void a_plain_event_need_not_say_its_version() {
        InboundEvent event = JsonInboundEventReader.read(
                StrictJsonCodec.parse("{\"id\":\"1\",\"source\":\"/s\",\"type\":\"t\"}"), false);
        assertFalse(event.envelope().has("data"), "absent data stay absent");
        assertFalse(event.envelope().has("specversion"));
        refused(() -> JsonInboundEventReader.read(
                StrictJsonCodec.parse("{\"source\":\"/s\",\"type\":\"t\",\"data\":{}}"), false));
        refused(() -> JsonInboundEventReader.read(StrictJsonCodec.parse("[]"), false));
    }

    @Test
    void every_attribute_of_a_structured_event_reaches_expressions() {
        String json = """
            {"specversion":"1.0","id":"1","source":"/s","type":"t","time":"2026-11-15t09:00:00.25z","subject":"o",
             "dataschema":"https://acme.example/s#1","datacontenttype":"application/json; charset=utf-8","ext":true}\
            """;
        InboundEvent event = JsonInboundEventReader.read(StrictJsonCodec.parse(json), true);
        assertEquals(StrictJsonCodec.parse(json), event.envelope());
    }

    @ParameterizedTest
    @ValueSource(strings = {"ce-time:2026-11-15", "ce-subject:", "ce-dataschema:relative", "ce-data:x"})
    void a_binary_event_follows_the_same_rules(String header) {
        SemelException refusal = refused(() -> binary("{}", "application/json", header));
        assertEquals(header.substring(3, header.indexOf(':')), refusal.members().get("attribute"));
    }

    @Test
    void a_binary_event_without_a_body_has_no_data() {
        assertFalse(binary("", null).envelope().has("data"));
        assertFalse(binary("", null).envelope().has("datacontenttype"));
        assertEquals(
                "datacontenttype",
                refused(() -> binary("x", "not a type")).members().get("attribute"));
    }

    @Test
    void source_and_id_are_not_concatenated() {
        assertNotEquals(
                new InboundEventIdentity(TriggerSource.EVENT, "a", "b/c").eventId(),
                new InboundEventIdentity(TriggerSource.EVENT, "a/b", "c").eventId());
        assertNotEquals(
                new InboundEventIdentity(TriggerSource.EVENT, "a", "b").eventId(),
                new InboundEventIdentity(TriggerSource.WEBHOOK, "a", "b").eventId());
        assertEquals(
                36,
                new InboundEventIdentity(TriggerSource.EVENT, "a", "b")
                        .eventId()
                        .length());
    }
}
