package dev.semel.server.files.steps;

import dev.semel.definition.EffectSpec;
import dev.semel.definition.StepSpec;
import dev.semel.effect.EffectDuplicateProtection;
import dev.semel.idempotency.CanonicalJsonWriter;
import dev.semel.policy.ChangedEffectDataPolicy;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.yaml.JsonValueTypeNames;
import dev.semel.workflow.EffectBuilder;
import dev.semel.workflow.EffectOperation;
import dev.semel.workflow.Key;
import dev.semel.workflow.ReviewOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

public record YamlEffectOptions(
        @Nullable IdempotentSection idempotent,
        EffectDuplicateProtection protection,
        RetryOptions retries,
        List<Integer> alreadyDoneStatuses,
        EffectOperation does,
        @Nullable YamlValueTemplate object,
        @Nullable YamlValueTemplate worth,
        @Nullable String risk,
        YamlInDoubtEffectReviewReader.@Nullable ReviewTemplate review,
        boolean alternative) {
    public YamlEffectOptions {
        alreadyDoneStatuses = List.copyOf(alreadyDoneStatuses);
    }

    /**
     * The section `idempotent: {key, time, unit, on_change}`.
     *
     * @param keySource the key as written in the file
     * @param window null if the key applies only to the run and its replays
     */
    public record IdempotentSection(
            YamlValueTemplate key,
            String keySource,
            @Nullable Duration window,
            ChangedEffectDataPolicy onChange) {}

    /**
     * One send of an effect.
     *
     * @param name of the recorded effect; the step id if it is the only one
     * @param part distinguishes the sends of one step, e.g. the channel; null if there is only one
     * @param recipient last part of the key, so that each recipient counts separately; null if there is none
     * @param data the sent data, which the window compares; null if only the key counts
     */
    public record EffectSend(
            String name,
            @Nullable String part,
            @Nullable String recipient,
            @Nullable JsonNode data) {}

    public EffectSpec spec(YamlStepExecutionContext context, EffectSend aim) {
        return new EffectSpec(
                step(aim.name()),
                key(context, aim),
                protection,
                window(aim.data()),
                marks(context),
                alreadyDoneStatuses,
                review == null ? ReviewOptions.DEFAULT : review.evaluate(context));
    }

    /** Whether changed data is sent inside the window, so that the comparison matters. */
    public boolean sendsChanges() {
        return idempotent != null
                && idempotent.window() != null
                && idempotent.onChange() == ChangedEffectDataPolicy.SEND;
    }

    /** The same options with a provider window that is at most this long. */
    public YamlEffectOptions withProviderWindow(Duration atMost) {
        return protection instanceof EffectDuplicateProtection.ProviderKey(Duration window)
                        && window.compareTo(atMost) > 0
                ? with(new EffectDuplicateProtection.ProviderKey(atMost), retries, alternative)
                : this;
    }

    /** The same options without the engine's timeout, for an action with its own timeout. */
    public YamlEffectOptions withoutTimeout() {
        return with(protection, retries.withoutTimeout(), alternative);
    }

    /** The same options for an effect with a fallback. */
    public YamlEffectOptions withAlternative() {
        return with(protection, retries, true);
    }

    /** Name, retries and timeout. The retries follow from the protection, unless the file declares them. */
    public StepSpec step(String name) {
        return retries.spec(name, protection, alternative);
    }

    private YamlEffectOptions with(EffectDuplicateProtection other, RetryOptions again, boolean fallback) {
        return new YamlEffectOptions(
                idempotent, other, again, alreadyDoneStatuses, does, object, worth, risk, review, fallback);
    }

    private @Nullable String key(YamlStepExecutionContext context, EffectSend aim) {
        if (aim.recipient() != null && aim.recipient().isBlank()) {
            throw context.evaluationFailed("The recipient of step '" + context.id() + "'", "it is empty");
        }
        String front = idempotent == null ? null : text(context, idempotent.key());
        if (front == null) {
            return null; // the step id is the key; it covers run, step and channel
        }
        return bounded(context, front + joined(aim.part()) + joined(aim.recipient()));
    }

    /** Key.of escapes and joins the parts; the first part is already a key. */
    private static String joined(@Nullable String part) {
        return part == null ? "" : Key.of("x", part).text().substring(1);
    }

    private static String text(YamlStepExecutionContext context, YamlValueTemplate key) {
        JsonNode value = context.evaluateIdentifier(key, context.scope());
        String place = "The key of step '" + context.id() + "'";
        if (!value.isString()) {
            throw context.evaluationFailed(
                    place, "it returned " + JsonValueTypeNames.nameOf(value) + " instead of text");
        }
        if (value.stringValue().isBlank()) {
            throw context.evaluationFailed(
                    place, "it is empty, so all messages with an empty key would count as duplicates");
        }
        return bounded(context, value.stringValue());
    }

    private static String bounded(YamlStepExecutionContext context, String key) {
        if (key.getBytes(StandardCharsets.UTF_8).length > EffectBuilder.MAX_KEY_BYTES) {
            throw context.evaluationFailed("The key of step '" + context.id() + "'", "it is longer than 64 KiB");
        }
        return key;
    }

    private EffectSpec.@Nullable OncePerWindow window(@Nullable JsonNode data) {
        if (idempotent == null || idempotent.window() == null) {
            return null;
        }
        return data == null
                ? EffectSpec.OncePerWindow.keyOnly(idempotent.window(), idempotent.onChange())
                : EffectSpec.OncePerWindow.of(
                        idempotent.window(), CanonicalJsonWriter.bytes(data), idempotent.onChange());
    }

    private EffectSpec.BusinessRecord marks(YamlStepExecutionContext context) {
        return new EffectSpec.BusinessRecord(
                does,
                object == null ? context.run().businessObject() : context.text(object, "object"),
                context.optionalText(worth, "worth"));
    }

    public DeclaredEffect declaredEffect(String target) {
        Duration window = idempotent == null ? null : idempotent.window();
        return new DeclaredEffect(
                target,
                word(does),
                idempotent == null ? null : idempotent.keySource(),
                window,
                window == null || idempotent == null ? null : word(idempotent.onChange()),
                protection.word(),
                protection instanceof EffectDuplicateProtection.ProviderKey(Duration remembered) ? remembered : null,
                protection instanceof EffectDuplicateProtection.None(String because) ? because : null,
                risk,
                alreadyDoneStatuses);
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    @Nullable
    public YamlValueTemplate effectKey() {
        return idempotent == null ? null : idempotent.key();
    }

    public Stream<YamlValueTemplate> templates() {
        Stream<YamlValueTemplate> own = Stream.of(idempotent == null ? null : idempotent.key(), object, worth)
                .flatMap(Stream::ofNullable);
        return review == null ? own : Stream.concat(own, review.templates());
    }
}
