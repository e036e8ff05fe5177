package dev.semel.server.definition;

import dev.semel.key.FingerprintField;
import dev.semel.key.KeyPolicy;
import dev.semel.server.language.Durations;
import dev.semel.server.steps.Declared;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What a new version changes about keys and effects, and what that means for those in flight.
 *
 * @param field as it is written in the file, e.g. `idempotency.window`, or a step and its field
 * @param from empty where it was not there
 * @param to empty where it is gone
 * @param means in one sentence
 */
public record Change(String field, String from, String to, String means) {
    /** In the order of the file. */
    public static List<Change> between(Definition before, Definition after) {
        List<Change> changes = new ArrayList<>();
        triggers(changes, before, after);
        policy(changes, before.policy(), after.policy());
        effects(changes, before, after);
        return changes;
    }

    private static void add(List<Change> to, Change change) {
        if (!change.from().equals(change.to())) {
            to.add(change);
        }
    }

    private static void triggers(List<Change> to, Definition before, Definition after) {
        add(
                to,
                new Change(
                        "trigger.http.key",
                        said(before.keyText()),
                        said(after.keyText()),
                        "A retry of a trigger that is known by a key made by the old expression gets another key and"
                                + " starts a new run. Keys that callers send are not touched."));
        boolean required = after.policy().requireKey();
        add(
                to,
                new Change(
                        "trigger.http.require_key",
                        said(before.policy().requireKey()),
                        said(required),
                        required
                                ? "Callers that send no key are refused from now on."
                                : "Triggers without a key start a new run each; their retries are not recognised."));
    }

    private static void policy(List<Change> to, KeyPolicy before, KeyPolicy after) {
        String kept = "A known key keeps the window it was admitted with; ";
        Duration window = after.window();
        add(
                to,
                new Change(
                        "idempotency.window",
                        words(before.window()),
                        words(window),
                        kept + "a new one is remembered for " + words(window) + "."));
        add(
                to,
                new Change(
                        "idempotency.scope",
                        word(before.scope()),
                        word(after.scope()),
                        "Known keys are still found, as they were admitted; new ones are unique in the "
                                + word(after.scope()) + "."));
        String judged = "A known key is compared by the version that admitted it, so that no honest retry becomes a"
                + " conflict; new keys are compared by this.";
        add(to, new Change("idempotency.fingerprint", fields(before), fields(after), judged));
        add(
                to,
                new Change(
                        "idempotency.fingerprint_ignore",
                        String.join(", ", before.fingerprintIgnore()),
                        String.join(", ", after.fingerprintIgnore()),
                        judged));
        add(
                to,
                new Change(
                        "idempotency.on_mismatch",
                        word(before.onMismatch()),
                        word(after.onMismatch()),
                        "Known keys answer a changed payload as before; new ones "
                                + switch (after.onMismatch()) {
                                    case REJECT -> "refuse it with 422.";
                                    case REPLAY -> "answer with the original run, loudly.";
                                    case DISTINCT -> "start a run for each payload.";
                                }));
        rest(to, before, after);
    }

    private static void rest(List<Change> to, KeyPolicy before, KeyPolicy after) {
        add(
                to,
                new Change(
                        "idempotency.duplicate_payload",
                        word(before.duplicatePayload()),
                        word(after.duplicatePayload()),
                        "Only payloads that come from now on are compared with each other."));
        add(
                to,
                new Change(
                        "idempotency.on_failed",
                        word(before.onFailed()),
                        word(after.onFailed()),
                        "Known keys of failed runs answer as before; this is for keys that are admitted from now on."));
        add(
                to,
                new Change(
                        "idempotency.hold_while_running",
                        said(before.holdWhileRunning()),
                        said(after.holdWhileRunning()),
                        "Known keys of unfinished runs expire as before; this is for new ones."));
    }

    private static void effects(List<Change> to, Definition before, Definition after) {
        Map<String, Declared> old = effectsOf(before);
        Map<String, Declared> fresh = effectsOf(after);
        old.forEach((step, effect) -> {
            if (!fresh.containsKey(step)) {
                to.add(new Change(
                        "steps." + step,
                        effect.target(),
                        "",
                        "New runs do not do this any more; runs in flight end on their version and still do."));
            }
        });
        fresh.forEach((step, effect) -> {
            Declared was = old.get(step);
            if (was == null) {
                to.add(new Change(
                        "steps." + step,
                        "",
                        effect.target() + " (" + effect.protection() + ")",
                        "A new effect. A safe replay of an older run, by this version, does it for the first time."));
            } else {
                effect(to, "steps." + step, was, effect);
            }
        });
    }

    private static void effect(List<Change> to, String step, Declared was, Declared now) {
        add(to, new Change(step, was.target(), now.target(), "It goes elsewhere; what was sent stays where it is."));
        add(
                to,
                new Change(
                        step + ".protect",
                        was.protection(),
                        now.protection(),
                        "none".equals(now.protection())
                                ? "After a crash between sending and recording it is sent again, and nothing stops"
                                        + " that."
                                : "Effects in flight are settled as their own version says."));
        add(
                to,
                new Change(
                        step + ".idempotent.key",
                        said(was.key()),
                        said(now.key()),
                        "What was done under the old key is not recognised: inside the window it can be done once"
                                + " more."));
        add(
                to,
                new Change(
                        step + ".idempotent.time",
                        words(was.window()),
                        words(now.window()),
                        "What was accepted keeps the window it was accepted with; the next one gets this."));
        add(
                to,
                new Change(
                        step + ".idempotent.on_change",
                        said(was.onChange()),
                        said(now.onChange()),
                        "Decides on the next one that has other data."));
        add(
                to,
                new Change(
                        step + ".provider_window",
                        words(was.providerWindow()),
                        words(now.providerWindow()),
                        "So long a send of unknown outcome is repeated with the same key; later it is in doubt."));
        add(to, new Change(step + ".does", was.does(), now.does(), "Changes what counts as handled before."));
        add(to, new Change(step + ".risk", said(was.risk()), said(now.risk()), "Decides who must agree first."));
    }

    private static Map<String, Declared> effectsOf(Definition definition) {
        Map<String, Declared> effects = new LinkedHashMap<>();
        definition.steps().forEach(step -> {
            Declared effect = step.act().effect();
            if (effect != null) {
                effects.put(step.id(), effect);
            }
        });
        return effects;
    }

    private static String fields(KeyPolicy policy) {
        Function<FingerprintField, String> name = FingerprintField::name;
        return String.join(", ", policy.fingerprint().stream().map(name).toList());
    }

    private static String said(@Nullable Object value) {
        return Objects.toString(value, "");
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    /** Empty where there is none. */
    static String words(@Nullable Duration length) {
        return length == null ? "" : Durations.words(length);
    }
}
