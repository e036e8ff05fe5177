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

/** A question to people as they see it: what is known, in plain words, and what each answer does. */
final class ReviewViews {
    private static final int MOST_ATTEMPTS = 5;

    private final Semel semel;
    private final Masks masks;

    ReviewViews(Semel semel) {
        this.semel = semel;
        this.masks = new Masks(semel);
    }

    /**
     * A question with what the store knows about it.
     *
     * @param effect the row of the ledger; null where it is about none
     * @param tried attempts on record, the newest last; empty in lists
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

    /** The same with the evidence, and what each answer would do. */
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
            case APPROVAL -> "May the run go on after \"" + step + "\"?";
            case HELD -> "The run is held. Let it go on?";
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
                known.add("A message with the same key was accepted inside its window, and this one differs from it."
                        + " This one was not sent.");
            case APPROVAL ->
                known.add("The run asks since " + Views.time(row.askedAt()) + ". Nothing behind this step has run.");
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
            known.add("The effect is not in the ledger any more.");
            return;
        }
        known.add("It left at " + Views.time(effect.firstAt()) + " for the first time with the key "
                + Bare.key(effect).textUnder(mask) + "; " + attempts(effect.attempt()) + " so far.");
        List<Entry> tried = one.tried();
        for (Entry entry : tried.subList(Math.max(0, tried.size() - MOST_ATTEMPTS), tried.size())) {
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
            known.add("No answer is on record: the worker ended, or lost the connection, behind the send.");
        }
        if (!Bare.question(one.row(), "key_changed").isNothing()) {
            known.add("The step has another key now than it had then: neither a second send nor a look at the provider"
                    + " would find the first.");
        }
        if (isOver(one)) {
            known.add(
                    isAtMostOnce(one)
                            ? "The run did not wait for this and went on without an outcome."
                            : "The run has ended since.");
        }
        known.add(
                switch (effect.state()) {
                    case UNKNOWN -> "How it ended is not known. It was not sent again.";
                    case DONE -> "It is on record as done by now.";
                    case FREE -> "It is on record as not done by now; the run sends it, or sent it and was refused.";
                    case RESERVED -> "It is on its way right now.";
                });
        known.add(protection(effect.facts().protection()));
    }

    private static String attempts(int attempts) {
        return attempts == 1 ? "one attempt" : attempts + " attempts";
    }

    private static String protection(String word) {
        return switch (word) {
            case "ask" -> "Its protection is ask: only a person decides.";
            case "provider_key" ->
                "Its protection is provider_key: the provider may have forgotten the key by now, so it is not sent"
                        + " again by itself.";
            case "at_most_once" -> "Its protection is at_most_once: it is never sent again by this run.";
            case "lookup" -> "Its protection is lookup: the provider was asked and did not answer.";
            default -> "Its protection is " + word + ".";
        };
    }

    /** An effect in doubt whose run does not wait for the answer. */
    private static boolean isOver(Case one) {
        boolean ended = one.run() != null && one.run().end() != null;
        return one.row().kind() == Review.Kind.DOUBT && (ended || isAtMostOnce(one));
    }

    private static boolean isAtMostOnce(Case one) {
        return one.effect() != null && one.effect().facts().protection().equals("at_most_once");
    }

    private static String late(String word) {
        return switch (word) {
            case "happened" -> "It is recorded with your result, for other runs with its key and for replays.";
            case "did_not_happen" ->
                "It is recorded as not done: the next run with its key, or a replay, may send it. Nothing is sent now.";
            default -> "Where the run still goes on it ends as cancelled. The effect stays in doubt.";
        };
    }

    private static String consequence(String word) {
        return switch (word) {
            case "happened" -> "It is recorded with your result, the run goes on, nothing is sent.";
            case "did_not_happen" -> "It is sent now with the same key.";
            case "send" -> "It is sent, as a new message.";
            case "suppress" -> "It is not sent; the run goes on with the result of the first one.";
            case "approve" -> "The run goes on.";
            case "reject" -> "The run goes on as its workflow says for a no.";
            case "go_on" -> "The run is taken up again where it stands.";
            default -> "The run ends as cancelled; what is registered for it is undone, and nothing else is sent.";
        };
    }
}
