package dev.semel.server.api;

import dev.semel.runtime.Reviews;
import dev.semel.runtime.SemelRuntime;
import dev.semel.effect.EffectLedger;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.JournalCodec;
import dev.semel.store.StoreQueries;
import dev.semel.store.ReviewOperation;
import dev.semel.store.StoredRows;
import dev.semel.store.StoreWrite;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Renders a review as JSON: the question, the evidence in plain words, and the consequence of each decision. */
final class ReviewViews {
    private static final int MAX_ATTEMPTS = 5;

    private final SemelRuntime semel;
    private final PiiMasks masks;

    ReviewViews(SemelRuntime semel) {
        this.semel = semel;
        this.masks = new PiiMasks(semel);
    }

    /**
     * A review with its run and its effect.
     *
     * @param effect the ledger row; null if the review is not about an effect
     * @param attempts recorded attempts, newest last; empty in lists
     */
    record ReviewContext(ReviewOperation.ReviewRow row, StoredRows.@Nullable RunRow run, EffectLedger.@Nullable EffectRow effect, List<JournalEntry> attempts, long now) {
        boolean isOpen() {
            if (row.kind() == ReviewOperation.ReviewKind.DOUBT) {
                return row.isOpen() && effect != null && effect.state() == EffectLedger.EffectState.UNKNOWN;
            }
            return row.isOpen() && run != null && run.end() == null && (row.kind() != ReviewOperation.ReviewKind.HELD || isHeld(run));
        }

        private static boolean isHeld(StoredRows.RunRow run) {
            String word = WaitingForView.firstWaitKind(run);
            return word.equals("code") || word.equals("poison") || word.equals("store");
        }
    }

    static ReviewContext loadForList(StoreQueries reads, ReviewOperation.ReviewRow row) {
        return new ReviewContext(row, reads.run(row.ws(), row.run()), effect(reads, row), List.of(), reads.now());
    }

    static ReviewContext withEvidence(StoreQueries reads, ReviewOperation.ReviewRow row) {
        StoredRows.RunRow run = reads.run(row.ws(), row.run());
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

    private static EffectLedger.@Nullable EffectRow effect(StoreQueries reads, ReviewOperation.ReviewRow row) {
        return row.effect().isEmpty() ? null : reads.effect(new EffectLedger.EffectId(row.ws(), row.effect()));
    }

    static String kindWord(ReviewOperation.ReviewKind kind) {
        return switch (kind) {
            case DOUBT -> "in_doubt";
            case CHANGE -> "changed";
            case APPROVAL -> "approval";
            case HELD -> "held";
        };
    }

    static ReviewOperation.@Nullable ReviewKind parseKind(String word) {
        for (ReviewOperation.ReviewKind kind : ReviewOperation.ReviewKind.values()) {
            if (kindWord(kind).equals(word)) {
                return kind;
            }
        }
        return null;
    }

    ObjectNode listItem(ReviewContext one) {
        ReviewOperation.ReviewRow row = one.row();
        PiiMasks.PiiMask mask = mask(one);
        ObjectNode out = JsonViews.newObject();
        out.put("review_id", row.id());
        out.put("kind", kindWord(row.kind()));
        out.put("status", one.isOpen() ? "open" : row.isOpen() ? "over" : "decided");
        out.put("title", title(one, mask));
        out.put("version", row.version());
        out.put("to", row.reviewer());
        out.put("workflow_id", row.workflowId());
        out.put("workflow", workflow(one));
        out.put("run_id", runId(one));
        out.put("step", row.step().equals(ReviewOperation.WHOLE_RUN) ? null : row.step());
        out.put("asked_at", JsonViews.formatTime(row.askedAt()));
        out.put("due_at", row.dueAt() == StoreWrite.Suspension.NEVER ? null : JsonViews.formatTime(row.dueAt()));
        out.put("overdue", row.isOpen() && row.dueAt() <= one.now());
        out.set("link", UnmaskedValue.question(row, "link").maskWith(mask));
        JsonNode shown = UnmaskedValue.question(row, "details").maskWith(mask);
        out.set("shown", shown.isObject() ? shown : JsonViews.newObject());
        EffectLedger.EffectRow effect = one.effect();
        out.set("effect_key", effect == null ? null : UnmaskedValue.key(effect).maskWith(mask));
        out.put("protection", effect == null ? null : effect.details().protection());
        out.set("object", effect == null ? null : UnmaskedValue.object(effect).maskWith(mask));
        out.put("worth", effect == null ? null : effect.details().worth());
        decision(out, row);
        return out;
    }

    private PiiMasks.PiiMask mask(ReviewContext one) {
        return masks.of(one.run(), one.row().ws(), one.row().workflowId());
    }

    private static void decision(ObjectNode out, ReviewOperation.ReviewRow row) {
        if (row.isOpen()) {
            out.putNull("decided");
            return;
        }
        out.putObject("decided")
                .put("decision", row.decision())
                .put("by", row.decidedBy())
                .put("at", JsonViews.formatTime(row.decidedAt()))
                .put("note", row.note());
    }

    /** Adds the evidence and the consequence of each decision. */
    ObjectNode withEvidence(ReviewContext one) {
        ObjectNode out = listItem(one);
        ArrayNode known = out.putArray("evidence");
        evidence(one, mask(one)).forEach(known::add);
        ObjectNode answers = out.putObject("answers");
        for (String word : new TreeSet<>(Reviews.allowedDecisions(one.row().kind()))) {
            answers.put(word, isOver(one) ? late(word) : consequence(word));
        }
        return out;
    }

    private static String title(ReviewContext one, PiiMasks.PiiMask mask) {
        String given = UnmaskedValue.question(one.row(), "title").maskTextWith(mask);
        if (!given.isEmpty()) {
            return given;
        }
        String step = one.row().step();
        return switch (one.row().kind()) {
            case DOUBT -> "Did \"" + step + "\" happen?";
            case CHANGE -> "\"" + step + "\" differs from what was sent before. Send it?";
            case APPROVAL -> "May the run continue after \"" + step + "\"?";
            case HELD -> "The run is held. Continue it?";
        };
    }

    private String workflow(ReviewContext one) {
        StoredRows.RunRow run = one.run();
        return run == null
                ? one.row().workflowId()
                : semel.version(run.workflowId(), run.version()).name();
    }

    private static String runId(ReviewContext one) {
        return one.run() == null
                ? one.row().run().text()
                : Objects.requireNonNull(one.run()).runIdText();
    }

    private static List<String> evidence(ReviewContext one, PiiMasks.PiiMask mask) {
        List<String> known = new ArrayList<>();
        ReviewOperation.ReviewRow row = one.row();
        switch (row.kind()) {
            case DOUBT -> doubt(one, known, mask);
            case CHANGE ->
                known.add("A message with the same key was accepted inside its window, and this message differs."
                        + " This message was not sent.");
            case APPROVAL ->
                known.add("The run has waited since " + JsonViews.formatTime(row.askedAt()) + ". No later step has run.");
            case HELD -> known.add(UnmaskedValue.question(row, "message").maskTextWith(mask));
        }
        if (row.dueAt() != StoreWrite.Suspension.NEVER && row.isOpen()) {
            known.add((row.dueAt() <= one.now() ? "It was due at " : "It is due at ") + JsonViews.formatTime(row.dueAt()) + ".");
        }
        if (!row.isOpen()) {
            String by = row.decidedBy().isEmpty() ? "" : " by " + row.decidedBy();
            known.add("Decided: " + row.decision() + by + " at " + JsonViews.formatTime(row.decidedAt()) + ".");
        }
        return known;
    }

    private static void doubt(ReviewContext one, List<String> known, PiiMasks.PiiMask mask) {
        EffectLedger.EffectRow effect = one.effect();
        if (effect == null) {
            known.add("The ledger no longer contains the effect.");
            return;
        }
        known.add("It was first sent at " + JsonViews.formatTime(effect.firstAt()) + " with the key "
                + UnmaskedValue.key(effect).maskTextWith(mask) + "; " + attempts(effect.attempt()) + " so far.");
        List<JournalEntry> tried = one.attempts();
        for (JournalEntry entry : tried.subList(Math.max(0, tried.size() - MAX_ATTEMPTS), tried.size())) {
            if (entry instanceof JournalEntry.AttemptFailure attempt) {
                known.add("At " + JsonViews.formatTime(attempt.at()) + " attempt " + attempt.attempt() + " ended with "
                        + attempt.error().code() + ": "
                        + UnmaskedValue.message(attempt.error()).maskTextWith(mask));
            }
        }
        UnmaskedValue problem = UnmaskedValue.question(one.row(), "send_error");
        if (!problem.isNull()) {
            known.add("The send ended with " + problem.maskTextWith(mask));
        } else if (tried.isEmpty()) {
            known.add("No response is recorded: the worker ended or lost the connection after the send.");
        }
        if (!UnmaskedValue.question(one.row(), "key_changed").isNull()) {
            known.add("The step's effect key has changed since then: neither a second send nor a lookup at the provider"
                    + " would find the first.");
        }
        if (isOver(one)) {
            known.add(
                    isAtMostOnce(one)
                            ? "The run did not wait for this and continued without an outcome."
                            : "The run has ended since then.");
        }
        known.add(
                switch (effect.state()) {
                    case UNKNOWN -> "The outcome is unknown. It was not sent again.";
                    case DONE -> "It is now recorded as done.";
                    case FREE -> "It is now recorded as not done: the run sends it, or the provider rejected it.";
                    case RESERVED -> "It is being sent now.";
                });
        known.add(protection(effect.details().protection()));
    }

    private static String attempts(int attempts) {
        return attempts == 1 ? "one attempt" : attempts + " attempts";
    }

    private static String protection(String word) {
        return switch (word) {
            case "ask" -> "Its protection is ask: only a user decides.";
            case "provider_key" ->
                "Its protection is provider_key: the provider may no longer know the key, so Semel does not send it"
                        + " again automatically.";
            case "at_most_once" -> "Its protection is at_most_once: this run never sends it again.";
            case "lookup" -> "Its protection is lookup: the provider did not answer the lookup.";
            default -> "Its protection is " + word + ".";
        };
    }

    /** True for an effect in doubt whose run does not wait for the decision. */
    private static boolean isOver(ReviewContext one) {
        boolean ended = one.run() != null && one.run().end() != null;
        return one.row().kind() == ReviewOperation.ReviewKind.DOUBT && (ended || isAtMostOnce(one));
    }

    private static boolean isAtMostOnce(ReviewContext one) {
        return one.effect() != null && one.effect().details().protection().equals("at_most_once");
    }

    private static String late(String word) {
        return switch (word) {
            case "happened" -> "Semel records your result for other runs with its key and for replays.";
            case "did_not_happen" ->
                "Semel records it as not done. The next run with its key or a replay may send it. Nothing is sent now.";
            default -> "If the run has not ended, it ends as cancelled. The effect stays in doubt.";
        };
    }

    private static String consequence(String word) {
        return switch (word) {
            case "happened" -> "Semel records your result and the run continues. Nothing is sent.";
            case "did_not_happen" -> "Semel sends it now with the same key.";
            case "send" -> "Semel sends it as a new message.";
            case "suppress" -> "It is not sent. The run continues with the result of the first message.";
            case "approve" -> "The run continues.";
            case "reject" -> "The run continues as its workflow defines for a rejection.";
            case "go_on" -> "The run continues from where it was held.";
            default -> "The run ends as cancelled. Its registered compensations run and nothing else is sent.";
        };
    }
}
