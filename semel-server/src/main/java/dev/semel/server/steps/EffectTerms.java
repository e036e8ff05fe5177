package dev.semel.server.steps;

import dev.semel.effect.Protection;
import dev.semel.key.CanonicalJson;
import dev.semel.server.language.Kinds;
import dev.semel.server.language.Template;
import dev.semel.workflow.Asking;
import dev.semel.workflow.EffectDraft;
import dev.semel.workflow.EffectPlan;
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
record EffectTerms(
        @Nullable Once once,
        Protection protection,
        Retries retries,
        List<Integer> alreadyDone,
        EffectPlan.Does does,
        @Nullable Template object,
        @Nullable Template worth,
        @Nullable String risk,
        DoubtReader.@Nullable Question question) {
    EffectTerms {
        alreadyDone = List.copyOf(alreadyDone);
    }

    /**
     * The section `idempotent: {key, time, unit, on_change}`.
     *
     * @param written the key as written in the file
     * @param window null if the key applies only to the run and its replays
     */
    record Once(Template key, String written, @Nullable Duration window, EffectPlan.OnChange onChange) {}

    /**
     * One send of an effect.
     *
     * @param name of the recorded effect; the step id if it is the only one
     * @param part distinguishes the sends of one step, e.g. the channel; null if there is only one
     * @param recipient last part of the key, so that each recipient counts separately; null if there is none
     * @param data the sent data, which the window compares; null if only the key counts
     */
    record Aim(
            String name,
            @Nullable String part,
            @Nullable String recipient,
            @Nullable JsonNode data) {}

    /** The effect specification for the engine. */
    EffectPlan plan(Play context, Aim aim) {
        return new EffectPlan(
                retries.plan(aim.name()),
                key(context, aim),
                protection,
                window(aim.data()),
                marks(context),
                alreadyDone,
                question == null ? Asking.PLAIN : question.filled(context));
    }

    /** Whether changed data is sent inside the window, so that the comparison matters. */
    boolean sendsChanges() {
        return once != null && once.window() != null && once.onChange() == EffectPlan.OnChange.SEND;
    }

    /** The same options with a provider window that is at most this long. */
    EffectTerms remembered(Duration atMost) {
        return protection instanceof Protection.ProviderKey(Duration window) && window.compareTo(atMost) > 0
                ? new EffectTerms(
                        once,
                        new Protection.ProviderKey(atMost),
                        retries,
                        alreadyDone,
                        does,
                        object,
                        worth,
                        risk,
                        question)
                : this;
    }

    /** The same options without the engine's timeout, for an action with its own timeout. */
    EffectTerms untimed() {
        return new EffectTerms(
                once, protection, new Retries(retries.retry(), null), alreadyDone, does, object, worth, risk, question);
    }

    private @Nullable String key(Play context, Aim aim) {
        if (aim.recipient() != null && aim.recipient().isBlank()) {
            throw context.failed("The recipient of step '" + context.id() + "'", "it is empty");
        }
        String front = once == null ? null : text(context, once.key());
        if (front == null) {
            return null; // the step id is the key; it covers run, step and channel
        }
        return bounded(context, front + joined(aim.part()) + joined(aim.recipient()));
    }

    /** Key.of escapes and joins the parts; the first part is already a key. */
    private static String joined(@Nullable String part) {
        return part == null ? "" : Key.of("x", part).text().substring(1);
    }

    private static String text(Play context, Template key) {
        JsonNode value = context.fill(key);
        String place = "The key of step '" + context.id() + "'";
        if (!value.isString() && !value.isNumber()) {
            throw context.failed(place, "it returned " + Kinds.of(value) + " instead of text");
        }
        if (value.asString().isBlank()) {
            throw context.failed(place, "it is empty, so all messages without it would count as duplicates");
        }
        return bounded(context, value.asString());
    }

    private static String bounded(Play context, String key) {
        if (key.getBytes(StandardCharsets.UTF_8).length > EffectDraft.LONGEST_KEY) {
            throw context.failed("The key of step '" + context.id() + "'", "it is longer than 64 KiB");
        }
        return key;
    }

    private EffectPlan.@Nullable Once window(@Nullable JsonNode data) {
        if (once == null || once.window() == null) {
            return null;
        }
        return data == null
                ? EffectPlan.Once.whatever(once.window(), once.onChange())
                : new EffectPlan.Once(once.window(), digest(data), once.onChange());
    }

    private static byte[] digest(JsonNode data) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(CanonicalJson.bytes(data));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is missing in this JVM", e);
        }
    }

    private EffectPlan.Marks marks(Play context) {
        return new EffectPlan.Marks(does, context.maybeText(object, "object"), context.maybeText(worth, "worth"));
    }

    Declared declared(String target) {
        Duration window = once == null ? null : once.window();
        return new Declared(
                target,
                word(does),
                once == null ? null : once.written(),
                window,
                window == null || once == null ? null : word(once.onChange()),
                protection.word(),
                protection instanceof Protection.ProviderKey(Duration remembered) ? remembered : null,
                protection instanceof Protection.None(String because) ? because : null,
                risk,
                alreadyDone);
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    @Nullable
    Template effectKey() {
        return once == null ? null : once.key();
    }

    Stream<Template> templates() {
        Stream<Template> own =
                Stream.of(once == null ? null : once.key(), object, worth).flatMap(Stream::ofNullable);
        return question == null ? own : Stream.concat(own, question.templates());
    }
}
