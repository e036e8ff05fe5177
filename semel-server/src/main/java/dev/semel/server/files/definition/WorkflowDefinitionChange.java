package dev.semel.server.files.definition;

import dev.semel.idempotency.FingerprintField;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.server.files.steps.DeclaredEffect;
import dev.semel.server.files.yaml.DurationFormat;
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
public record WorkflowDefinitionChange(String field, String from, String to, String consequence) {
    /** The changes, in the order of the file. */
    public static List<WorkflowDefinitionChange> between(WorkflowDefinition before, WorkflowDefinition after) {
        List<WorkflowDefinitionChange> changes = new ArrayList<>();
        triggers(changes, before, after);
        policy(changes, before.policy(), after.policy());
        effects(changes, before, after);
        return changes;
    }

    private static void add(
            List<WorkflowDefinitionChange> to,
            String field,
            @Nullable Object before,
            @Nullable Object after,
            String consequence) {
        String from = text(before);
        if (!from.equals(text(after))) {
            to.add(new WorkflowDefinitionChange(field, from, text(after), consequence));
        }
    }

    private static void triggers(
            List<WorkflowDefinitionChange> to, WorkflowDefinition before, WorkflowDefinition after) {
        add(
                to,
                "trigger.http.key",
                before.keyText(),
                after.keyText(),
                "A retry of a trigger whose key came from the old expression gets a different key and"
                        + " starts a new run. Keys that callers send are not affected.");
        boolean required = after.policy().requireKey();
        add(
                to,
                "trigger.http.require_key",
                before.policy().requireKey(),
                required,
                required
                        ? "The server rejects triggers without a key from now on."
                        : "Each trigger without a key starts a new run; the server cannot recognise its retries.");
    }

    private static void policy(List<WorkflowDefinitionChange> to, KeyPolicy before, KeyPolicy after) {
        String kept = "An existing key keeps the window that it had when it was first used; ";
        Duration window = after.window();
        add(
                to,
                "idempotency.window",
                before.window(),
                window,
                kept + "a new key has a window of " + formatDuration(window) + ".");
        add(
                to,
                "idempotency.scope",
                before.scope(),
                after.scope(),
                "Existing keys keep their scope; new keys are unique in the " + text(after.scope()) + ".");
        String judged =
                "For an existing key, the server compares payloads as in the version that accepted the key, so no"
                        + " retry becomes a conflict. For new keys, it compares them as in this version.";
        add(to, "idempotency.fingerprint", fields(before), fields(after), judged);
        add(
                to,
                "idempotency.fingerprint_ignore",
                String.join(", ", before.fingerprintIgnore()),
                String.join(", ", after.fingerprintIgnore()),
                judged);
        add(
                to,
                "idempotency.on_mismatch",
                before.onMismatch(),
                after.onMismatch(),
                "For existing keys, the server handles a changed payload as before. For new keys, it "
                        + switch (after.onMismatch()) {
                            case REJECT -> "rejects a changed payload with 422.";
                            case REPLAY -> "returns the original run and flags the difference.";
                            case DISTINCT -> "starts one run for each payload.";
                        });
        rest(to, before, after);
    }

    private static void rest(List<WorkflowDefinitionChange> to, KeyPolicy before, KeyPolicy after) {
        add(
                to,
                "idempotency.duplicate_payload",
                before.duplicatePayload(),
                after.duplicatePayload(),
                "The server compares only payloads that arrive from now on.");
        add(
                to,
                "idempotency.on_failed",
                before.onFailed(),
                after.onFailed(),
                "Existing keys of failed runs behave as before. The change applies to new keys.");
        add(
                to,
                "idempotency.hold_while_running",
                before.holdWhileRunning(),
                after.holdWhileRunning(),
                "Existing keys of unfinished runs expire as before. The change applies to new keys.");
    }

    private static void effects(
            List<WorkflowDefinitionChange> to, WorkflowDefinition before, WorkflowDefinition after) {
        Map<String, DeclaredEffect> old = effectsOf(before);
        Map<String, DeclaredEffect> fresh = effectsOf(after);
        old.forEach((step, effect) -> {
            if (!fresh.containsKey(step)) {
                to.add(new WorkflowDefinitionChange(
                        "steps." + step,
                        effect.target(),
                        "",
                        "New runs no longer have this effect. Runs in progress keep their version and still"
                                + " have this effect."));
            }
        });
        fresh.forEach((step, effect) -> {
            DeclaredEffect was = old.get(step);
            if (was == null) {
                to.add(new WorkflowDefinitionChange(
                        "steps." + step,
                        "",
                        effect.target() + " (" + effect.protection() + ")",
                        "This effect is new. A safe replay of an older run with this version sends it for the"
                                + " first time."));
            } else {
                effect(to, "steps." + step, was, effect);
            }
        });
    }

    private static void effect(List<WorkflowDefinitionChange> to, String step, DeclaredEffect was, DeclaredEffect now) {
        add(to, step, was.target(), now.target(), "Later sends go to the new target; earlier sends are not affected.");
        add(
                to,
                step + ".protect",
                was.protection(),
                now.protection(),
                "none".equals(now.protection())
                        ? "If the worker crashes after it sends the effect and before it records the outcome, the"
                                + " engine sends the effect again. Nothing prevents a duplicate."
                        : "Effects in progress keep the protection of the workflow version that started them.");
        add(
                to,
                step + ".idempotent.key",
                was.key(),
                now.key(),
                "The engine does not recognise effects with the old key: inside the window it can send such an effect"
                        + " again.");
        add(
                to,
                step + ".idempotent.time",
                was.window(),
                now.window(),
                "Accepted effects keep their window. The next effect gets the new window.");
        add(
                to,
                step + ".idempotent.on_change",
                was.onChange(),
                now.onChange(),
                "The new value applies to the next effect with different data.");
        add(
                to,
                step + ".provider_window",
                was.providerWindow(),
                now.providerWindow(),
                "Within this window, the engine repeats a send with an unknown outcome, with the same key. After the"
                        + " window, such an effect is in doubt.");
        add(to, step + ".does", was.does(), now.does(), "The change affects which effects count as already done.");
        add(to, step + ".risk", was.risk(), now.risk(), "The change affects whether a user must approve first.");
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

    /** A value as the file writes it; empty if there is none. */
    private static String text(@Nullable Object value) {
        return switch (value) {
            case Duration length -> DurationFormat.format(length);
            case Enum<?> constant -> constant.name().toLowerCase(Locale.ROOT);
            case null, default -> Objects.toString(value, "");
        };
    }

    /** Empty if there is none. */
    static String formatDuration(@Nullable Duration length) {
        return length == null ? "" : DurationFormat.format(length);
    }
}
