package dev.semel.workflow;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.definition.EffectSpec;
import dev.semel.definition.ResultNotRecordable;
import dev.semel.definition.StepSpec;
import dev.semel.effect.EffectDuplicateProtection;
import dev.semel.error.EffectInDoubt;
import dev.semel.error.ErrorCode;
import dev.semel.error.JsonConversionFailed;
import dev.semel.error.SemelException;
import dev.semel.json.JsonCodec;
import dev.semel.policy.ChangedEffectDataPolicy;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What a workflow says of an effect, and what the engine is notified. */
class EffectBuilderTest {
    private final InMemoryDurableOperations.SharedState shared = new InMemoryDurableOperations.SharedState();
    private final Context ctx = new Context(new InMemoryDurableOperations(shared), JsonCodec.STANDARD);

    static Stream<Arguments> protections() {
        return Stream.of(
                Arguments.of(
                        choice(d -> d.repeatable("it only reads")),
                        new EffectDuplicateProtection.Repeatable("it only reads"),
                        Retry.STANDARD.within(Duration.ofHours(24))),
                Arguments.of(
                        choice(d -> d.providerHonoursKey(Duration.ofHours(10))),
                        new EffectDuplicateProtection.ProviderKey(Duration.ofHours(10)),
                        Retry.STANDARD.within(Duration.ofHours(8))),
                Arguments.of(
                        choice(d -> d.withAlternative().providerHonoursKey(Duration.ofHours(10))),
                        new EffectDuplicateProtection.ProviderKey(Duration.ofHours(10)),
                        Retry.STANDARD.within(Duration.ofHours(8)).upToUnsent(5)),
                Arguments.of(
                        choice(d -> d.retry(Retry.none()).providerHonoursKey(Duration.ofHours(10))),
                        new EffectDuplicateProtection.ProviderKey(Duration.ofHours(10)),
                        Retry.none()),
                Arguments.of(
                        choice(d -> d.askOnDoubt("role:ops")),
                        new EffectDuplicateProtection.Ask("role:ops"),
                        Retry.STANDARD));
    }

    private static Function<EffectBuilder, Effect> choice(Function<EffectBuilder, Effect> choice) {
        return choice;
    }

    @ParameterizedTest
    @MethodSource("protections")
    void the_engine_gets_the_protection_and_its_default_retry(
            Function<EffectBuilder, Effect> choice, EffectDuplicateProtection protection, Retry retry) {
        assertEquals("done", choice.apply(ctx.effect("x")).call(String.class, e -> "done"));
        EffectSpec plan = plan();
        assertEquals(protection, plan.protection());
        assertEquals(retry, plan.step().retry());
        assertNull(plan.key());
        assertNull(plan.once());
        assertEquals(EffectSpec.BusinessRecord.NONE, plan.businessRecord());
        assertEquals(List.of(), plan.alreadyDone());
    }

    @Test
    void all_options_reach_the_engine() {
        ctx.effect("x")
                .key("k", 1)
                .to("ann@example.org")
                .does(EffectOperation.NOTIFY)
                .object("lead", 7)
                .worth(new BigDecimal("1E+2"), "EUR")
                .oncePer(Duration.ofDays(3))
                .onChange(ChangedEffectDataPolicy.REVIEW)
                .data(Map.of("a", 1))
                .retry(Retry.none())
                .timeout(Duration.ofSeconds(9))
                .alreadyDone(409, 410)
                .formerly("old")
                .repeatable("why")
                .call(e -> {});
        EffectSpec plan = plan();
        assertEquals("k:1:ann@example.org", plan.key());
        assertEquals(new EffectSpec.BusinessRecord(EffectOperation.NOTIFY, "lead:7", "100 EUR"), plan.businessRecord());
        assertEquals(new StepSpec("x", List.of("old"), Retry.NONE, Duration.ofSeconds(9)), plan.step());
        assertEquals(List.of(409, 410), plan.alreadyDone());
        EffectSpec.OncePerWindow once = plan.once();
        assertEquals(Duration.ofDays(3), once == null ? null : once.window());
        assertEquals(ChangedEffectDataPolicy.REVIEW, once == null ? null : once.onChange());
    }

    @Test
    void a_recipient_without_a_key_is_counted_within_the_lineage() {
        ctx.effect("x").to("ann").repeatable("why").call(e -> {});
        assertEquals("step_x:ann", plan().key());
    }

    @Test
    void equal_data_have_an_equal_digest_however_they_are_made() {
        record Sent(int amount, String to) {}
        byte[] one = digest(new Sent(1, "a"));
        assertArrayEquals(one, digest(Map.of("to", "a", "amount", new BigDecimal("1.0"))));
        assertFalse(Arrays.equals(one, digest(new Sent(2, "a"))));
    }

    private byte[] digest(Object data) {
        ctx.effect("x")
                .key("k")
                .oncePer(Duration.ofDays(1))
                .data(data)
                .repeatable("why")
                .call(e -> {});
        EffectSpec.OncePerWindow once = plan().once();
        byte[] digest = once == null ? null : once.data();
        if (digest == null) {
            throw new AssertionError("no digest");
        }
        return digest;
    }

    static Stream<Arguments> refusals() {
        String long64k = "x".repeat(EffectBuilder.MAX_KEY_BYTES);
        return Stream.of(
                refusal("the key has no parts", d -> d.key()),
                refusal("part 2 of the key is null", d -> d.key("a", null)),
                refusal("part 1 of the key is empty", d -> d.key("")),
                refusal(
                        "its key has 65537 bytes; the maximum is 65536",
                        d -> d.key(long64k + "x").repeatable("w")),
                refusal("its key has 65538 bytes", d -> d.key(long64k).to("x").repeatable("w")),
                refusal("its recipient is empty", d -> d.key("a").to(" ").repeatable("w")),
                refusal("in object(…), part 2 of the key is null", d -> d.object("payment", null)),
                refusal("the amount of worth(amount, currency) is not", d -> d.worth(Double.NaN, "EUR")),
                refusal("the currency of worth(amount, currency)", d -> d.worth(1, "")),
                refusal(
                        "oncePer(…) requires key(…)",
                        d -> d.oncePer(Duration.ofDays(1)).repeatable("w")),
                refusal(
                        "the window must be between 1s and 365d, not PT0S",
                        d -> d.key("a").oncePer(Duration.ZERO).repeatable("w")),
                refusal(
                        "not PT8761H",
                        d -> d.key("a").oncePer(Duration.ofHours(365 * 24 + 1)).repeatable("w")),
                refusal(
                        "data(…) and onChange(…) require oncePer(…)",
                        d -> d.key("a").data(1).repeatable("w")),
                refusal(
                        "data(…) and onChange(…) require oncePer(…)",
                        d -> d.onChange(ChangedEffectDataPolicy.SEND).repeatable("w")),
                refusal("its timeout must be positive", d -> d.timeout(Duration.ZERO)),
                refusal("a status in alreadyDone(…)", d -> d.alreadyDone(409, 0)),
                refusal("the reason in repeatable(…) is empty", d -> d.repeatable(" ")),
                refusal("the reviewer in askOnDoubt(…) is empty", d -> d.askOnDoubt("")),
                refusal("the provider's window must be positive", d -> d.providerHonoursKey(Duration.ZERO)));
    }

    private static Arguments refusal(String why, Consumer<EffectBuilder> mistake) {
        return Arguments.of(why, mistake);
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void an_invalid_effect_is_rejected_with_its_name_before_sending(String why, Consumer<EffectBuilder> mistake) {
        SemelException refused = assertThrows(SemelException.class, () -> mistake.accept(ctx.effect("send_receipt")));
        assertEquals(ErrorCode.INVALID_DEFINITION, refused.code());
        assertTrue(refused.detail().startsWith("Effect \"send_receipt\""), refused.detail());
        assertTrue(refused.detail().contains(why), refused.detail());
        assertTrue(refused.detail().endsWith("It was not executed."), refused.detail());
        assertEquals(Map.of(), shared.effects);
    }

    @Test
    void a_key_of_exactly_64_kilobytes_is_accepted() {
        ctx.effect("x")
                .key("x".repeat(EffectBuilder.MAX_KEY_BYTES))
                .repeatable("w")
                .call(e -> {});
        assertEquals(1, shared.effects.size());
    }

    @Test
    void an_effect_without_a_name_is_rejected() {
        assertThrows(SemelException.class, () -> ctx.effect(" "));
        assertThrows(SemelException.class, () -> ctx.step(""));
    }

    @Test
    void an_at_most_once_effect_is_done_or_unknown() {
        EffectOutcome<String> done = ctx.effect("x").atMostOnce().call(String.class, e -> "value");
        assertEquals(new EffectOutcome.Done<>("value"), done);
        shared.lost.add("y");
        assertInstanceOf(
                EffectOutcome.Indeterminate.class, ctx.effect("y").atMostOnce().call(e -> {}));
        assertInstanceOf(EffectOutcome.Done.class, ctx.effect("z").atMostOnce().call(e -> {}));
    }

    @Test
    void an_undecided_doubt_has_no_value() {
        shared.lost.add("x");
        Effect effect = ctx.effect("x").askOnDoubt("role:ops");
        EffectInDoubt doubt = assertThrows(EffectInDoubt.class, () -> effect.call(String.class, e -> "value"));
        assertEquals("x", doubt.step());
    }

    @Test
    void an_unrecordable_result_is_reported_after_the_effect() {
        List<String> done = new ArrayList<>();
        Effect effect = ctx.effect("x").repeatable("why");
        JsonConversionFailed refused = assertThrows(
                        ResultNotRecordable.class,
                        () -> effect.call(Object.class, e -> {
                            done.add(e.key());
                            return new Object();
                        }))
                .why();
        assertEquals(List.of("step_x"), done);
        assertTrue(refused.detail().contains("the result of effect \"x\""), refused.detail());
    }

    private EffectSpec plan() {
        EffectSpec plan = shared.effects.get("x");
        if (plan == null) {
            throw new AssertionError("there was no effect x");
        }
        return plan;
    }
}
