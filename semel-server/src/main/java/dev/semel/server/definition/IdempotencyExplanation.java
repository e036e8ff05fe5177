package dev.semel.server.definition;

import dev.semel.admission.KeyPolicy;
import dev.semel.server.steps.DeclaredEffect;
import dev.semel.server.steps.YamlStep;
import dev.semel.admission.KeyScope;
import dev.semel.definition.WorkflowTriggers;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Answers six review questions about the idempotency of a trigger or an effect, from what the file declares.
 *
 * @param subject the trigger, or a step and its action
 * @param answers in the order of {@link #QUESTIONS}
 */
public record IdempotencyExplanation(String subject, List<String> answers) {
    public static final List<String> QUESTIONS = List.of(
            "What is the damage if it happens twice?",
            "What identifies the action?",
            "Do retries and replays keep it?",
            "How does Semel recognise earlier work?",
            "What happens on a repeat?",
            "How long does Semel remember it?");

    public IdempotencyExplanation {
        answers = List.copyOf(answers);
        if (answers.size() != QUESTIONS.size()) {
            throw new IllegalArgumentException(answers.size() + " answers to " + QUESTIONS.size() + " questions");
        }
    }

    /** The trigger first, then every effect in the order of the file. */
    public static List<IdempotencyExplanation> of(WorkflowDefinition definition) {
        List<IdempotencyExplanation> all = new ArrayList<>();
        all.add(trigger(definition));
        definition.versionOptions().triggers().events().forEach(one -> all.add(event(one)));
        definition.steps().forEach(step -> {
            DeclaredEffect effect = step.action().declaredEffect();
            if (effect != null) {
                all.add(effect(step, effect));
            }
        });
        return all;
    }

    private static IdempotencyExplanation trigger(WorkflowDefinition definition) {
        KeyPolicy policy = definition.policy();
        String made = definition.keyText();
        String key = made == null ? "The caller's Idempotency-Key" : "The caller's Idempotency-Key, else " + made;
        String bare = made != null || policy.requireKey()
                ? ""
                : " A trigger without a key always starts a new run: the server cannot recognise its retry.";
        String compared = policy.declaresFingerprint()
                ? "By the key, and by a fingerprint of " + fields(policy) + "."
                : "By the key alone; the server compares the payload and shows a difference.";
        String repeat = switch (policy.onMismatch()) {
            case REJECT -> "The server returns the original run; it rejects a different payload under the key with 422.";
            case REPLAY -> "The server returns the original run, also for a different payload, which it flags.";
            case DISTINCT -> "The server returns the original run; a different payload under the key starts its own run.";
        };
        String held = policy.holdWhileRunning() ? ", and until the run has ended" : "";
        return new IdempotencyExplanation(
                "trigger",
                List.of(
                        "A second run would repeat everything below.",
                        key
                                + (policy.scope() == KeyScope.WORKFLOW
                                        ? ", in this workflow."
                                        : ", in the workspace.")
                                + bare,
                        "Yes, if the caller sends the same key on every attempt; a new key starts a new run.",
                        compared,
                        repeat,
                        DefinitionChange.formatDuration(policy.window()) + " from the first request" + held + "."));
    }

    private static IdempotencyExplanation event(WorkflowTriggers.EventSubscription one) {
        String from = one.source() == null ? "" : " of " + one.source();
        return new IdempotencyExplanation(
                "event " + one.type() + from,
                List.of(
                        "A second run would repeat everything below.",
                        "Source and id of the event, in this workflow.",
                        "Yes, if the sender keeps the event id on every attempt; a new id is a new event.",
                        "By source and id alone; the server compares the data and shows a difference.",
                        "The server returns the original run, also for different data, which it flags.",
                        "7 days from its first arrival, and until the run has ended."));
    }

    private static String fields(KeyPolicy policy) {
        return policy.fingerprint().isEmpty()
                ? "everything but " + String.join(", ", policy.fingerprintIgnore())
                : policy.fingerprint().stream().map(field -> field.name()).collect(Collectors.joining(", "));
    }

    private static IdempotencyExplanation effect(YamlStep step, DeclaredEffect effect) {
        return new IdempotencyExplanation(
                step.id() + ": " + effect.target() + " (" + effect.does() + ", " + effect.protection() + ")",
                List.of(
                        hurt(effect),
                        effect.key() == null
                                ? "The step id: first run of the lineage, path and name."
                                : effect.key() + ", as declared in the file.",
                        "Yes: retries, recovery, takeover and safe replay send the byte-identical key."
                                + (effect.window() == null
                                        ? ""
                                        : " It changes only when the window has passed"
                                                + ("send".equals(effect.onChange())
                                                        ? " or the data has changed."
                                                        : ".")),
                        recognised(effect),
                        repeated(effect),
                        remembered(effect)));
    }

    private static String hurt(DeclaredEffect effect) {
        String risk = "high".equals(effect.risk()) ? " Declared as high risk." : "";
        return switch (effect.does()) {
                    case "create" -> "The target would have two created objects.";
                    case "update" -> "An older change could overwrite a later one.";
                    default -> "A recipient would get the message twice.";
                }
                + risk;
    }

    private static String recognised(DeclaredEffect effect) {
        String done = effect.alreadyDoneStatuses().isEmpty()
                ? ""
                : " A status of " + effect.alreadyDoneStatuses() + " counts as already done.";
        return switch (effect.protection()) {
            case "tx" -> "Its rows and Semel's record commit together; neither exists without the other.";
            case "provider_key" -> "By Semel's record, and by the provider, which gets the same key again." + done;
            case "lookup" -> "By Semel's record; if the outcome is unknown, the engine queries the provider before it sends." + done;
            case "ask" -> "By Semel's record; if the outcome is unknown, a user decides." + done;
            case "at_most_once" -> "By the intent that Semel records before it sends." + done;
            case "repeatable" -> "Not needed: a repeat changes nothing." + done;
            default -> "Not at all if the response was lost: " + effect.reason() + done;
        };
    }

    private static String repeated(DeclaredEffect effect) {
        String known = effect.window() == null
                ? "The engine reuses the recorded result and sends nothing."
                : "Inside the window the engine suppresses it and reuses the first result; different data is "
                        + switch (effect.onChange()) {
                            case "suppress" -> "suppressed as well.";
                            case "review" -> "held for a review.";
                            case null, default -> "sent.";
                        };
        String lost = switch (effect.protection()) {
            case "tx" -> " The outcome is never unknown.";
            case "provider_key" -> " Unknown outcome: sent again with the same key.";
            case "lookup" -> " Unknown outcome: the engine queries the provider, and sends only if it did not happen.";
            case "ask" -> " Unknown outcome: held until a user decides; never sent again automatically.";
            case "at_most_once" -> " Unknown outcome: never sent again; the step ends indeterminate.";
            case "repeatable" -> " Unknown outcome: sent again.";
            default -> " Unknown outcome: sent again; nothing prevents a duplicate.";
        };
        return known + lost;
    }

    private static String remembered(DeclaredEffect effect) {
        String provider = effect.providerWindow() == null
                ? ""
                : " Semel assumes that the provider remembers the key for " + DefinitionChange.formatDuration(effect.providerWindow()) + ".";
        return (effect.window() == null
                        ? "As long as the run and its replays are stored; not across runs."
                        : DefinitionChange.formatDuration(effect.window()) + " from when it was accepted, across all runs.")
                + provider;
    }
}
