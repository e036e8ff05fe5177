package dev.semel.server.definition;

import dev.semel.key.KeyPolicy;
import dev.semel.server.steps.Declared;
import dev.semel.server.steps.FileStep;
import dev.semel.workflow.Doors;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The six questions that a review of a workflow asks of each thing that must not happen twice, answered from what the
 * file declares.
 *
 * @param subject the trigger, or a step with what it does
 * @param answers in the order of {@link #QUESTIONS}
 */
public record Explanation(String subject, List<String> answers) {
    public static final List<String> QUESTIONS = List.of(
            "What would hurt if it happened twice?",
            "What identifies the action?",
            "Do reruns keep that?",
            "How is earlier work recognised?",
            "What happens on a repeat?",
            "How long is it remembered?");

    public Explanation {
        answers = List.copyOf(answers);
        if (answers.size() != QUESTIONS.size()) {
            throw new IllegalArgumentException(answers.size() + " answers to " + QUESTIONS.size() + " questions");
        }
    }

    /** The trigger first, then every effect in the order of the file. */
    public static List<Explanation> of(Definition definition) {
        List<Explanation> all = new ArrayList<>();
        all.add(trigger(definition));
        definition.extras().doors().events().forEach(one -> all.add(event(one)));
        definition.steps().forEach(step -> {
            Declared effect = step.act().effect();
            if (effect != null) {
                all.add(effect(step, effect));
            }
        });
        return all;
    }

    private static Explanation trigger(Definition definition) {
        KeyPolicy policy = definition.policy();
        String made = definition.keyText();
        String key = made == null ? "The caller's Idempotency-Key" : "The caller's Idempotency-Key, else " + made;
        String bare = made != null || policy.requireKey()
                ? ""
                : " A trigger without one is always a new run: its retry is not recognised.";
        String compared = policy.declared()
                ? "By the key, and by a fingerprint of " + fields(policy) + "."
                : "By the key alone; the payload is compared and a difference is shown.";
        String repeat = switch (policy.onMismatch()) {
            case REJECT -> "The original run is answered; another payload under the key is refused with 422.";
            case REPLAY -> "The original run is answered, also to another payload, with a flag that says so.";
            case DISTINCT -> "The original run is answered; another payload under the key is a run of its own.";
        };
        String held = policy.holdWhileRunning() ? ", and for as long as the run is not ended" : "";
        return new Explanation(
                "trigger",
                List.of(
                        "Everything below would be done by a second run.",
                        key
                                + (policy.scope() == KeyPolicy.Scope.WORKFLOW
                                        ? ", in this workflow."
                                        : ", in the workspace.")
                                + bare,
                        "Yes, if the caller sends the same key on every attempt; a new one per attempt is a new run.",
                        compared,
                        repeat,
                        Change.words(policy.window()) + " from the first request" + held + "."));
    }

    private static Explanation event(Doors.Subscription one) {
        String from = one.source() == null ? "" : " of " + one.source();
        return new Explanation(
                "event " + one.type() + from,
                List.of(
                        "Everything below would be done by a second run.",
                        "Source and id of the event, in this workflow.",
                        "Yes, if the sender keeps the id on every attempt; a new id is a new event.",
                        "By source and id alone; the data is compared and a difference is shown.",
                        "The original run is answered, also to other data, with a flag that says so.",
                        "7 days from when it first came, and for as long as the run is not ended."));
    }

    private static String fields(KeyPolicy policy) {
        return policy.fingerprint().isEmpty()
                ? "everything but " + String.join(", ", policy.fingerprintIgnore())
                : policy.fingerprint().stream().map(field -> field.name()).collect(Collectors.joining(", "));
    }

    private static Explanation effect(FileStep step, Declared effect) {
        return new Explanation(
                step.id() + ": " + effect.target() + " (" + effect.does() + ", " + effect.protection() + ")",
                List.of(
                        hurt(effect),
                        effect.key() == null
                                ? "The step of this run: first run of its line, path and name."
                                : effect.key() + ", as the file says.",
                        "Yes: retries, recovery, takeover and safe replay carry the same key, byte for byte."
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

    private static String hurt(Declared effect) {
        String risk = "high".equals(effect.risk()) ? " Declared as high risk." : "";
        return switch (effect.does()) {
                    case "create" -> "There would be two of what it creates.";
                    case "update" -> "A later change could be overwritten by an older one.";
                    default -> "Somebody would be told twice.";
                }
                + risk;
    }

    private static String recognised(Declared effect) {
        String done = effect.alreadyDone().isEmpty()
                ? ""
                : " A status of " + effect.alreadyDone() + " counts as done before.";
        return switch (effect.protection()) {
            case "tx" -> "Its rows and our record are one commit; there is no between.";
            case "provider_key" -> "By our record, and by the provider, which gets the same key again." + done;
            case "lookup" -> "By our record; where that is open the provider is asked before anything is sent." + done;
            case "ask" -> "By our record; where that is open a person looks." + done;
            case "at_most_once" -> "By our intent, which is on record before anything is sent." + done;
            case "repeatable" -> "It need not be: doing it again changes nothing." + done;
            default -> "It is not, where an answer was lost: " + effect.because() + done;
        };
    }

    private static String repeated(Declared effect) {
        String known = effect.window() == null
                ? "A recorded result is reused and nothing is sent."
                : "Inside the window it is suppressed with the first one's result; with other data it is "
                        + switch (effect.onChange()) {
                            case "suppress" -> "suppressed as well.";
                            case "review" -> "held for a person.";
                            case null, default -> "sent.";
                        };
        String lost = switch (effect.protection()) {
            case "tx" -> " It cannot be open.";
            case "provider_key" -> " Of unknown outcome: sent again with the same key.";
            case "lookup" -> " Of unknown outcome: asked for first, sent only if it did not happen.";
            case "ask" -> " Of unknown outcome: held until a person decides; never sent again by itself.";
            case "at_most_once" -> " Of unknown outcome: never sent again; the step ends indeterminate.";
            case "repeatable" -> " Of unknown outcome: done again.";
            default -> " Of unknown outcome: sent again, with nothing that stops a second one.";
        };
        return known + lost;
    }

    private static String remembered(Declared effect) {
        String provider = effect.providerWindow() == null
                ? ""
                : " The provider is taken to remember the key for " + Change.words(effect.providerWindow()) + ".";
        return (effect.window() == null
                        ? "As long as the run and its replays are kept; not across runs."
                        : Change.words(effect.window()) + " from when it was accepted, across all runs.")
                + provider;
    }
}
