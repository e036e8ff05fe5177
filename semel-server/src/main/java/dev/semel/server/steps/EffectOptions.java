package dev.semel.server.steps;

import dev.semel.effect.Protection;
import dev.semel.admission.CanonicalJson;
import dev.semel.server.expressions.JsonTypeNames;
import dev.semel.server.expressions.ValueTemplate;
import dev.semel.workflow.EffectAction;
import dev.semel.workflow.OnChange;
import dev.semel.workflow.ReviewOptions;
import dev.semel.workflow.EffectBuilder;
import dev.semel.definition.EffectSpec;
import dev.semel.workflow.Key;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The declared options of an effect: key and window, protection, retries and business meaning. */
record EffectOptions(
        @Nullable IdempotentSection idempotent,
        Protection protection,
        RetryOptions retries,
        List<Integer> alreadyDoneStatuses,
        EffectAction does,
        @Nullable ValueTemplate object,
        @Nullable ValueTemplate worth,
        @Nullable String risk,
        InDoubtReviewReader.@Nullable ReviewTemplate review) {
    EffectOptions {
        alreadyDoneStatuses = List.copyOf(alreadyDoneStatuses);
    }

    /**
     * The section `idempotent: {key, time, unit, on_change}`.
     *
     * @param keySource the key as written in the file
     * @param window null if the key applies only to the run and its replays
     */
    record IdempotentSection(ValueTemplate key, String keySource, @Nullable Duration window, OnChange onChange) {}

    /**
     * One send of an effect.
     *
     * @param name of the recorded effect; the step id if it is the only one
     * @param part distinguishes the sends of one step, e.g. the channel; null if there is only one
     * @param recipient last part of the key, so that each recipient counts separately; null if there is none
     * @param data the sent data, which the window compares; null if only the key counts
     */
    record EffectSend(
            String name,
            @Nullable String part,
            @Nullable String recipient,
            @Nullable JsonNode data) {}

    /** The effect specification for the engine. */
    EffectSpec spec(StepContext context, EffectSend aim) {
        return new EffectSpec(
                retries.spec(aim.name()),
                key(context, aim),
                protection,
                window(aim.data()),
                marks(context),
                alreadyDoneStatuses,
                review == null ? ReviewOptions.DEFAULT : review.evaluate(context));
    }

    /** Whether changed data is sent inside the window, so that the comparison matters. */
    boolean sendsChanges() {
        return idempotent != null && idempotent.window() != null && idempotent.onChange() == OnChange.SEND;
    }

    /** The same options with a provider window that is at most this long. */
    EffectOptions withProviderWindow(Duration atMost) {
        return protection instanceof Protection.ProviderKey(Duration window) && window.compareTo(atMost) > 0
                ? new EffectOptions(
                        idempotent,
                        new Protection.ProviderKey(atMost),
                        retries,
                        alreadyDoneStatuses,
                        does,
                        object,
                        worth,
                        risk,
                        review)
                : this;
    }

    /** The same options without the engine's timeout, for an action with its own timeout. */
    EffectOptions withoutTimeout() {
        return new EffectOptions(
                idempotent, protection, new RetryOptions(retries.retry(), null), alreadyDoneStatuses, does, object, worth, risk, review);
    }

    private @Nullable String key(StepContext context, EffectSend aim) {
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

    private static String text(StepContext context, ValueTemplate key) {
        JsonNode value = context.evaluate(key);
        String place = "The key of step '" + context.id() + "'";
        if (!value.isString() && !value.isNumber()) {
            throw context.evaluationFailed(place, "it returned " + JsonTypeNames.nameOf(value) + " instead of text");
        }
        if (value.asString().isBlank()) {
            throw context.evaluationFailed(place, "it is empty, so all messages without it would count as duplicates");
        }
        return bounded(context, value.asString());
    }

    private static String bounded(StepContext context, String key) {
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
                : new EffectSpec.OncePerWindow(idempotent.window(), digest(data), idempotent.onChange());
    }

    private static byte[] digest(JsonNode data) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(CanonicalJson.bytes(data));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is missing in this JVM", e);
        }
    }

    private EffectSpec.BusinessRecord marks(StepContext context) {
        return new EffectSpec.BusinessRecord(does, context.optionalText(object, "object"), context.optionalText(worth, "worth"));
    }

    DeclaredEffect declaredEffect(String target) {
        Duration window = idempotent == null ? null : idempotent.window();
        return new DeclaredEffect(
                target,
                word(does),
                idempotent == null ? null : idempotent.keySource(),
                window,
                window == null || idempotent == null ? null : word(idempotent.onChange()),
                protection.word(),
                protection instanceof Protection.ProviderKey(Duration remembered) ? remembered : null,
                protection instanceof Protection.None(String because) ? because : null,
                risk,
                alreadyDoneStatuses);
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    @Nullable
    ValueTemplate effectKey() {
        return idempotent == null ? null : idempotent.key();
    }

    Stream<ValueTemplate> templates() {
        Stream<ValueTemplate> own =
                Stream.of(idempotent == null ? null : idempotent.key(), object, worth).flatMap(Stream::ofNullable);
        return review == null ? own : Stream.concat(own, review.templates());
    }
}
