package dev.semel.server.api;

import dev.semel.Reviews;
import dev.semel.Semel;
import dev.semel.effect.Ledger;
import dev.semel.journal.Entry;
import dev.semel.journal.Journal;
import dev.semel.store.Reads;
import dev.semel.store.Review;
import dev.semel.store.Rows;
import dev.semel.store.Write;
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

    private final Semel semel;
    private final Masks masks;

    ReviewViews(Semel semel) {
        this.semel = semel;
        this.masks = new Masks(semel);
    }

    /**
     * A review with its run and its effect.
     *
     * @param effect the ledger row; null if the review is not about an effect
     * @param tried recorded attempts, newest last; empty in lists
     */
    record Case(Review.Row row, Rows.@Nullable Run run, Ledger.@Nullable Row effect, List<Entry> tried, long now) {
        boolean isAsked() {
            if (row.kind() == Review.Kind.DOUBT) {
                return row.isOpen() && effect != null && effect.state() == Ledger.State.UNKNOWN;
            }
            return row.isOpen() && run != null && run.end() == null && (row.kind() != Review.Kind.HELD || isHeld(run));
        }

        private static boolean isHeld(Rows.Run run) {
            String word = WaitingFor.word(run);
            return word.equals("code") || word.equals("poison") || word.equals("store");
        }
    }

    static Case listed(Reads reads, Review.Row row) {
        return new Case(row, reads.run(row.ws(), row.run()), effect(reads, row), List.of(), reads.now());
    }

    static Case whole(Reads reads, Review.Row row) {
        Rows.Run run = reads.run(row.ws(), row.run());
        List<Entry> tried = new ArrayList<>();
        List<String> chunks = new ArrayList<>();
        reads.journal(row.run()).forEach(chunk -> chunks.add(chunk.entries()));
        if (run != null && run.end() != null) {
            chunks.add(run.end().entries());
        }
        for (String chunk : chunks) {
            Journal.decode(chunk).stream()
                    .filter(entry -> entry.path().equals(row.step()) && entry instanceof Entry.Tried)
                    .forEach(tried::add);
        }
        return new Case(row, run, effect(reads, row), tried, reads.now());
    }

    private static Ledger.@Nullable Row effect(Reads reads, Review.Row row) {
        return row.effect().isEmpty() ? null : reads.effect(new Ledger.Id(row.ws(), row.effect()));
    }

    static String word(Review.Kind kind) {
        return switch (kind) {
            case DOUBT -> "in_doubt";
            case CHANGE -> "changed";
            case APPROVAL -> "approval";
            case HELD -> "held";
        };
    }

    static Review.@Nullable Kind kind(String word) {
        for (Review.Kind kind : Review.Kind.values()) {
            if (word(kind).equals(word)) {
                return kind;
            }
        }
        return null;
    }

    ObjectNode item(Case one) {
        Review.Row row = one.row();
        Masks.Mask mask = mask(one);
        ObjectNode out = Views.object();
        out.put("review_id", row.id());
        out.put("kind", word(row.kind()));
        out.put("status", one.isAsked() ? "open" : row.isOpen() ? "over" : "decided");
        out.put("title", title(one, mask));
        out.put("version", row.version());
        out.put("to", row.reviewer());
        out.put("workflow_id", row.workflowId());
        out.put("workflow", workflow(one));
        out.put("run_id", runId(one));
        out.put("step", row.step().equals(Review.WHOLE_RUN) ? null : row.step());
        out.put("asked_at", Views.time(row.askedAt()));
        out.put("due_at", row.dueAt() == Write.Rest.NEVER ? null : Views.time(row.dueAt()));
        out.put("overdue", row.isOpen() && row.dueAt() <= one.now());
        out.set("link", Bare.question(row, "link").under(mask));
        JsonNode shown = Bare.question(row, "details").under(mask);
        out.set("shown", shown.isObject() ? shown : Views.object());
        Ledger.Row effect = one.effect();
        out.set("effect_key", effect == null ? null : Bare.key(effect).under(mask));
        out.put("protection", effect == null ? null : effect.facts().protection());
        out.set("object", effect == null ? null : Bare.object(effect).under(mask));
        out.put("worth", effect == null ? null : effect.facts().worth());
        decision(out, row);
        return out;
    }

    private Masks.Mask mask(Case one) {
        return masks.of(one.run(), one.row().ws(), one.row().workflowId());
    }

    private static void decision(ObjectNode out, Review.Row row) {
        if (row.isOpen()) {
            out.putNull("decided");
            return;
        }
        out.putObject("decided")
                .put("decision", row.decision())
                .put("by", row.decidedBy())
                .put("at", Views.time(row.decidedAt()))
                .put("note", row.note());
    }

    /** Adds the evidence and the consequence of each decision. */
    ObjectNode whole(Case one) {
        ObjectNode out = item(one);
        ArrayNode known = out.putArray("evidence");
        evidence(one, mask(one)).forEach(known::add);
        ObjectNode answers = out.putObject("answers");
        for (String word : new TreeSet<>(Reviews.words(one.row().kind()))) {
            answers.put(word, isOver(one) ? late(word) : consequence(word));
        }
        return out;
    }

    private static String title(Case one, Masks.Mask mask) {
        String given = Bare.question(one.row(), "title").textUnder(mask);
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

    private String workflow(Case one) {
        Rows.Run run = one.run();
        return run == null
                ? one.row().workflowId()
                : semel.version(run.workflowId(), run.version()).name();
    }

    private static String runId(Case one) {
        return one.run() == null
                ? one.row().run().text()
                : Objects.requireNonNull(one.run()).runIdText();
    }

    private static List<String> evidence(Case one, Masks.Mask mask) {
        List<String> known = new ArrayList<>();
        Review.Row row = one.row();
        switch (row.kind()) {
            case DOUBT -> doubt(one, known, mask);
            case CHANGE ->
                known.add("A message with the same key was accepted inside its window, and this message differs."
                        + " This message was not sent.");
            case APPROVAL ->
                known.add("The run has waited since " + Views.time(row.askedAt()) + ". No later step has run.");
            case HELD -> known.add(Bare.question(row, "message").textUnder(mask));
        }
        if (row.dueAt() != Write.Rest.NEVER && row.isOpen()) {
            known.add((row.dueAt() <= one.now() ? "It was due at " : "It is due at ") + Views.time(row.dueAt()) + ".");
        }
        if (!row.isOpen()) {
            String by = row.decidedBy().isEmpty() ? "" : " by " + row.decidedBy();
            known.add("Decided: " + row.decision() + by + " at " + Views.time(row.decidedAt()) + ".");
        }
        return known;
    }

    private static void doubt(Case one, List<String> known, Masks.Mask mask) {
        Ledger.Row effect = one.effect();
        if (effect == null) {
            known.add("The ledger no longer contains the effect.");
            return;
        }
        known.add("It was first sent at " + Views.time(effect.firstAt()) + " with the key "
                + Bare.key(effect).textUnder(mask) + "; " + attempts(effect.attempt()) + " so far.");
        List<Entry> tried = one.tried();
        for (Entry entry : tried.subList(Math.max(0, tried.size() - MAX_ATTEMPTS), tried.size())) {
            if (entry instanceof Entry.Tried attempt) {
                known.add("At " + Views.time(attempt.at()) + " attempt " + attempt.attempt() + " ended with "
                        + attempt.problem().code() + ": "
                        + Bare.message(attempt.problem()).textUnder(mask));
            }
        }
        Bare problem = Bare.question(one.row(), "send_error");
        if (!problem.isNothing()) {
            known.add("The send ended with " + problem.textUnder(mask));
        } else if (tried.isEmpty()) {
            known.add("No response is recorded: the worker ended or lost the connection after the send.");
        }
        if (!Bare.question(one.row(), "key_changed").isNothing()) {
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
        known.add(protection(effect.facts().protection()));
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
    private static boolean isOver(Case one) {
        boolean ended = one.run() != null && one.run().end() != null;
        return one.row().kind() == Review.Kind.DOUBT && (ended || isAtMostOnce(one));
    }

    private static boolean isAtMostOnce(Case one) {
        return one.effect() != null && one.effect().facts().protection().equals("at_most_once");
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
