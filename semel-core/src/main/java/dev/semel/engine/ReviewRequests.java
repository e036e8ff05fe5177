package dev.semel.engine;

import dev.semel.effect.EffectLedger;
import dev.semel.effect.Protection;
import dev.semel.journal.JournalEntry;
import dev.semel.json.StrictJson;
import dev.semel.store.StoreCommand;
import dev.semel.store.ReviewOperation;
import dev.semel.store.ReviewOperation.OpenReviewResult;
import dev.semel.store.StoreWrite;
import dev.semel.workflow.ApprovalRequest;
import dev.semel.workflow.ReviewOptions;
import dev.semel.definition.EffectSpec;
import dev.semel.workflow.EscalationPolicy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Opens reviews: questions of a run to a user. A review is durable before its run waits for the decision. */
final class ReviewRequests {
    private static final String OWNER = "owner";
    private static final long LONGEST = Micros.of(Duration.ofDays(36_500));

    private ReviewRequests() {}

    /**
     * Opens a review durably.
     *
     * @return false if a user has decided already, so that the caller must read the decision
     */
    static boolean open(Execution execution, ReviewOperation.ReviewQuestion question) {
        RunExecutor.ActiveRun run = execution.run();
        return submit(
                        execution,
                        new ReviewOperation.OpenReview(
                                run.driver(), run.workspace(), run.workflow().workflowId(), question))
                == OpenReviewResult.ASKED;
    }

    /** Closes a review whose time is over. Returns false if a decision came first. */
    static boolean expire(Execution execution, ReviewOperation.ReviewQuestion question) {
        RunExecutor.ActiveRun run = execution.run();
        return submit(execution, new ReviewOperation.ExpireReview(run.driver(), run.workspace(), question)) == OpenReviewResult.ASKED;
    }

    private static OpenReviewResult submit(Execution execution, ReviewOperation<OpenReviewResult> review) {
        execution.counters().diskWaits.increment();
        OpenReviewResult result = execution.awaitWrite(execution
                .engine()
                .committer()
                .submit(execution.run().lane(), new StoreWrite.ExecuteCommand<>(new StoreCommand.ReviewCommand<>(review))));
        if (result == OpenReviewResult.GONE) {
            throw execution.end(new ExecutionAbort.OwnershipLost());
        }
        return result;
    }

    /** @param problem how the send failed, if the journal does not say so; else null */
    static ReviewOperation.ReviewQuestion forDoubt(EffectSpec plan, String path, String effect, JournalEntry.@Nullable ErrorDetails problem) {
        ObjectNode text = text(plan);
        if (problem != null) {
            text.put("send_error", StepResults.sanitize(problem.code() + ": " + problem.message()));
        }
        return about(ReviewOperation.ReviewKind.DOUBT, plan, new Subject(path, effect, text));
    }

    /** Review of an effect that has another key now than it was sent under, so that the new key does not find it. */
    static ReviewOperation.ReviewQuestion forRenamedKey(EffectSpec plan, String path, String effect) {
        return about(
                ReviewOperation.ReviewKind.DOUBT, plan, new Subject(path, effect, text(plan).put("key_changed", true)));
    }

    /** @param content digest of the message; empty if there is none */
    static ReviewOperation.ReviewQuestion forChange(EffectSpec plan, String path, String content) {
        ObjectNode text = text(plan);
        if (!content.isEmpty()) {
            text.put(ReviewOperation.ReviewQuestion.CONTENT, content);
        }
        return about(ReviewOperation.ReviewKind.CHANGE, plan, new Subject(path, "", text));
    }

    /** Review of an effect that a run leaves in doubt when it ends; the text of its code is no longer known. */
    static ReviewOperation.ReviewQuestion forUnsettledEffect(EffectLedger.EffectRow row) {
        ObjectNode text = text("", EscalationPolicy.NONE, OWNER).put(ReviewOperation.ReviewQuestion.LEFT_IN_DOUBT, true);
        return new ReviewOperation.ReviewQuestion(
                ReviewOperation.ReviewKind.DOUBT, row.details().path(), row.id().digest(), OWNER, StrictJson.write(text), 0);
    }

    private record Subject(String path, String effect, ObjectNode text) {}

    private static ObjectNode text(EffectSpec plan) {
        ReviewOptions asking = plan.reviewOptions();
        return text(asking.title(), asking.escalation(), to(plan)).put("link", asking.link());
    }

    private static String to(EffectSpec plan) {
        String named = plan.protection() instanceof Protection.Ask(String who) ? who : OWNER;
        return plan.reviewOptions().to().isBlank() ? named : plan.reviewOptions().to();
    }

    private static ReviewOperation.ReviewQuestion about(ReviewOperation.ReviewKind kind, EffectSpec plan, Subject subject) {
        return new ReviewOperation.ReviewQuestion(
                kind,
                subject.path(),
                subject.effect(),
                to(plan),
                StrictJson.write(subject.text()),
                micros(plan.reviewOptions().escalation().due()));
    }

    static ReviewOperation.ReviewQuestion forApproval(ApprovalRequest approval, String path) {
        String to = approval.to().isBlank() ? OWNER : approval.to();
        ObjectNode text = text(approval.title(), approval.escalation(), to);
        ObjectNode shown = text.putObject("details");
        approval.details().forEach((name, value) -> shown.put(name, StepResults.sanitize(value)));
        Duration due = approval.escalation().due() == null
                ? approval.timeout()
                : approval.escalation().due();
        return new ReviewOperation.ReviewQuestion(ReviewOperation.ReviewKind.APPROVAL, path, "", to, StrictJson.write(text), micros(due));
    }

    static ReviewOperation.ReviewQuestion forHeldRun(ExecutionAbort.Held held) {
        ObjectNode text = text("", EscalationPolicy.NONE, OWNER)
                .put("reason", held.reason())
                .put("message", StepResults.sanitize(String.valueOf(held.getMessage())));
        return new ReviewOperation.ReviewQuestion(ReviewOperation.ReviewKind.HELD, ReviewOperation.WHOLE_RUN, "", OWNER, StrictJson.write(text), 0);
    }

    /** @param to the first recipient; an escalation may add others later */
    private static ObjectNode text(String title, EscalationPolicy urgency, String to) {
        ObjectNode text = JsonNodeFactory.instance.objectNode().put("title", StepResults.sanitize(title));
        text.put("to", to);
        text.put("remind_after", micros(urgency.remind()));
        text.put("escalate_after", micros(urgency.escalateAfter()));
        return text.put("escalate_to", urgency.escalateTo());
    }

    private static long micros(@Nullable Duration length) {
        return length == null ? 0 : Math.min(Micros.of(length), LONGEST);
    }
}
