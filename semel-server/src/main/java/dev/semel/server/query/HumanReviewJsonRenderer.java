package dev.semel.server.query;

import dev.semel.effect.EffectLedger;
import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalEntry;
import dev.semel.run.RunState;
import dev.semel.runtime.HumanReviewDecisionRecorder;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Renders a review as JSON: the question, the evidence in plain words, and the consequence of each decision. */
public final class HumanReviewJsonRenderer {
    private static final int MAX_ATTEMPTS = 5;

    private final SemelRuntime semel;
    private final RunPiiMaskFactory masks;

    public HumanReviewJsonRenderer(SemelRuntime semel) {
        this.semel = semel;
        this.masks = new RunPiiMaskFactory(semel);
    }

    /**
     * @param effect the ledger row; null if the review is not about an effect
     * @param attempts recorded attempts, newest last; empty in lists
     */
    public record ReviewContext(
            HumanReviewStoreWriteCommand.ReviewRow row,
            DatabaseRows.@Nullable RunRow run,
            EffectLedger.@Nullable EffectRow effect,
            List<JournalEntry> attempts,
            long now) {
        public boolean isOpen() {
            if (row.kind() == HumanReviewStoreWriteCommand.ReviewKind.DOUBT) {
                return row.isOpen() && effect != null && effect.state() == EffectLedger.EffectState.UNKNOWN;
            }
            return row.isOpen()
                    && run != null
                    && run.end() == null
                    && (row.kind() != HumanReviewStoreWriteCommand.ReviewKind.HELD || run.state() == RunState.HELD);
        }
    }

    public static ReviewContext loadForList(StoreQueries reads, HumanReviewStoreWriteCommand.ReviewRow row) {
        return new ReviewContext(row, reads.run(row.ws(), row.run()), effect(reads, row), List.of(), reads.now());
    }

    public static ReviewContext withEvidence(StoreQueries reads, HumanReviewStoreWriteCommand.ReviewRow row) {
        DatabaseRows.RunRow run = reads.run(row.ws(), row.run());
        List<JournalEntry> tried = new ArrayList<>();
        List<String> chunks = new ArrayList<>();
        reads.journal(row.run()).forEach(chunk -> chunks.add(chunk.entries()));
        if (run != null && run.end() != null) {
            chunks.add(run.end().entries());
        }
        for (String chunk : chunks) {
            JournalCodec.decode(chunk).stream()
                    .filter(entry -> entry.path().equals(row.step()) && entry instanceof JournalEntry.AttemptFailure)
                    .forEach(tried::add);
        }
        return new ReviewContext(row, run, effect(reads, row), tried, reads.now());
    }

    private static EffectLedger.@Nullable EffectRow effect(
            StoreQueries reads, HumanReviewStoreWriteCommand.ReviewRow row) {
        return row.effect().isEmpty() ? null : reads.effect(new EffectLedger.EffectId(row.ws(), row.effect()));
    }

    static String kindWord(HumanReviewStoreWriteCommand.ReviewKind kind) {
        return switch (kind) {
            case DOUBT -> "in_doubt";
            case CHANGE -> "changed";
            case APPROVAL -> "approval";
            case HELD -> "held";
        };
    }

    public static HumanReviewStoreWriteCommand.@Nullable ReviewKind parseKind(String word) {
        for (HumanReviewStoreWriteCommand.ReviewKind kind : HumanReviewStoreWriteCommand.ReviewKind.values()) {
            if (kindWord(kind).equals(word)) {
                return kind;
            }
        }
        return null;
    }

    public ObjectNode listItem(ReviewContext one) {
        HumanReviewStoreWriteCommand.ReviewRow row = one.row();
        PiiMask mask = mask(one);
        ObjectNode out = RunJsonRenderer.newObject();
        out.put("review_id", row.id());
        out.put("kind", kindWord(row.kind()));
        out.put("status", one.isOpen() ? "open" : row.isOpen() ? "closed" : "decided");
        out.put("title", title(one, mask));
        out.put("version", row.version());
        out.put("to", row.reviewer());
        out.put("workflow_id", row.workflowId());
        out.put("workflow", workflow(one));
        out.put("run_id", runId(one));
        out.put("step", row.step().equals(HumanReviewStoreWriteCommand.WHOLE_RUN) ? null : row.step());
        out.put("opened_at", RunJsonRenderer.formatTime(row.openedAt()));
        out.put("due_at", row.dueAt() == StoreWrite.Suspension.NEVER ? null : RunJsonRenderer.formatTime(row.dueAt()));
        out.put("overdue", row.isOpen() && row.dueAt() <= one.now());
        out.set("link", UnmaskedPiiValue.question(row, "link").maskWith(mask));
        JsonNode shown = UnmaskedPiiValue.question(row, "details").maskWith(mask);
        out.set("shown", shown.isObject() ? shown : RunJsonRenderer.newObject());
        EffectLedger.EffectRow effect = one.effect();
        out.set(
                "effect_key",
                effect == null ? null : UnmaskedPiiValue.key(effect).maskWith(mask));
        out.put("sent_key", effect == null ? null : effect.lastSend().key());
        out.put("protection", effect == null ? null : effect.details().protection());
        out.set(
                "object",
                effect == null ? null : UnmaskedPiiValue.object(effect).maskWith(mask));
        out.put("worth", effect == null ? null : effect.details().worth());
        decision(out, row);
        return out;
    }

    private PiiMask mask(ReviewContext one) {
        return masks.of(one.run(), one.row().ws(), one.row().workflowId());
    }

    private static void decision(ObjectNode out, HumanReviewStoreWriteCommand.ReviewRow row) {
        if (row.isOpen()) {
            out.putNull("decided");
            return;
        }
        out.putObject("decided")
                .put("decision", row.decision())
                .put("by", row.decidedBy())
                .put("at", RunJsonRenderer.formatTime(row.decidedAt()))
                .put("note", row.note());
    }

    /** Adds the evidence and the consequence of each decision. */
    public ObjectNode withEvidence(ReviewContext one) {
        ObjectNode out = listItem(one);
        ObjectNode change = new ChangedMessageView(semel, masks).toJson(one.row(), mask(one));
        if (change != null) {
            out.set("change", change);
        }
        evidence(one, mask(one)).forEach(out.putArray("evidence")::add);
        ObjectNode answers = out.putObject("answers");
        for (String word : new TreeSet<>(
                HumanReviewDecisionRecorder.allowedDecisions(one.row().kind()))) {
            answers.put(word, hasStopped(one) ? resuming(word) : isOver(one) ? late(word) : consequence(word));
        }
        return out;
    }

    private static String title(ReviewContext one, PiiMask mask) {
        String given = UnmaskedPiiValue.question(one.row(), "title").maskTextWith(mask);
        if (!given.isEmpty()) {
            return given;
        }
        String step = one.row().step();
        return switch (one.row().kind()) {
            case DOUBT -> "Did \"" + step + "\" happen?";
            case CHANGE -> "\"" + step + "\" differs from the message that was sent before. Send it?";
            case APPROVAL -> "May the run continue after \"" + step + "\"?";
            case HELD -> "The run is held. Continue it?";
        };
    }

    private String workflow(ReviewContext one) {
        DatabaseRows.RunRow run = one.run();
        return run == null
                ? one.row().workflowId()
                : semel.version(run.workflowId(), run.version()).name();
    }

    private static String runId(ReviewContext one) {
        return one.run() == null
                ? one.row().run().text()
                : Objects.requireNonNull(one.run()).runIdText();
    }

    private static List<String> evidence(ReviewContext one, PiiMask mask) {
        List<String> known = new ArrayList<>();
        HumanReviewStoreWriteCommand.ReviewRow row = one.row();
        switch (row.kind()) {
            case DOUBT -> doubt(one, known, mask);
            case CHANGE ->
                known.add(
                        "The provider accepted an earlier message with the same key, and the window of the key has not"
                                + " ended. This message has different data and was not sent.");
            case APPROVAL ->
                known.add("The run has waited since " + RunJsonRenderer.formatTime(row.openedAt())
                        + ". No later step has run.");
            case HELD -> known.add(UnmaskedPiiValue.question(row, "message").maskTextWith(mask));
        }
        if (row.dueAt() != StoreWrite.Suspension.NEVER && row.isOpen()) {
            known.add((row.dueAt() <= one.now() ? "The decision was due at " : "The decision is due at ")
                    + RunJsonRenderer.formatTime(row.dueAt()) + ".");
        }
        if (!row.isOpen()) {
            String by = row.decidedBy().isEmpty() ? "" : " by " + row.decidedBy();
            known.add("Decided: " + row.decision() + by + " at " + RunJsonRenderer.formatTime(row.decidedAt()) + ".");
        }
        return known;
    }

    private static void doubt(ReviewContext one, List<String> known, PiiMask mask) {
        EffectLedger.EffectRow effect = one.effect();
        if (effect == null) {
            known.add("The effect ledger no longer contains this effect.");
            return;
        }
        String sentKey = effect.lastSend().key();
        known.add("The effect was first sent at " + RunJsonRenderer.formatTime(effect.firstAt()) + "; "
                + attempts(effect.attempt()) + " so far.");
        known.add(
                sentKey == null
                        ? "The provider received no key. Look for the request by its time and data."
                        : "The provider received the key " + sentKey + ". Look for it in the provider's log.");
        known.add("The effect key in Semel is " + UnmaskedPiiValue.key(effect).maskTextWith(mask) + ".");
        List<JournalEntry> tried = one.attempts();
        for (JournalEntry entry : tried.subList(Math.max(0, tried.size() - MAX_ATTEMPTS), tried.size())) {
            if (entry instanceof JournalEntry.AttemptFailure attempt) {
                known.add("At " + RunJsonRenderer.formatTime(attempt.at()) + " attempt " + attempt.attempt()
                        + " ended with "
                        + attempt.error().code() + ": "
                        + UnmaskedPiiValue.message(attempt.error()).maskTextWith(mask));
            }
        }
        UnmaskedPiiValue problem = UnmaskedPiiValue.question(one.row(), "send_error");
        if (!problem.isNull()) {
            known.add("The last send ended with " + problem.maskTextWith(mask));
        } else if (tried.isEmpty()) {
            known.add("No response is recorded, because the worker stopped or lost the connection after the send.");
        }
        if (!UnmaskedPiiValue.question(one.row(), "key_changed").isNull()) {
            known.add("The effect key of the step has changed since the first send. The provider would not recognise a"
                    + " second send or find the first one in a lookup.");
        }
        if (!UnmaskedPiiValue.question(one.row(), "provider_replayed_error").isNull()) {
            known.add("The provider marks its last error as a stored response that it repeats for this key. Another"
                    + " send with the same key would get the same error.");
        }
        if (isOver(one)) {
            known.add(
                    isAtMostOnce(one)
                            ? "The run did not wait for this decision. It continued without knowing the outcome."
                            : "The run has ended since then.");
        }
        known.add(
                switch (effect.state()) {
                    case UNKNOWN ->
                        "The outcome of the effect is unknown. Semel does not send it again before a decision.";
                    case DONE -> "The effect is now recorded as done.";
                    case FREE ->
                        "The effect is now recorded as not done. The provider rejected the effect, or the run sends it"
                                + " next.";
                    case RESERVED -> "Semel is sending the effect now.";
                    case UNCONFIRMED -> "The effect may have happened, and its protection allows to send it again.";
                });
        known.add(protection(effect.details().protection()));
    }

    private static String attempts(int attempts) {
        return attempts == 1 ? "one attempt" : attempts + " attempts";
    }

    private static String protection(String word) {
        return switch (word) {
            case "ask" -> "Its protection is `ask`: only a user can decide whether it happened.";
            case "provider_key" ->
                "Its protection is `provider_key`: Semel sends it again with the same key only during the declared"
                        + " provider window and while that can help.";
            case "at_most_once" -> "Its protection is `at_most_once`: this run never sends it again.";
            case "lookup" -> "Its protection is `lookup`: the provider did not answer the lookup.";
            default -> "Its protection is " + word + ".";
        };
    }

    /** True for an effect in doubt whose run does not wait for the decision. */
    private static boolean isOver(ReviewContext one) {
        boolean ended = one.run() != null && one.run().end() != null;
        return one.row().kind() == HumanReviewStoreWriteCommand.ReviewKind.DOUBT && (ended || isAtMostOnce(one));
    }

    private static boolean isAtMostOnce(ReviewContext one) {
        return one.effect() != null && one.effect().details().protection().equals("at_most_once");
    }

    /** Whether the run stopped because of this unknown outcome, so that a decision resumes it. */
    private static boolean hasStopped(ReviewContext one) {
        return one.row().kind() == HumanReviewStoreWriteCommand.ReviewKind.DOUBT
                && one.run() != null
                && one.run().hasUnknownOutcome();
    }

    private static String resuming(String word) {
        return switch (word) {
            case "happened" -> "Semel records your result and resumes the run, which continues with this result.";
            case "did_not_happen" ->
                "Semel records the effect as not done and resumes the run, which sends the effect again.";
            default -> "The run has ended as failed and stays so. The effect stays in doubt.";
        };
    }

    private static String late(String word) {
        return switch (word) {
            case "happened" -> "Semel records your result. Replays and other runs with the same effect key use it.";
            case "did_not_happen" ->
                "Semel records the effect as not done and sends nothing now. A replay or the next run with the same"
                        + " effect key may send it.";
            default -> "If the run has not ended, it ends as cancelled. The effect stays in doubt.";
        };
    }

    private static String consequence(String word) {
        return switch (word) {
            case "happened" -> "Semel records your result and the run continues. Nothing is sent.";
            case "did_not_happen" -> "Semel sends the effect now with the same key.";
            case "send" -> "Semel sends the changed message with a new key.";
            case "suppress" ->
                "Semel does not send this message. The run continues with the result of the first message.";
            case "approve" -> "The run continues.";
            case "reject" -> "The run continues on the path that its workflow defines for a rejection.";
            case "continue" -> "The run continues from where it was held.";
            default -> "The run ends as cancelled. Its registered compensations run and nothing else is sent.";
        };
    }
}
