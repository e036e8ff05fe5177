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

/** Opens reviews: questions of a run to a user. A review is durable before its run waits for the decision. */
final class Inquiry {
    private static final String OWNER = "owner";
    private static final long LONGEST = Micros.of(Duration.ofDays(36_500));

    private Inquiry() {}

    /**
     * Opens a review durably.
     *
     * @return false if a user has decided already, so that the caller must read the decision
     */
    static boolean ask(Execution execution, Review.Question question) {
        RunLoop.Resident run = execution.run();
        return submit(
                        execution,
                        new Review.Ask(
                                run.driver(), run.workspace(), run.workflow().workflowId(), question))
                == Asked.ASKED;
    }

    /** Closes a review whose time is over. Returns false if a decision came first. */
    static boolean lapse(Execution execution, Review.Question question) {
        RunLoop.Resident run = execution.run();
        return submit(execution, new Review.Lapse(run.driver(), run.workspace(), question)) == Asked.ASKED;
    }

    private static Asked submit(Execution execution, Review<Asked> review) {
        execution.counters().diskWaits.increment();
        Asked result = execution.joined(execution
                .engine()
                .committer()
                .submit(execution.run().lane(), new Write.Change<>(new Edit.Reviewing<>(review))));
        if (result == Asked.GONE) {
            throw execution.end(new Unwind.NotOurs());
        }
        return result;
    }

    /** @param problem how the send failed, if the journal does not say so; else null */
    static Review.Question doubt(EffectPlan plan, String path, String effect, Entry.@Nullable Problem problem) {
        ObjectNode text = text(plan);
        if (problem != null) {
            text.put("send_error", Results.clean(problem.code() + ": " + problem.message()));
        }
        return about(Review.Kind.DOUBT, plan, new Subject(path, effect, text));
    }

    /** Review of an effect that has another key now than it was sent under, so that the new key does not find it. */
    static Review.Question renamed(EffectPlan plan, String path, String effect) {
        return about(
                Review.Kind.DOUBT, plan, new Subject(path, effect, text(plan).put("key_changed", true)));
    }

    /** @param content digest of the message; empty if there is none */
    static Review.Question change(EffectPlan plan, String path, String content) {
        ObjectNode text = text(plan);
        if (!content.isEmpty()) {
            text.put(Review.Question.CONTENT, content);
        }
        return about(Review.Kind.CHANGE, plan, new Subject(path, "", text));
    }

    /** Review of an effect that a run leaves in doubt when it ends; the text of its code is no longer known. */
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

    /** @param to the first recipient; an escalation may add others later */
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
