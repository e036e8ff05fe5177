package dev.semel.engine;

import dev.semel.definition.EffectSpec;
import dev.semel.effect.EffectDuplicateProtection;
import dev.semel.effect.EffectLedger;
import dev.semel.journal.JournalEntry;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.HumanReviewStoreWriteCommand.OpenReviewResult;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import dev.semel.workflow.ApprovalRequest;
import dev.semel.workflow.EscalationPolicy;
import dev.semel.workflow.ReviewOptions;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Opens reviews: questions of a run to a user. A review is durable before its run waits for the decision. */
final class HumanReviewOpener {
    private static final String OWNER = "owner";
    private static final String DUE = "due";
    private static final long LONGEST = MicrosecondConverter.of(Duration.ofDays(36_500));

    private HumanReviewOpener() {}

    /** @return false if a user has decided already, so that the caller must read the decision */
    static boolean open(InMemoryRunExecutionState execution, HumanReviewStoreWriteCommand.ReviewQuestion question) {
        RunExecutor.ActiveRun run = execution.run();
        return submit(
                        execution,
                        new HumanReviewStoreWriteCommand.OpenReview(
                                run.driver(), run.workspace(), run.workflow().workflowId(), question))
                == OpenReviewResult.OPENED;
    }

    /** Closes a review whose time is over. Returns false if a decision came first. */
    static boolean expire(InMemoryRunExecutionState execution, HumanReviewStoreWriteCommand.ReviewQuestion question) {
        RunExecutor.ActiveRun run = execution.run();
        return submit(execution, new HumanReviewStoreWriteCommand.ExpireReview(run.driver(), run.workspace(), question))
                == OpenReviewResult.OPENED;
    }

    private static OpenReviewResult submit(
            InMemoryRunExecutionState execution, HumanReviewStoreWriteCommand<OpenReviewResult> review) {
        execution.counters().diskWaits.increment();
        OpenReviewResult result = execution.awaitWrite(execution
                .engine()
                .committer()
                .submit(
                        execution.run().lane(),
                        new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.ReviewCommand<>(review))));
        if (result == OpenReviewResult.GONE) {
            throw execution.end(new RunExecutionAbort.OwnershipLost());
        }
        return result;
    }

    /** @param problem how the send failed, if the journal does not say so; else null */
    static HumanReviewStoreWriteCommand.ReviewQuestion forDoubt(
            EffectSpec plan, String path, String effect, JournalEntry.@Nullable ErrorDetails problem) {
        ObjectNode text = text(plan);
        if (problem != null) {
            text.put("send_error", StepResultSerializer.sanitize(problem.code() + ": " + problem.message()));
        }
        return about(HumanReviewStoreWriteCommand.ReviewKind.DOUBT, plan, new Subject(path, effect, text));
    }

    /** Review of an effect that has another key now than it was sent under, so that the new key does not find it. */
    static HumanReviewStoreWriteCommand.ReviewQuestion forRenamedKey(EffectSpec plan, String path, String effect) {
        return about(
                HumanReviewStoreWriteCommand.ReviewKind.DOUBT,
                plan,
                new Subject(path, effect, text(plan).put("key_changed", true)));
    }

    /** Review of an effect whose provider repeats a stored error for the key. */
    static HumanReviewStoreWriteCommand.ReviewQuestion forReplayedError(EffectSpec plan, String path, String effect) {
        return about(
                HumanReviewStoreWriteCommand.ReviewKind.DOUBT,
                plan,
                new Subject(path, effect, text(plan).put("provider_replayed_error", true)));
    }

    /**
     * @param content digest of the message; empty if there is none
     * @param changed the effect that was accepted before
     */
    static HumanReviewStoreWriteCommand.ReviewQuestion forChange(
            EffectSpec plan, String path, String content, EffectLedger.LedgerDecision.DataChanged changed) {
        ObjectNode text = text(plan);
        // Both data are JSON inside a text, so that no member of theirs is read as a member of the question.
        text.put(
                        HumanReviewStoreWriteCommand.ReviewQuestion.PREVIOUS_RUN,
                        changed.by().text())
                .put(HumanReviewStoreWriteCommand.ReviewQuestion.PREVIOUS_AT, changed.acceptedAt())
                .put(HumanReviewStoreWriteCommand.ReviewQuestion.PREVIOUS_DATA, changed.content())
                .put(
                        HumanReviewStoreWriteCommand.ReviewQuestion.NEW_DATA,
                        plan.once() == null ? null : plan.once().content());
        if (!content.isEmpty()) {
            text.put(HumanReviewStoreWriteCommand.ReviewQuestion.CONTENT, content);
        }
        return about(HumanReviewStoreWriteCommand.ReviewKind.CHANGE, plan, new Subject(path, "", text));
    }

    /**
     * What the code says about the review of an effect, for the journal: the review may open when no code of the run
     * executes any more. Null if it says nothing.
     */
    static @Nullable String toRecord(EffectSpec plan) {
        boolean usual = plan.reviewOptions().equals(ReviewOptions.DEFAULT)
                && reviewerOf(plan).equals(OWNER);
        return usual
                ? null
                : StrictJsonCodec.write(text(plan)
                        .put(DUE, micros(plan.reviewOptions().escalation().due())));
    }

    /** Reads what the code of a run said about the reviews of its effects, by path. */
    static Map<String, String> readRecorded(StoreQueries reads, RunId run) {
        Map<String, String> recorded = new HashMap<>();
        for (JournalEntry entry : PreviousRunResultFinder.readJournal(reads.claimedRun(run), reads.journal(run))) {
            if (entry instanceof JournalEntry.WaitStart begun
                    && begun.kind() == JournalEntry.EntryKind.EFFECT
                    && begun.ref() != null
                    && begun.ref().startsWith("{")) {
                recorded.put(begun.path(), begun.ref());
            }
        }
        return recorded;
    }

    /** @param recorded see {@link #toRecord}; null for the usual review */
    static HumanReviewStoreWriteCommand.ReviewQuestion forUnsettledEffect(
            EffectLedger.EffectRow row, @Nullable String recorded) {
        ObjectNode text = recorded == null
                ? text("", EscalationPolicy.NONE, OWNER)
                : (ObjectNode) StrictJsonCodec.parse(recorded);
        JsonNode due = text.remove(DUE);
        text.put(HumanReviewStoreWriteCommand.ReviewQuestion.LEFT_IN_DOUBT, true);
        return new HumanReviewStoreWriteCommand.ReviewQuestion(
                HumanReviewStoreWriteCommand.ReviewKind.DOUBT,
                row.details().path(),
                row.id().digest(),
                text.path("to").asString(OWNER),
                StrictJsonCodec.write(text),
                due == null ? 0 : due.asLong());
    }

    private record Subject(String path, String effect, ObjectNode text) {}

    private static ObjectNode text(EffectSpec plan) {
        ReviewOptions reviewOptions = plan.reviewOptions();
        return text(reviewOptions.title(), reviewOptions.escalation(), reviewerOf(plan))
                .put("link", reviewOptions.link());
    }

    static String reviewerOf(EffectSpec plan) {
        String named = plan.protection() instanceof EffectDuplicateProtection.Ask(String who) ? who : OWNER;
        return plan.reviewOptions().to().isBlank()
                ? named
                : plan.reviewOptions().to();
    }

    private static HumanReviewStoreWriteCommand.ReviewQuestion about(
            HumanReviewStoreWriteCommand.ReviewKind kind, EffectSpec plan, Subject subject) {
        return new HumanReviewStoreWriteCommand.ReviewQuestion(
                kind,
                subject.path(),
                subject.effect(),
                reviewerOf(plan),
                StrictJsonCodec.write(subject.text()),
                micros(plan.reviewOptions().escalation().due()));
    }

    static HumanReviewStoreWriteCommand.ReviewQuestion forApproval(ApprovalRequest approval, String path) {
        String to = approval.to().isBlank() ? OWNER : approval.to();
        ObjectNode text = text(approval.title(), approval.escalation(), to);
        ObjectNode shown = text.putObject("details");
        approval.details().forEach((name, value) -> shown.put(name, StepResultSerializer.sanitize(value)));
        Duration due = approval.escalation().due() == null
                ? approval.timeout()
                : approval.escalation().due();
        return new HumanReviewStoreWriteCommand.ReviewQuestion(
                HumanReviewStoreWriteCommand.ReviewKind.APPROVAL,
                path,
                "",
                to,
                StrictJsonCodec.write(text),
                micros(due));
    }

    static HumanReviewStoreWriteCommand.ReviewQuestion forHeldRun(RunExecutionAbort.Held held) {
        ObjectNode text = text("", EscalationPolicy.NONE, OWNER)
                .put("reason", held.reason())
                .put("message", StepResultSerializer.sanitize(String.valueOf(held.getMessage())));
        return new HumanReviewStoreWriteCommand.ReviewQuestion(
                HumanReviewStoreWriteCommand.ReviewKind.HELD,
                HumanReviewStoreWriteCommand.WHOLE_RUN,
                "",
                OWNER,
                StrictJsonCodec.write(text),
                0);
    }

    /** @param to the first recipient; an escalation may add others later */
    private static ObjectNode text(String title, EscalationPolicy urgency, String to) {
        ObjectNode text = JsonNodeFactory.instance.objectNode().put("title", StepResultSerializer.sanitize(title));
        text.put("to", to);
        text.put("remind_after", micros(urgency.remind()));
        text.put("escalate_after", micros(urgency.escalateAfter()));
        return text.put("escalate_to", urgency.escalateTo());
    }

    private static long micros(@Nullable Duration length) {
        return length == null ? 0 : Math.min(MicrosecondConverter.of(length), LONGEST);
    }
}
