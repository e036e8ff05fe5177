package dev.semel.engine;

import dev.semel.effect.Protection;
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

    static Review.Question doubt(EffectPlan plan, String path, String effect) {
        return about(Review.Kind.DOUBT, plan, path, effect);
    }

    static Review.Question change(EffectPlan plan, String path) {
        return about(Review.Kind.CHANGE, plan, path, "");
    }

    private static Review.Question about(Review.Kind kind, EffectPlan plan, String path, String effect) {
        Asking asking = plan.asking();
        String named = plan.protection() instanceof Protection.Ask(String who) ? who : OWNER;
        ObjectNode text = text(asking.title(), asking.urgency()).put("link", asking.link());
        return new Review.Question(
                kind,
                path,
                effect,
                asking.to().isBlank() ? named : asking.to(),
                Json.write(text),
                micros(asking.urgency().due()));
    }

    static Review.Question approval(Approval approval, String path) {
        ObjectNode text = text(approval.title(), approval.urgency());
        ObjectNode shown = text.putObject("shown");
        approval.shown().forEach((name, value) -> shown.put(name, Results.clean(value)));
        Duration due = approval.urgency().due() == null
                ? approval.timeout()
                : approval.urgency().due();
        String to = approval.to().isBlank() ? OWNER : approval.to();
        return new Review.Question(Review.Kind.APPROVAL, path, "", to, Json.write(text), micros(due));
    }

    static Review.Question held(Unwind.Held held) {
        ObjectNode text = text("", Urgency.NONE)
                .put("reason", held.reason())
                .put("message", Results.clean(String.valueOf(held.getMessage())));
        return new Review.Question(Review.Kind.HELD, Review.WHOLE_RUN, "", OWNER, Json.write(text), 0);
    }

    private static ObjectNode text(String title, Urgency urgency) {
        ObjectNode text = JsonNodeFactory.instance.objectNode().put("title", Results.clean(title));
        text.put("remind", micros(urgency.remind()));
        text.put("escalate_after", micros(urgency.escalateAfter()));
        return text.put("escalate_to", urgency.escalateTo());
    }

    private static long micros(@Nullable Duration length) {
        return length == null ? 0 : Math.min(Micros.of(length), LONGEST);
    }
}
