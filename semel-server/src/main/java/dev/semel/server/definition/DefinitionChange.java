package dev.semel.server.definition;

import dev.semel.admission.FingerprintField;
import dev.semel.admission.KeyPolicy;
import dev.semel.server.expressions.DurationFormat;
import dev.semel.server.steps.DeclaredEffect;
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
 * One difference between two versions of a workflow that affects keys or effects, and what it means for existing ones.
 *
 * @param field as written in the file, e.g. `idempotency.window`, or a step and its field
 * @param from empty if it was absent
 * @param to empty if it was removed
 * @param consequence consequence, in one sentence
 */
public record DefinitionChange(String field, String from, String to, String consequence) {
    /** The changes, in the order of the file. */
    public static List<DefinitionChange> between(WorkflowDefinition before, WorkflowDefinition after) {
        List<DefinitionChange> changes = new ArrayList<>();
        triggers(changes, before, after);
        policy(changes, before.policy(), after.policy());
        effects(changes, before, after);
        return changes;
    }

    private static void add(List<DefinitionChange> to, DefinitionChange change) {
        if (!change.from().equals(change.to())) {
            to.add(change);
        }
    }

    private static void triggers(List<DefinitionChange> to, WorkflowDefinition before, WorkflowDefinition after) {
        add(
                to,
                new DefinitionChange(
                        "trigger.http.key",
                        said(before.keyText()),
                        said(after.keyText()),
                        "A retry of a trigger whose key came from the old expression gets a different key and"
                                + " starts a new run. Keys that callers send are not affected."));
        boolean required = after.policy().requireKey();
        add(
                to,
                new DefinitionChange(
                        "trigger.http.require_key",
                        said(before.policy().requireKey()),
                        said(required),
                        required
                                ? "The server rejects triggers without a key from now on."
                                : "Each trigger without a key starts a new run; the server cannot recognise its"
                                        + " retries."));
    }

    private static void policy(List<DefinitionChange> to, KeyPolicy before, KeyPolicy after) {
        String kept = "An existing key keeps the window it was admitted with; ";
        Duration window = after.window();
        add(
                to,
                new DefinitionChange(
                        "idempotency.window",
                        formatDuration(before.window()),
                        formatDuration(window),
                        kept + "a new key has a window of " + formatDuration(window) + "."));
        add(
                to,
                new DefinitionChange(
                        "idempotency.scope",
                        word(before.scope()),
                        word(after.scope()),
                        "Existing keys keep their scope; new keys are unique in the " + word(after.scope()) + "."));
        String judged =
                "The server compares an existing key by the version that admitted it, so that no retry becomes a"
                        + " conflict; it compares new keys by this version.";
        add(to, new DefinitionChange("idempotency.fingerprint", fields(before), fields(after), judged));
        add(
                to,
                new DefinitionChange(
                        "idempotency.fingerprint_ignore",
                        String.join(", ", before.fingerprintIgnore()),
                        String.join(", ", after.fingerprintIgnore()),
                        judged));
        add(
                to,
                new DefinitionChange(
                        "idempotency.on_mismatch",
                        word(before.onMismatch()),
                        word(after.onMismatch()),
                        "Existing keys handle a changed payload as before; new keys "
                                + switch (after.onMismatch()) {
                                    case REJECT -> "reject it with 422.";
                                    case REPLAY -> "return the original run and flag the difference.";
                                    case DISTINCT -> "start one run for each payload.";
                                }));
        rest(to, before, after);
    }

    private static void rest(List<DefinitionChange> to, KeyPolicy before, KeyPolicy after) {
        add(
                to,
                new DefinitionChange(
                        "idempotency.duplicate_payload",
                        word(before.duplicatePayload()),
                        word(after.duplicatePayload()),
                        "The server compares only payloads that arrive from now on."));
        add(
                to,
                new DefinitionChange(
                        "idempotency.on_failed",
                        word(before.onFailed()),
                        word(after.onFailed()),
                        "Existing keys of failed runs behave as before; this applies to new keys."));
        add(
                to,
                new DefinitionChange(
                        "idempotency.hold_while_running",
                        said(before.holdWhileRunning()),
                        said(after.holdWhileRunning()),
                        "Existing keys of unfinished runs expire as before; this applies to new keys."));
    }

    private static void effects(List<DefinitionChange> to, WorkflowDefinition before, WorkflowDefinition after) {
        Map<String, DeclaredEffect> old = effectsOf(before);
        Map<String, DeclaredEffect> fresh = effectsOf(after);
        old.forEach((step, effect) -> {
            if (!fresh.containsKey(step)) {
                to.add(new DefinitionChange(
                        "steps." + step,
                        effect.target(),
                        "",
                        "New runs no longer do this; runs in progress keep their version and still do."));
            }
        });
        fresh.forEach((step, effect) -> {
            DeclaredEffect was = old.get(step);
            if (was == null) {
                to.add(new DefinitionChange(
                        "steps." + step,
                        "",
                        effect.target() + " (" + effect.protection() + ")",
                        "A new effect. A safe replay of an older run with this version sends it for the first time."));
            } else {
                effect(to, "steps." + step, was, effect);
            }
        });
    }

    private static void effect(List<DefinitionChange> to, String step, DeclaredEffect was, DeclaredEffect now) {
        add(
                to,
                new DefinitionChange(
                        step,
                        was.target(),
                        now.target(),
                        "Later sends go to the new target; earlier sends are not affected."));
        add(
                to,
                new DefinitionChange(
                        step + ".protect",
                        was.protection(),
                        now.protection(),
                        "none".equals(now.protection())
                                ? "After a crash between send and record, the engine sends it again; nothing prevents"
                                        + " a duplicate."
                                : "Effects in progress keep the protection of their own version."));
        add(
                to,
                new DefinitionChange(
                        step + ".idempotent.key",
                        said(was.key()),
                        said(now.key()),
                        "The engine does not recognise effects under the old key: inside the window it can send one"
                                + " again."));
        add(
                to,
                new DefinitionChange(
                        step + ".idempotent.time",
                        formatDuration(was.window()),
                        formatDuration(now.window()),
                        "Accepted effects keep their window; the next effect gets this one."));
        add(
                to,
                new DefinitionChange(
                        step + ".idempotent.on_change",
                        said(was.onChange()),
                        said(now.onChange()),
                        "Applies to the next effect with different data."));
        add(
                to,
                new DefinitionChange(
                        step + ".provider_window",
                        formatDuration(was.providerWindow()),
                        formatDuration(now.providerWindow()),
                        "The engine repeats a send of unknown outcome with the same key for this long; later it is in"
                                + " doubt."));
        add(
                to,
                new DefinitionChange(
                        step + ".does", was.does(), now.does(), "Changes which effects count as already handled."));
        add(
                to,
                new DefinitionChange(
                        step + ".risk",
                        said(was.risk()),
                        said(now.risk()),
                        "Changes whether a user must approve first."));
    }

    private static Map<String, DeclaredEffect> effectsOf(WorkflowDefinition definition) {
        Map<String, DeclaredEffect> effects = new LinkedHashMap<>();
        definition.steps().forEach(step -> {
            DeclaredEffect effect = step.action().declaredEffect();
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

    /** Empty if there is none. */
    static String formatDuration(@Nullable Duration length) {
        return length == null ? "" : DurationFormat.format(length);
    }
}
