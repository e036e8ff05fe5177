package dev.semel.server.files.definition;

import dev.semel.definition.WorkflowTriggers;
import dev.semel.idempotency.IdempotencyKeyScope;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.server.files.steps.DeclaredEffect;
import dev.semel.server.files.steps.YamlStep;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Answers six review questions about the idempotency of a trigger or an effect, from what the file declares.
 *
 * @param subject the trigger, or a step and its action
 * @param answers in the order of {@link #QUESTIONS}
 */
public record WorkflowIdempotencyExplanation(String subject, List<String> answers) {
    public static final List<String> QUESTIONS = List.of(
            "What is the damage if it happens twice?",
            "What identifies the action?",
            "Do retries and replays use the same key?",
            "How does Semel recognise earlier work?",
            "What happens on a repeat?",
            "How long does Semel remember it?");

    public WorkflowIdempotencyExplanation {
        answers = List.copyOf(answers);
        if (answers.size() != QUESTIONS.size()) {
            throw new IllegalArgumentException(answers.size() + " answers to " + QUESTIONS.size() + " questions");
        }
    }

    /** The trigger first, then every effect in the order of the file. */
    public static List<WorkflowIdempotencyExplanation> of(WorkflowDefinition definition) {
        List<WorkflowIdempotencyExplanation> all = new ArrayList<>();
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

    private static WorkflowIdempotencyExplanation trigger(WorkflowDefinition definition) {
        KeyPolicy policy = definition.policy();
        String made = definition.keyText();
        String key = made == null
                ? "The caller's Idempotency-Key"
                : "The caller's Idempotency-Key or, if it is missing, " + made;
        String bare = made != null || policy.requireKey()
                ? ""
                : " A trigger without a key always starts a new run: the server cannot recognise its retry.";
        String compared = policy.declaresFingerprint()
                ? "Semel recognises a repeat by the key and by a fingerprint of " + fields(policy) + "."
                : "Semel recognises a repeat by the key alone. The server also compares the payload and shows a"
                        + " difference.";
        String repeat = switch (policy.onMismatch()) {
            case REJECT ->
                "The server returns the original run; it rejects a different payload under the key with 422.";
            case REPLAY ->
                "The server returns the original run, even if the payload differs. It then flags the difference.";
            case DISTINCT ->
                "The server returns the original run; a different payload under the key starts a separate run.";
        };
        String held = policy.holdWhileRunning() ? ", or longer if the run has not ended by then" : "";
        return new WorkflowIdempotencyExplanation(
                "trigger",
                List.of(
                        "A second run would repeat everything below.",
                        key
                                + (policy.scope() == IdempotencyKeyScope.WORKFLOW
                                        ? ", in this workflow."
                                        : ", in the workspace.")
                                + bare,
                        "Yes, if the caller sends the same key on every attempt; a new key starts a new run.",
                        compared,
                        repeat,
                        WorkflowDefinitionChange.formatDuration(policy.window()) + " from the first request" + held
                                + "."));
    }

    private static WorkflowIdempotencyExplanation event(WorkflowTriggers.EventSubscription one) {
        String from = one.source() == null ? "" : " of " + one.source();
        return new WorkflowIdempotencyExplanation(
                "event " + one.type() + from,
                List.of(
                        "A second run would repeat everything below.",
                        "The source and the id of the event. In this workflow, they identify one run.",
                        "Yes, if the sender keeps the event id on every attempt; a new id is a new event.",
                        "Semel recognises a repeat by source and id alone. The server also compares the data and shows"
                                + " a difference.",
                        "The server returns the original run, even if the data differ. It then flags the difference.",
                        "7 days from the first arrival of the event, or longer if the run has not ended by then."));
    }

    private static String fields(KeyPolicy policy) {
        return policy.fingerprint().isEmpty()
                ? "everything but " + String.join(", ", policy.fingerprintIgnore())
                : policy.fingerprint().stream().map(field -> field.name()).collect(Collectors.joining(", "));
    }

    private static WorkflowIdempotencyExplanation effect(YamlStep step, DeclaredEffect effect) {
        return new WorkflowIdempotencyExplanation(
                step.id() + ": " + effect.target() + " (" + effect.does() + ", " + effect.protection() + ")",
                List.of(
                        hurt(effect),
                        effect.key() == null
                                ? "The first run of the lineage, together with the path and the name of the step."
                                : effect.key() + ", as declared in the file.",
                        "Yes: retries, recovery, takeover and safe replay send the byte-identical key."
                                + (effect.window() == null
                                        ? ""
                                        : " The key changes only when the window has passed"
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
                    case "create" -> "The external system would have two objects instead of one.";
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
            case "tx" ->
                "The database commits the changes of the step together with Semel's record. Neither exists without the"
                        + " other.";
            case "provider_key" ->
                "Semel finds a repeat in its record. The provider finds a repeat by the key, which Semel sends again."
                        + done;
            case "lookup" ->
                "Semel finds a repeat in its record. If the outcome is unknown, the engine queries the provider before"
                        + " it sends."
                        + done;
            case "ask" -> "Semel finds a repeat in its record. If the outcome is unknown, a user decides." + done;
            case "at_most_once" -> "Semel finds a repeat by the intent that it records before it sends." + done;
            case "repeatable" -> "Semel does not need to recognise a repeat, because a repeat changes nothing." + done;
            default ->
                "If the response was lost, Semel cannot recognise a repeat. Declared reason: " + effect.reason() + done;
        };
    }

    private static String repeated(DeclaredEffect effect) {
        String known = effect.window() == null
                ? "The engine reuses the recorded result and sends nothing."
                : "Inside the window the engine suppresses a repeat and reuses the first result. A repeat with"
                        + " different data is "
                        + switch (effect.onChange()) {
                            case "suppress" -> "suppressed as well.";
                            case "review" -> "held for a review.";
                            case null, default -> "sent.";
                        };
        String lost = switch (effect.protection()) {
            case "tx" -> " The outcome is never unknown.";
            case "provider_key" -> " If the outcome is unknown, the engine sends the effect again with the same key.";
            case "lookup" ->
                " If the outcome is unknown, the engine queries the provider. It sends again only if the effect did"
                        + " not happen.";
            case "ask" ->
                " If the outcome is unknown, the run waits until a user decides. The engine never sends the effect"
                        + " again automatically.";
            case "at_most_once" ->
                " If the outcome is unknown, the engine never sends the effect again, and the step ends as"
                        + " indeterminate.";
            case "repeatable" -> " If the outcome is unknown, the engine sends the effect again.";
            default -> " If the outcome is unknown, the engine sends the effect again; nothing prevents a duplicate.";
        };
        return known + lost;
    }

    private static String remembered(DeclaredEffect effect) {
        String provider = effect.providerWindow() == null
                ? ""
                : " Semel assumes that the provider remembers the key for "
                        + WorkflowDefinitionChange.formatDuration(effect.providerWindow()) + ".";
        return (effect.window() == null
                        ? "As long as the run and its replays are stored. Other runs do not use this key."
                        : WorkflowDefinitionChange.formatDuration(effect.window())
                                + " from the time when the effect was accepted. All runs share this window.")
                + provider;
    }
}
