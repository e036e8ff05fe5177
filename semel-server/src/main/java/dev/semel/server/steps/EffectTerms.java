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

/**
 * What a file says about an effect beside the deed itself: its key and window, its protection, how often it is tried,
 * and what it means to the business.
 */
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
     * `idempotent: {key, time, unit, on_change}`.
     *
     * @param written the key as it stands in the file
     * @param window null where the key counts for the run and its replays only
     */
    record Once(Template key, String written, @Nullable Duration window, EffectPlan.OnChange onChange) {}

    /**
     * One send of an effect.
     *
     * @param name of the effect on record; the step's id, where it is the only one
     * @param part tells the sends of one step apart, e.g. the channel; null where there is only one
     * @param recipient counted by itself: the last part of the key; null where there is none
     * @param data what is sent, compared inside the window; null where only the key counts
     */
    record Aim(
            String name,
            @Nullable String part,
            @Nullable String recipient,
            @Nullable JsonNode data) {}

    /** The effect as the engine takes it. */
    EffectPlan plan(Play play, Aim aim) {
        return new EffectPlan(
                retries.plan(aim.name()),
                key(play, aim),
                protection,
                window(aim.data()),
                marks(play),
                alreadyDone,
                question == null ? Asking.PLAIN : question.filled(play));
    }

    /** Whether other data go out inside the window, so that what is compared decides. */
    boolean sendsChanges() {
        return once != null && once.window() != null && once.onChange() == EffectPlan.OnChange.SEND;
    }

    /** The same over a channel whose provider remembers a key for so long, where that is shorter than the file has it. */
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

    /** The same without a time limit of the engine's, for a deed that keeps its own and knows more when it is over. */
    EffectTerms untimed() {
        return new EffectTerms(
                once, protection, new Retries(retries.retry(), null), alreadyDone, does, object, worth, risk, question);
    }

    private @Nullable String key(Play play, Aim aim) {
        if (aim.recipient() != null && aim.recipient().isBlank()) {
            throw play.failed("The recipient of step '" + play.id() + "'", "it is empty");
        }
        String front = once == null ? null : text(play, once.key());
        if (front == null) {
            return null; // the id of the step, which names the run, the step and the channel
        }
        return bounded(play, front + joined(aim.part()) + joined(aim.recipient()));
    }

    /** Key.of joins parts and escapes each; the front is a key already, made by key(…) or by the author. */
    private static String joined(@Nullable String part) {
        return part == null ? "" : Key.of("x", part).text().substring(1);
    }

    private static String text(Play play, Template key) {
        JsonNode value = play.fill(key);
        String place = "The key of step '" + play.id() + "'";
        if (!value.isString() && !value.isNumber()) {
            throw play.failed(place, "it gave " + Kinds.of(value) + " instead of text");
        }
        if (value.asString().isBlank()) {
            throw play.failed(place, "it is empty, and every message without it would count as the same");
        }
        return bounded(play, value.asString());
    }

    private static String bounded(Play play, String key) {
        if (key.getBytes(StandardCharsets.UTF_8).length > EffectDraft.LONGEST_KEY) {
            throw play.failed("The key of step '" + play.id() + "'", "it is longer than 64 KiB");
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
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private EffectPlan.Marks marks(Play play) {
        return new EffectPlan.Marks(does, play.maybeText(object, "object"), play.maybeText(worth, "worth"));
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
