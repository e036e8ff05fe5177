package dev.semel.engine;

import dev.semel.effect.Ledger;
import dev.semel.effect.Protection;
import dev.semel.journal.Entry;
import dev.semel.json.Json;
import dev.semel.store.Edit;
import dev.semel.store.Review;
import dev.semel.store.Review.Asked;
import dev.semel.store.Write;
import dev.semel.workflow.Approval;
import dev.semel.workflow.Asking;
import dev.semel.workflow.EffectPlan;
import dev.semel.workflow.Urgency;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** How a run puts a question to people. It is in the store before the run waits, so that somebody finds it. */
final class Inquiry {
    private static final String OWNER = "owner";
    private static final long LONGEST = Micros.of(Duration.ofDays(36_500));

    private Inquiry() {}

    /**
     * Asks, durably when it returns.
     *
     * @return false: it is decided already, and whoever asks has to look again
     */
    static boolean ask(Execution execution, Review.Question question) {
        RunLoop.Resident run = execution.run();
        return told(
                        execution,
                        new Review.Ask(
                                run.driver(), run.workspace(), run.workflow().workflowId(), question))
                == Asked.ASKED;
    }

    /** The time to decide is over. False: a decision came before. */
    static boolean lapse(Execution execution, Review.Question question) {
        RunLoop.Resident run = execution.run();
        return told(execution, new Review.Lapse(run.driver(), run.workspace(), question)) == Asked.ASKED;
    }

    private static Asked told(Execution execution, Review<Asked> review) {
        execution.counters().diskWaits.increment();
        Asked asked = execution.joined(execution
                .engine()
                .committer()
                .submit(execution.run().lane(), new Write.Change<>(new Edit.Reviewing<>(review))));
        if (asked == Asked.GONE) {
            throw execution.end(new Unwind.NotOurs());
        }
        return asked;
    }

    /** @param problem how the send ended, where the journal does not say it; null where it does, or nobody knows */
    static Review.Question doubt(EffectPlan plan, String path, String effect, Entry.@Nullable Problem problem) {
        ObjectNode text = text(plan);
        if (problem != null) {
            text.put("send_error", Results.clean(problem.code() + ": " + problem.message()));
        }
        return about(Review.Kind.DOUBT, plan, new Subject(path, effect, text));
    }

    /** The same about one that has another key now than it was sent under: nothing finds the first one by the new key. */
    static Review.Question renamed(EffectPlan plan, String path, String effect) {
        return about(
                Review.Kind.DOUBT, plan, new Subject(path, effect, text(plan).put("key_changed", true)));
    }

    /** @param content digest of the message; empty where there is none */
    static Review.Question change(EffectPlan plan, String path, String content) {
        ObjectNode text = text(plan);
        if (!content.isEmpty()) {
            text.put(Review.Question.CONTENT, content);
        }
        return about(Review.Kind.CHANGE, plan, new Subject(path, "", text));
    }

    /** About an effect that a run leaves in doubt when it ends; what its code would ask is not known any more. */
    static Review.Question left(Ledger.Row row) {
        ObjectNode text = text("", Urgency.NONE, OWNER).put(Review.Question.LEFT, true);
        return new Review.Question(
                Review.Kind.DOUBT, row.facts().path(), row.id().digest(), OWNER, Json.write(text), 0);
    }

    private record Subject(String path, String effect, ObjectNode text) {}

    private static ObjectNode text(EffectPlan plan) {
        Asking asking = plan.asking();
        return text(asking.title(), asking.urgency(), to(plan)).put("link", asking.link());
    }

    private static String to(EffectPlan plan) {
        String named = plan.protection() instanceof Protection.Ask(String who) ? who : OWNER;
        return plan.asking().to().isBlank() ? named : plan.asking().to();
    }

    private static Review.Question about(Review.Kind kind, EffectPlan plan, Subject subject) {
        return new Review.Question(
                kind,
                subject.path(),
                subject.effect(),
                to(plan),
                Json.write(subject.text()),
                micros(plan.asking().urgency().due()));
    }

    static Review.Question approval(Approval approval, String path) {
        String to = approval.to().isBlank() ? OWNER : approval.to();
        ObjectNode text = text(approval.title(), approval.urgency(), to);
        ObjectNode shown = text.putObject("details");
        approval.shown().forEach((name, value) -> shown.put(name, Results.clean(value)));
        Duration due = approval.urgency().due() == null
                ? approval.timeout()
                : approval.urgency().due();
        return new Review.Question(Review.Kind.APPROVAL, path, "", to, Json.write(text), micros(due));
    }

    static Review.Question held(Unwind.Held held) {
        ObjectNode text = text("", Urgency.NONE, OWNER)
                .put("reason", held.reason())
                .put("message", Results.clean(String.valueOf(held.getMessage())));
        return new Review.Question(Review.Kind.HELD, Review.WHOLE_RUN, "", OWNER, Json.write(text), 0);
    }

    /** @param to who was asked first; somebody else may be asked later as well */
    private static ObjectNode text(String title, Urgency urgency, String to) {
        ObjectNode text = JsonNodeFactory.instance.objectNode().put("title", Results.clean(title));
        text.put("to", to);
        text.put("remind_after", micros(urgency.remind()));
        text.put("escalate_after", micros(urgency.escalateAfter()));
        return text.put("escalate_to", urgency.escalateTo());
    }

    private static long micros(@Nullable Duration length) {
        return length == null ? 0 : Math.min(Micros.of(length), LONGEST);
    }
}
