package dev.semel.workflow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.semel.definition.ConcurrencyControl;
import dev.semel.definition.JavaWorkflow;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.idempotency.RequestFingerprint;
import dev.semel.json.StrictJsonCodec;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What is taken out of the data before a run starts: fingerprints, keys, gates, and the refusal of what does not fit. */
class WorkflowInputTest {
    record Money(BigDecimal amount, String currency) {}

    record Order(@JsonProperty("order_id") @Nullable String orderId, Money total, int lines) {
        String normalised() {
            return orderId == null ? "" : orderId.toLowerCase(Locale.ROOT);
        }
    }

    private static final byte[] SECRET = new byte[32];
    private static final String DATA =
            "{\"order_id\":\"O-1\",\"total\":{\"amount\":10.0,\"currency\":\"EUR\"},\"lines\":2}";

    private static WorkflowBuilder<Order, String> draft() {
        return Workflow.define("order", Order.class, String.class);
    }

    private static JavaWorkflow<Order, String> finished(WorkflowBuilder<Order, String> draft) {
        return JavaWorkflow.of(draft.body((ctx, in) -> ""));
    }

    @Test
    void a_field_has_its_json_name() {
        WorkflowBuilder.InputAccessor<Order, Object> captured = Order::total;
        JavaWorkflow<Order, String> workflow =
                finished(draft().fingerprint(Order::orderId, Order::normalised, o -> o.lines(), captured)
                        .fingerprint("sum", o -> o.total().amount())
                        .fingerprintFields("total.currency", "lines"));
        assertEquals(
                List.of("order_id", "normalised", "field 3", "total", "sum", "total.currency", "lines"),
                workflow.policy().fingerprint().stream()
                        .map(field -> field.name())
                        .toList());
    }

    private static int lines(Order order) {
        return order.lines() + 1;
    }

    @Test
    void a_method_of_another_class_is_shown_and_matches_no_member() {
        Object lock = new Object(); // captured, and not serializable
        JavaWorkflow<Order, String> workflow =
                finished(draft().fingerprint(WorkflowInputTest::lines, o -> o.lines() + (lock.equals(o) ? 1 : 0)));
        assertEquals(
                List.of("lines", "field 2"),
                workflow.policy().fingerprint().stream()
                        .map(field -> field.name())
                        .toList());
        String broken = DATA.replace("EUR\"", "EUR\",\"x\":1").replace("10.0", "\"ten\"");
        assertEquals(
                List.of("field 2", "lines"),
                of(workflow, broken).changedFrom(of(workflow, DATA).fields()));
    }

    @Test
    void a_conflict_names_the_fields_that_differ() {
        JavaWorkflow<Order, String> workflow =
                finished(draft().fingerprint(Order::orderId, Order::total, o -> o.lines()));
        RequestFingerprint first = of(workflow, DATA);
        RequestFingerprint other = of(workflow, DATA.replace("EUR", "USD").replace("\"lines\":2", "\"lines\":3"));
        assertEquals(List.of("field 3", "total"), other.changedFrom(first.fields()));
        assertTrue(of(workflow, DATA.replace("10.0", "10.00")).sameDigest(first.digest()));
        assertTrue(of(workflow, DATA.replace("{\"order_id", "{\"noise\":1,\"order_id"))
                .sameDigest(first.digest()));
    }

    /** CONTRACT: a well-formed duplicate is never refused for its payload except by the conflict rule. */
    @Test
    void mismatched_data_are_still_compared() {
        JavaWorkflow<Order, String> workflow = finished(draft().fingerprint(Order::orderId, Order::normalised));
        RequestFingerprint first = of(workflow, DATA);
        JavaWorkflow<Order, String> byMember = finished(draft().fingerprint(Order::orderId));
        String broken = DATA.replace("\"lines\":2", "\"lines\":\"two\"");
        assertTrue(of(byMember, broken).sameDigest(of(byMember, DATA).digest()));
        assertEquals(List.of("normalised"), of(workflow, broken).changedFrom(first.fields()));
        assertEquals(
                List.of("order_id"),
                of(byMember, "{\"order_id\":[]}").changedFrom(of(byMember, DATA).fields()));
        assertThrows(SemelException.class, () -> byMember.checkInput(StrictJsonCodec.parse(broken)));
    }

    private static RequestFingerprint of(JavaWorkflow<Order, String> workflow, String data) {
        return RequestFingerprint.of("wf_1", StrictJsonCodec.parse(data), workflow.policy(), SECRET);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\'',
            value = {
                "'{\"order_id\":\"hush\",\"total\":{\"amount\":\"hush\"},\"lines\":1}' | /data/total/amount",
                "'{\"order_id\":\"hush\",\"total\":{}}'                                | /data/lines",
                "'null'                                                                | /data",
                "'[\"hush\"]'                                                          | /data",
            })
    void mismatched_data_are_rejected_with_their_path_and_without_a_value(String data, String pointer) {
        SemelException refused =
                assertThrows(SemelException.class, () -> finished(draft()).checkInput(StrictJsonCodec.parse(data)));
        assertEquals(ErrorCode.INVALID_INPUT, refused.code());
        assertTrue(refused.detail().contains("workflow \"order\" at " + pointer + ": "), refused.detail());
        assertTrue(refused.detail().endsWith("No run was started."), refused.detail());
        assertTrue(
                refused.members().get("errors") instanceof List<?> errors
                        && errors.getFirst() instanceof Map<?, ?> first
                        && pointer.equals(first.get("pointer")),
                refused.members()::toString);
        assertFalse(refused.toString().contains("hush"), refused.toString());
    }

    @Test
    void data_without_the_fingerprint_fields_are_rejected() {
        JavaWorkflow<Order, String> workflow =
                finished(draft().fingerprint("sum", o -> o.total().amount()));
        SemelException refused =
                assertThrows(SemelException.class, () -> workflow.checkInput(StrictJsonCodec.parse("{\"lines\":1}")));
        assertEquals(ErrorCode.INVALID_INPUT, refused.code());
        assertTrue(refused.detail().contains("reading sum failed with NullPointerException"), refused.detail());
    }

    static Stream<Arguments> keys() {
        WorkflowBuilder.InputAccessor<Order, Object> plain = Order::orderId;
        WorkflowBuilder.InputAccessor<Order, Object> joined = o -> Key.of(o.orderId(), "\u00e4:");
        WorkflowBuilder.InputAccessor<Order, Object> number = Order::lines;
        WorkflowBuilder.InputAccessor<Order, Object> spaced = o -> " " + o.orderId() + " ";
        return Stream.of(
                Arguments.of("O-1", plain),
                Arguments.of("O-1:%C3%A4%3A", joined),
                Arguments.of("2", number),
                Arguments.of("O-1", spaced));
    }

    @ParameterizedTest
    @MethodSource("keys")
    void a_workflow_derives_its_own_key(String key, WorkflowBuilder.InputAccessor<Order, Object> accessor) {
        assertEquals(key, finished(draft().keyedBy(accessor)).derivedKey(StrictJsonCodec.parse(DATA)));
    }

    static Stream<Arguments> noKeys() {
        WorkflowBuilder.InputAccessor<Order, Object> plain = Order::orderId;
        WorkflowBuilder.InputAccessor<Order, Object> failing =
                o -> o.total().amount().add(BigDecimal.ONE);
        WorkflowBuilder.InputAccessor<Order, Object> blank = o -> " ";
        WorkflowBuilder.InputAccessor<Order, Object> unstable = o -> new Object();
        WorkflowBuilder.InputAccessor<Order, Object> foreign = o -> "\u00e4";
        WorkflowBuilder.InputAccessor<Order, Object> tooLong = o -> "x".repeat(256);
        ErrorCode required = ErrorCode.IDEMPOTENCY_KEY_REQUIRED;
        ErrorCode invalid = ErrorCode.IDEMPOTENCY_KEY_INVALID;
        return Stream.of(
                Arguments.of(required, "keyedBy returned nothing for these data", plain, "{\"lines\":1}"),
                Arguments.of(required, "keyedBy returned nothing for these data", blank, DATA),
                Arguments.of(required, "failed with NullPointerException", failing, "{\"lines\":1}"),
                Arguments.of(
                        required,
                        "do not match the input type at /data/lines: int is expected",
                        plain,
                        "{\"order_id\":\"hush\"}"),
                Arguments.of(invalid, "visible ASCII", unstable, DATA),
                Arguments.of(invalid, "visible ASCII", foreign, DATA),
                Arguments.of(invalid, "visible ASCII", tooLong, DATA));
    }

    @ParameterizedTest
    @MethodSource("noKeys")
    void without_its_required_key_a_workflow_does_not_run(
            ErrorCode code, String why, WorkflowBuilder.InputAccessor<Order, Object> accessor, String data) {
        SemelException refused = assertThrows(
                SemelException.class,
                () -> finished(draft().keyedBy(accessor)).derivedKey(StrictJsonCodec.parse(data)));
        assertEquals(code, refused.code());
        assertTrue(refused.detail().contains(why), refused.detail());
        assertTrue(refused.detail().endsWith("No run was started."), refused.detail());
        assertFalse(refused.toString().contains("hush"), refused.toString());
    }

    @Test
    void concurrency_limits_read_their_keys_from_the_data() {
        ConcurrencyControl concurrency = finished(draft().serialBy(Order::orderId)
                        .debounce(o -> Key.of("cart", o.lines()), Duration.ofSeconds(1), Duration.ofSeconds(2))
                        .rateLimit(Order::lines, 3, Duration.ofMinutes(1)))
                .concurrency();
        ConcurrencyControl.Debounce debounce = concurrency.debounce();
        ConcurrencyControl.RateLimit limit = concurrency.rateLimit();
        assertEquals("O-1", key(concurrency.serialBy(), DATA));
        assertEquals("cart:2", key(debounce == null ? null : debounce.key(), DATA));
        assertEquals("2", key(limit == null ? null : limit.key(), DATA));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '\'',
            value = {
                "'{\"lines\":1}'                        | The key of serialBy (order_id) is empty. No run was started.",
                "'{\"order_id\":\"  \",\"lines\":1}'    | The key of serialBy (order_id) is empty. No run was started.",
                "'{\"order_id\":\"a\\u0000\",\"lines\":1}' | The key of serialBy (order_id) has a character that"
                        + " cannot be",
                "'{\"order_id\":\"hush\"}'              | The data do not match the input type of workflow \"order\" at"
                        + " /data/lines",
            })
    void a_concurrency_limit_without_a_key_reports_an_error(String data, String detail) {
        ConcurrencyControl concurrency =
                finished(draft().serialBy(Order::orderId)).concurrency();
        SemelException refused = assertThrows(SemelException.class, () -> key(concurrency.serialBy(), data));
        assertEquals(ErrorCode.INVALID_INPUT, refused.code());
        assertTrue(refused.detail().startsWith(detail), refused.detail());
        assertFalse(refused.toString().contains("hush"), refused.toString());
    }

    @Test
    void a_concurrency_key_that_fails_or_is_too_long_is_rejected() {
        ConcurrencyControl failing =
                finished(draft().serialBy(o -> o.total().amount())).concurrency();
        SemelException failed = assertThrows(SemelException.class, () -> key(failing.serialBy(), "{\"lines\":1}"));
        assertTrue(
                failed.detail().contains("could not be derived from the data (NullPointerException)"), failed.detail());
        ConcurrencyControl tooLong =
                finished(draft().serialBy(o -> "x".repeat(1_001))).concurrency();
        SemelException refused = assertThrows(SemelException.class, () -> key(tooLong.serialBy(), DATA));
        assertTrue(refused.detail().contains("is longer than 1000 bytes"), refused.detail());
    }

    private static String key(ConcurrencyControl.@Nullable ConcurrencyKey key, String data) {
        if (key == null) {
            throw new AssertionError("there is no gate");
        }
        return key.derive(StrictJsonCodec.parse(data));
    }
}
