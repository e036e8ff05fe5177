package dev.semel.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.semel.error.ErrorCode;
import dev.semel.error.JsonConversionFailed;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

/** Java values as JSON and back: what survives, what is refused, and that no refusal shows a value. */
class JsonCodecTest {
    private static final JsonCodec CODEC = JsonCodec.STANDARD;

    enum Colour {
        RED,
        GREEN
    }

    record Line(String sku, int count) {}

    record Order(String id, List<Line> lines, Optional<String> note) {}

    record Renamed(@JsonProperty("payment_id") String paymentId, long amount) {}

    record Nothing() {}

    record Strict(String secret) {
        Strict {
            if (secret.startsWith("bad")) {
                throw new IllegalArgumentException("refused: " + secret);
            }
        }
    }

    record Parent(Map<String, Object> self) {}

    static final class Closed {
        private int hidden = 1;

        int hidden() {
            return hidden;
        }
    }

    public static final class Failing {
        public String getName() {
            throw new IllegalStateException("top-secret");
        }
    }

    static Stream<Arguments> survivors() {
        return Stream.of(
                Arguments.of(new Line("a", 2), Line.class, "{\"sku\":\"a\",\"count\":2}"),
                Arguments.of(
                        new Order("o", List.of(new Line("a", 1)), Optional.empty()),
                        Order.class,
                        "{\"id\":\"o\",\"lines\":[{\"sku\":\"a\",\"count\":1}],\"note\":null}"),
                Arguments.of(
                        new Order("o", List.of(), Optional.of("n")),
                        Order.class,
                        "{\"id\":\"o\",\"lines\":[],\"note\":\"n\"}"),
                Arguments.of(new Renamed("p", 1), Renamed.class, "{\"payment_id\":\"p\",\"amount\":1}"),
                Arguments.of(new Nothing(), Nothing.class, "{}"),
                Arguments.of(new BigDecimal("10.00"), BigDecimal.class, "10.00"),
                Arguments.of(new BigDecimal("0.1000000000000000055511151231257827"), BigDecimal.class, null),
                Arguments.of(new BigDecimal("1E+400"), BigDecimal.class, "1E+400"),
                Arguments.of(new BigInteger("9007199254740993"), BigInteger.class, "9007199254740993"),
                Arguments.of(Long.MAX_VALUE, Long.class, "9223372036854775807"),
                Arguments.of(0.1, Double.class, "0.1"),
                Arguments.of(0.1f, Float.class, "0.1"),
                Arguments.of(Colour.GREEN, Colour.class, "\"GREEN\""),
                Arguments.of(Instant.parse("2026-01-02T03:04:05.123456789Z"), Instant.class, null),
                Arguments.of(Duration.ofHours(36), Duration.class, "\"PT36H\""),
                Arguments.of(LocalDate.of(2026, 2, 28), LocalDate.class, "\"2026-02-28\""),
                Arguments.of(OffsetDateTime.parse("2026-01-02T03:04:05+02:00"), OffsetDateTime.class, null),
                Arguments.of(
                        ZonedDateTime.parse("2026-07-02T03:04:05+02:00[Europe/Berlin]"), ZonedDateTime.class, null),
                Arguments.of(new UUID(1, 2), UUID.class, "\"00000000-0000-0001-0000-000000000002\""),
                Arguments.of("\u00e9\ud83d\ude00\n\u0000", String.class, null),
                Arguments.of(true, Boolean.class, "true"));
    }

    @Test
    void a_missing_value_names_the_expected_type() {
        JsonTypeMismatch mismatch = JsonTypeMismatch.missing(Order.class);
        assertEquals("", mismatch.pointer());
        assertEquals("Order is expected there", mismatch.rule());
    }

    @ParameterizedTest
    @MethodSource("survivors")
    void a_value_is_read_back_unchanged(Object value, Class<?> type, @Nullable String text) {
        JsonNode written = CODEC.write(value, "the value");
        assertEquals(value, CODEC.read(written, type, "The value"));
        assertEquals(value, CODEC.read(StrictJsonCodec.parse(StrictJsonCodec.write(written)), type, "The value"));
        if (text != null) {
            assertEquals(text, StrictJsonCodec.write(written));
        }
    }

    @Test
    void null_is_null_and_an_empty_optional() {
        assertTrue(CODEC.write(null, "the value").isNull());
        assertNull(CODEC.<Line>read(StrictJsonCodec.parse("null"), Line.class, "The value"));
        assertEquals(new Order("o", List.of(), Optional.empty()), read("{\"id\":\"o\",\"lines\":[]}", Order.class));
    }

    @Test
    void a_json_tree_passes_unchanged() {
        JsonNode tree = StrictJsonCodec.parse("{\"a\":[1,2.50]}");
        assertEquals(tree, CODEC.<JsonNode>read(tree, JsonNode.class, "The value"));
        assertEquals("{\"a\":[1,2.50]}", StrictJsonCodec.write(CODEC.write(tree, "the value")));
    }

    @Test
    void fractions_in_an_open_map_keep_every_digit() {
        assertEquals(
                Map.of("a", new BigDecimal("0.10000000000000000001")),
                read("{\"a\":0.10000000000000000001}", Map.class));
    }

    @Test
    void unknown_members_are_ignored() {
        assertEquals(new Line("a", 1), read("{\"sku\":\"a\",\"count\":1,\"colour\":\"red\"}", Line.class));
    }

    static Stream<Arguments> incompatibleRuns() {
        return Stream.of(
                Arguments.of("{\"sku\":\"hush\"}", Line.class, ", at /count: int is expected there"),
                Arguments.of("{\"sku\":\"hush\",\"count\":null}", Line.class, ", at /count: int is expected there"),
                Arguments.of("{\"sku\":\"hush\",\"count\":\"7\"}", Line.class, ", at /count: int is expected there"),
                Arguments.of("{\"sku\":\"hush\",\"count\":7.9}", Line.class, ", at /count: int is expected there"),
                Arguments.of("{\"sku\":\"hush\",\"count\":true}", Line.class, ", at /count: int is expected there"),
                Arguments.of("{\"sku\":\"hush\",\"count\":99999999999}", Line.class, ", at /count: "),
                Arguments.of("{\"sku\":5,\"count\":1}", Line.class, ", at /sku: String is expected there"),
                Arguments.of(
                        "{\"id\":\"o\",\"lines\":[{\"sku\":\"a\",\"count\":1},{\"sku\":\"hush\",\"count\":[]}]}",
                        Order.class,
                        ", at /lines/1/count: int is expected there"),
                Arguments.of("\"hush\"", Line.class, ": Line is expected there"),
                Arguments.of("\"hush\"", Colour.class, ": Colour is expected there"),
                Arguments.of("1", Colour.class, ": Colour is expected there"),
                Arguments.of("\"hush\"", Instant.class, ": Instant is expected there"),
                Arguments.of("null", int.class, ": int is expected there"),
                Arguments.of("\"\"", Integer.class, ": Integer is expected there"),
                Arguments.of("{\"secret\":\"bad hush\"}", Strict.class, ": the constructor of Strict rejected it"),
                Arguments.of("{\"a~/b\":{\"c\":\"hush\"}}", MapOfLines.class, null));
    }

    record MapOfLines(@JsonProperty("a~/b") Line odd) {}

    @ParameterizedTest
    @MethodSource("incompatibleRuns")
    void a_mismatch_is_rejected_with_its_path_and_without_a_value(String text, Class<?> type, @Nullable String where) {
        JsonConversionFailed refused = assertThrows(
                JsonConversionFailed.class,
                () -> CODEC.read(StrictJsonCodec.parse(text), type, "The recorded result of step \"capture\""));
        assertEquals(ErrorCode.TYPE_MISMATCH, refused.code());
        String start = "The recorded result of step \"capture\" cannot be read as " + type.getSimpleName();
        assertTrue(refused.detail().startsWith(start + (where == null ? ", at /a~0~1b" : where)), refused.detail());
        assertFalse(refused.toString().contains("hush"), refused.toString());
        assertNull(refused.getCause());
    }

    static Stream<Arguments> unwritable() {
        Parent circle = new Parent(new java.util.HashMap<>());
        circle.self().put("hush", circle);
        return Stream.of(
                Arguments.of(new Object(), "A value of type Object "),
                Arguments.of(new Closed(), "A value of type Closed "),
                Arguments.of(Double.NaN, "A value of type Double "),
                Arguments.of(List.of(Float.POSITIVE_INFINITY), ""),
                Arguments.of("half \ud83d", "A value of type String "),
                Arguments.of(circle, "A value of type Parent "),
                Arguments.of(new Failing(), "A value of type Failing "));
    }

    @ParameterizedTest
    @MethodSource("unwritable")
    void a_value_without_a_json_form_is_rejected_with_the_step_name(Object value, String start) {
        JsonConversionFailed refused =
                assertThrows(JsonConversionFailed.class, () -> CODEC.write(value, "the result of step \"capture\""));
        assertTrue(refused.detail().startsWith(start), refused.detail());
        assertTrue(refused.detail().contains("the result of step \"capture\""), refused.detail());
        assertFalse(refused.toString().contains("top-secret"), refused.toString());
        assertNull(refused.getCause());
    }

    @Test
    void a_class_name_in_a_document_is_not_followed() {
        Object read = read("{\"@class\":\"java.lang.ProcessBuilder\",\"a\":1}", Object.class);
        assertEquals(Map.of("@class", "java.lang.ProcessBuilder", "a", 1), read);
        assertThrows(
                JsonConversionFailed.class, () -> read("[\"java.util.concurrent.atomic.AtomicLong\",1]", Number.class));
    }

    @Test
    void accessors_are_known_by_their_json_member_name() {
        assertEquals(Map.of("paymentId", "payment_id", "amount", "amount"), CODEC.members(Renamed.class));
        assertEquals(Map.of("sku", "sku", "count", "count"), CODEC.members(Line.class));
        assertEquals(Map.of(), CODEC.members(String.class));
    }

    private static @Nullable Object read(String text, Class<?> type) {
        return CODEC.read(StrictJsonCodec.parse(text), type, "The value");
    }
}
