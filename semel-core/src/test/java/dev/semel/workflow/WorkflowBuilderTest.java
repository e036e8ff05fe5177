package dev.semel.workflow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.definition.ConcurrencyControl;
import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.JavaWorkflow;
import dev.semel.definition.WorkflowTriggers;
import dev.semel.error.ErrorCode;
import dev.semel.error.JsonConversionFailed;
import dev.semel.error.SemelException;
import dev.semel.idempotency.FailedRunDuplicateRequestPolicy;
import dev.semel.idempotency.IdempotencyKeyScope;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.json.StrictJsonCodec;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import dev.semel.policy.SamePayloadDifferentKeyPolicy;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** What a definition says, what it refuses, and the text that stands for it. */
class WorkflowBuilderTest {
    record Payment(String id, long amount, String customer) {}

    private static WorkflowBuilder<Payment, String> draft() {
        return Workflow.define("pay", Payment.class, String.class);
    }

    private static JavaWorkflow<Payment, String> finished(WorkflowBuilder<Payment, String> draft) {
        return JavaWorkflow.of(draft.body((ctx, in) -> in.id()));
    }

    @Test
    void the_smallest_workflow_leaves_the_decision_to_the_key_alone() throws Exception {
        JavaWorkflow<Payment, String> smallest = finished(draft());
        assertEquals(KeyPolicy.DEFAULT, smallest.policy());
        assertEquals(ConcurrencyControl.NONE, smallest.concurrency());
        assertNull(smallest.owner());
        assertNull(smallest.deadline());
        assertNull(smallest.derivedKey(StrictJsonCodec.parse("{}")));
        assertEquals(
                "\"p\"",
                StrictJsonCodec.write(smallest.body()
                        .run(
                                new InMemoryDurableOperations(new InMemoryDurableOperations.SharedState()),
                                smallest.inputOf(new Payment("p", 1, "c")))));
    }

    @Test
    void a_declared_fingerprint_rejects_a_change_by_default() {
        assertEquals(
                SameKeyDifferentPayloadPolicy.REPLAY, finished(draft()).policy().onMismatch());
        assertEquals(
                SameKeyDifferentPayloadPolicy.REJECT,
                finished(draft().fingerprint(Payment::id)).policy().onMismatch());
        assertEquals(
                SameKeyDifferentPayloadPolicy.REJECT,
                finished(draft().fingerprintFields("id")).policy().onMismatch());
        assertEquals(
                SameKeyDifferentPayloadPolicy.REJECT,
                finished(draft().fingerprintIgnore("at")).policy().onMismatch());
        assertEquals(
                SameKeyDifferentPayloadPolicy.REPLAY,
                finished(draft().fingerprint(Payment::id).onMismatch(SameKeyDifferentPayloadPolicy.REPLAY))
                        .policy()
                        .onMismatch());
        assertEquals(
                SameKeyDifferentPayloadPolicy.DISTINCT,
                finished(draft().onMismatch(SameKeyDifferentPayloadPolicy.DISTINCT))
                        .policy()
                        .onMismatch());
    }

    @Test
    void all_options_are_kept() {
        JavaWorkflow<Payment, String> whole = finished(draft().title("Payments")
                .description("Takes money.")
                .owner("team")
                .window(Duration.ofDays(7))
                .keysPerWorkflow()
                .duplicatePayload(SamePayloadDifferentKeyPolicy.FLAG)
                .runAgainAfterFailure()
                .holdWhileRunning(false)
                .requireKey()
                .deadline(Duration.ofHours(2))
                .maxConcurrent(50)
                .serialBy(Payment::customer)
                .debounce(Payment::id, Duration.ofSeconds(30), Duration.ofMinutes(10))
                .rateLimit(p -> p.customer() + p.id(), 10, Duration.ofMinutes(1)));
        KeyPolicy policy = whole.policy();
        assertEquals(
                new KeyPolicy(
                        Duration.ofDays(7),
                        IdempotencyKeyScope.WORKFLOW,
                        List.of(),
                        List.of(),
                        SameKeyDifferentPayloadPolicy.REPLAY,
                        SamePayloadDifferentKeyPolicy.FLAG,
                        FailedRunDuplicateRequestPolicy.RUN_AGAIN,
                        false,
                        true),
                policy);
        assertEquals("Payments", whole.title());
        assertEquals("Takes money.", whole.description());
        assertEquals("team", whole.owner());
        assertEquals(Duration.ofHours(2), whole.deadline());
        assertEquals("""
            {"semel":1,"java":"pay","title":"Payments","description":"Takes money.","owner":"team",\
            "idempotency":{"window":"PT168H","scope":"workflow","on_mismatch":"replay",\
            "duplicate_payload":"flag","on_failed":"run_again","hold_while_running":false,"require_key":true},\
            "concurrency":{"serial_by":"customer","max_concurrent":50,\
            "debounce":{"key":"id","quiet":"PT30S","at_most":"PT10M"},\
            "rate_limit":{"key":"a function","count":10,"per":"PT1M"}},"deadline":"PT2H"}\
            """, whole.descriptor());
    }

    static Stream<UnaryOperator<WorkflowBuilder<Payment, String>>> changes() {
        return Stream.of(
                d -> d.title("t"),
                d -> d.description("t"),
                d -> d.owner("t"),
                d -> d.window(Duration.ofHours(1)),
                d -> d.keysPerWorkflow(),
                d -> d.onMismatch(SameKeyDifferentPayloadPolicy.DISTINCT),
                d -> d.duplicatePayload(SamePayloadDifferentKeyPolicy.REJECT),
                d -> d.runAgainAfterFailure(),
                d -> d.holdWhileRunning(false),
                d -> d.requireKey(),
                d -> d.keyedBy(Payment::id),
                d -> d.keyedBy(Payment::customer),
                d -> d.fingerprint(Payment::id),
                d -> d.fingerprint(Payment::amount),
                d -> d.fingerprint(Payment::id, Payment::amount),
                d -> d.fingerprint("other", Payment::id),
                d -> d.fingerprintFields("lines[].sku"),
                d -> d.fingerprintIgnore("at"),
                d -> d.serialBy(Payment::customer),
                d -> d.serialBy(Payment::id),
                d -> d.maxConcurrent(2),
                d -> d.debounce(Payment::id, Duration.ofSeconds(1), Duration.ofSeconds(2)),
                d -> d.debounce(Payment::id, Duration.ofSeconds(1), Duration.ofSeconds(3)),
                d -> d.rateLimit(Payment::id, 1, Duration.ofSeconds(2)),
                d -> d.rateLimit(Payment::id, 2, Duration.ofSeconds(2)),
                d -> d.deadline(Duration.ofHours(1)));
    }

    @ParameterizedTest
    @MethodSource("changes")
    void the_same_declaration_has_the_same_text_and_another_one_another(
            UnaryOperator<WorkflowBuilder<Payment, String>> change) {
        String changed = finished(change.apply(draft())).descriptor();
        assertEquals(changed, finished(change.apply(draft())).descriptor());
        assertNotEquals(finished(draft()).descriptor(), changed);
        assertEquals(
                1,
                changes()
                        .filter(other ->
                                finished(other.apply(draft())).descriptor().equals(changed))
                        .count());
        assertEquals("pay", StrictJsonCodec.parse(changed).path("java").stringValue());
    }

    @Test
    void personal_data_fields_are_known_and_create_no_new_version() {
        JavaWorkflow<Payment, String> marked = finished(draft().pii("email", "lines[].name"));
        assertEquals("[email, lines[].name]", marked.body().piiPaths().toString());
        assertEquals(finished(draft()).descriptor(), marked.descriptor());
    }

    @Test
    void code_is_not_part_of_the_text() {
        assertEquals(
                JavaWorkflow.of(draft().body((ctx, in) -> "a")).descriptor(),
                JavaWorkflow.of(draft().body((ctx, in) -> ctx.step("x", String.class, s -> "b")))
                        .descriptor());
    }

    static Stream<Arguments> refusals() {
        Duration year = Duration.ofDays(365);
        return Stream.of(
                refusal("window must be between 1s and 365d, not PT0S", d -> d.window(Duration.ZERO)),
                refusal("window must be between 1s and 365d", d -> d.window(year.plusNanos(1))),
                refusal("deadline must be between 1s and 365d, not PT-1S", d -> d.deadline(Duration.ofSeconds(-1))),
                refusal("maxConcurrent must be at least 1, not 0", d -> d.maxConcurrent(0)),
                refusal("the count of rateLimit must be at least 1", d -> d.rateLimit(Payment::id, 0, year)),
                refusal("the period of rateLimit must be", d -> d.rateLimit(Payment::id, 1, Duration.ZERO)),
                refusal("the quiet period of debounce must be", d -> d.debounce(Payment::id, Duration.ZERO, year)),
                refusal("is shorter than its quiet period", d -> d.debounce(Payment::id, year, Duration.ofDays(1))),
                refusal("owner must have 1 to 1000 characters", d -> d.owner(" ")),
                refusal("title must have 1 to 1000 characters", d -> d.title("x".repeat(1_001))),
                refusal("the fingerprint contains id twice", d -> d.fingerprint(Payment::id, Payment::id)),
                refusal(
                        "the fingerprint contains id twice",
                        d -> d.fingerprint(Payment::id).fingerprintFields("id")),
                refusal("in the fingerprint, path $.id", d -> d.fingerprintFields("$.id")),
                refusal("in the fingerprint, a path is empty", d -> d.fingerprintIgnore(" ")),
                refusal("in pii, a path is empty", d -> d.pii(" ")),
                refusal("the name of a fingerprint field", d -> d.fingerprint("", Payment::id)),
                refusal(
                        "declares both fingerprint and fingerprintIgnore",
                        d -> finished(d.fingerprint(Payment::id).fingerprintIgnore("at"))));
    }

    private static Arguments refusal(String why, Consumer<WorkflowBuilder<Payment, String>> mistake) {
        return Arguments.of(why, mistake);
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void a_bad_value_is_rejected_immediately(String why, Consumer<WorkflowBuilder<Payment, String>> mistake) {
        SemelException refused = assertThrows(SemelException.class, () -> mistake.accept(draft()));
        assertEquals(ErrorCode.INVALID_DEFINITION, refused.code());
        assertTrue(refused.detail().startsWith("The definition of workflow \"pay\" is not valid: "), refused.detail());
        assertTrue(refused.detail().contains(why), refused.detail());
    }

    @Test
    void values_at_their_limits_are_accepted() {
        JavaWorkflow<Payment, String> shortest = finished(
                draft().title("t".repeat(1_000)).window(Duration.ofSeconds(1)).deadline(Duration.ofSeconds(1)));
        assertEquals(Duration.ofSeconds(1), shortest.policy().window());
        assertEquals(Duration.ofSeconds(1), shortest.deadline());
        assertEquals("t".repeat(1_000), shortest.title());
        JavaWorkflow<Payment, String> longest =
                finished(draft().window(Duration.ofDays(365)).deadline(Duration.ofDays(365)));
        assertEquals(Duration.ofDays(365), longest.policy().window());
        assertEquals(Duration.ofDays(365), longest.deadline());
    }

    @Test
    void schedules_are_part_of_the_definition() {
        ScheduleOptions hourly = ScheduleOptions.every(Duration.ofHours(1));
        JavaWorkflow<Payment, String> scheduled = finished(
                draft().schedule("nightly", "30 2 * * *", ZoneOffset.UTC).schedule("hourly", hourly));
        assertEquals(
                Set.of(ScheduleOptions.cron("30 2 * * *", ZoneOffset.UTC).build("nightly"), hourly.build("hourly")),
                Set.copyOf(JavaWorkflow.schedulesOfVersion(scheduled.descriptor())));
    }

    static Stream<Arguments> eventRefusals() {
        ScheduleOptions hourly = ScheduleOptions.every(Duration.ofHours(1));
        return Stream.of(
                refusal("in schedule \"a\", The minute field", d -> d.schedule("a", "60 * * * *", ZoneOffset.UTC)),
                refusal("in schedule \"A\", a schedule name", d -> d.schedule("A", hourly)),
                refusal("the schedule a twice", d -> d.schedule("a", hourly).schedule("a", hourly)),
                refusal("the type of an event must have 1 to 255", d -> d.onEvent(" ")),
                refusal("the type of an event must have 1 to 255", d -> d.onEvent("t".repeat(256))),
                refusal("the type of an event must have 1 to 255", d -> d.onEvent("a\nb")),
                refusal(
                        "declares onEvent(\"paid\") twice",
                        d -> d.onEvent("paid").onEvent("paid", _ -> null)));
    }

    @ParameterizedTest
    @MethodSource("eventRefusals")
    void a_bad_schedule_or_event_is_rejected_immediately(
            String why, Consumer<WorkflowBuilder<Payment, String>> mistake) {
        a_bad_value_is_rejected_immediately(why, mistake);
    }

    @Test
    void an_event_is_the_input_or_is_mapped_to_it() {
        JavaWorkflow<Payment, String> workflow =
                finished(draft().onEvent("t".repeat(255)).onEvent("paid", event -> {
                    String id = event.path("id").asString();
                    if (id.equals("bad")) {
                        throw new IllegalStateException("hush");
                    }
                    return id.equals("ignored") ? null : new Payment(id, 7, "ann");
                }));
        List<WorkflowTriggers.EventSubscription> events = workflow.subscriptionsOfVersion(workflow.descriptor());
        assertEquals(
                List.of("t".repeat(255), "paid"),
                events.stream().map(WorkflowTriggers.EventSubscription::type).toList());
        JsonNode event = StrictJsonCodec.parse("{\"id\":\"e1\",\"data\":{\"a\":1}}");
        assertEquals(
                new WorkflowTriggers.MappedEvent.Input(StrictJsonCodec.parse("{\"a\":1}")),
                events.getFirst().mapper().map(event));
        WorkflowTriggers.EventMapper mapper = events.getLast().mapper();
        assertEquals(
                new WorkflowTriggers.MappedEvent.Input(
                        StrictJsonCodec.parse("{\"id\":\"e1\",\"amount\":7,\"customer\":\"ann\"}")),
                mapper.map(event));
        assertEquals(
                new WorkflowTriggers.MappedEvent.NoMatch(), mapper.map(StrictJsonCodec.parse("{\"id\":\"ignored\"}")));
        assertEquals(
                new WorkflowTriggers.MappedEvent.Failed("the code of onEvent failed with IllegalStateException"),
                mapper.map(StrictJsonCodec.parse("{\"id\":\"bad\"}")),
                "without the message, which may quote the event");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "Pay", "1pay", "pay receipt", "p\u00e4y", "a/b"})
    void a_name_that_fits_no_url_is_rejected(String name) {
        assertThrows(SemelException.class, () -> Workflow.define(name, Payment.class, String.class));
    }

    @Test
    void a_built_workflow_does_not_change_with_its_builder() {
        WorkflowBuilder<Payment, String> draft = draft().fingerprint(Payment::id);
        JavaWorkflow<Payment, String> first = finished(draft);
        String before = first.descriptor();
        finished(draft.fingerprint(Payment::amount).owner("x"));
        assertEquals(before, first.descriptor());
        assertEquals(1, first.policy().fingerprint().size());
    }

    @Test
    void an_input_that_no_longer_fits_its_type_is_reported_with_its_run() {
        JavaWorkflow<Payment, String> workflow = finished(draft());
        JsonConversionFailed refused = assertThrows(
                JsonConversionFailed.class,
                () -> workflow.body()
                        .run(
                                new InMemoryDurableOperations(new InMemoryDurableOperations.SharedState()),
                                StrictJsonCodec.parse("{\"id\":\"hush\",\"amount\":\"hush\"}")));
        assertTrue(
                refused.detail().startsWith("The input of workflow \"pay\" cannot be read as Payment, at /amount"),
                refused.detail());
        assertFalse(refused.toString().contains("hush"), refused.toString());
    }

    @Test
    void parameterized_types_and_no_input_are_supported() throws Exception {
        JavaWorkflow<Void, List<Payment>> list = (JavaWorkflow<Void, List<Payment>>)
                Workflow.define("list", TypeRef.of(Void.class), new TypeRef<List<Payment>>() {})
                        .body((ctx, nothing) -> List.of(new Payment("a", 1, "b")));
        DurableWorkflowOperations run = new InMemoryDurableOperations(new InMemoryDurableOperations.SharedState());
        list.checkInput(StrictJsonCodec.parse("{}"));
        assertEquals(
                "a",
                list.outputOf(list.body().run(run, StrictJsonCodec.parse("{}")))
                        .getFirst()
                        .id());
    }
}
