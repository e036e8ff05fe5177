package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.effect.Ledger;
import dev.semel.key.Admissions;
import dev.semel.key.Known;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** What happened under a key, in sentences, and what could happen twice if it were let go. */
final class KeyTale {
    private static final int MOST_EFFECTS = 50;
    private static final int MOST_REQUESTS = 20;

    private final Semel semel;
    private final KeyFuture future;
    private final EffectRoutes effects;

    KeyTale(Semel semel, KeyFuture future) {
        this.semel = semel;
        this.future = future;
        this.effects = new EffectRoutes(semel);
    }

    /** Adds what a run did outside, the sentences, and what would happen now. */
    void tell(ObjectNode out, Rows.Held held, long now) {
        List<Ledger.Row> done = effects(held);
        ArrayNode list = out.putArray("effects");
        done.forEach(row -> list.add(effects.item(row)));
        ObjectNode next = future.now(held);
        out.set("if_it_came_now", next == null ? JsonNodeFactory.instance.nullNode() : next);
        ArrayNode story = out.putArray("story");
        story.add(beginning(held));
        String again = again(held);
        if (again != null) {
            story.add(again);
        }
        done.forEach(row -> story.add(sentence(row)));
        story.add(window(held, now));
        if (next != null) {
            story.add("If it came again now with the same data: "
                    + next.path("sentence").asString(""));
        }
    }

    private List<Ledger.Row> effects(Rows.Held held) {
        List<Ledger.Row> all = Objects.requireNonNull(
                semel.view(reads -> reads.effects(held.known().run())));
        return all.stream().filter(row -> !row.isNote()).limit(MOST_EFFECTS).toList();
    }

    private String beginning(Rows.Held held) {
        Known known = held.known();
        String failed = held.errorCode() == null ? "" : " (" + held.errorCode() + " in step " + held.errorStep() + ")";
        return "First used at " + Views.time(known.firstAt()) + " by " + held.actor() + " for "
                + semel.version(known.workflowId(), known.version()).name() + ": it started " + known.runIdText()
                + ", which is " + known.state().word() + failed + ".";
    }

    private @Nullable String again(Rows.Held held) {
        long replays = held.counts().replays();
        long conflicts = held.counts().conflicts();
        if (replays + conflicts == 0) {
            return "It has not come again.";
        }
        List<String> parts = new ArrayList<>();
        if (replays > 0) {
            parts.add(times(replays) + " answered with that run");
        }
        if (conflicts > 0) {
            parts.add(times(conflicts) + " refused" + because(held));
        }
        return "It came again: " + String.join(", ", parts) + "; the last time at "
                + Views.time(held.counts().lastSeenAt()) + ".";
    }

    private static String times(long count) {
        return count == 1 ? "once" : count + " times";
    }

    private String because(Rows.Held held) {
        List<Write.Seen> rows = Objects.requireNonNull(
                semel.view(reads -> reads.requestsOf(held.known().run(), null, MOST_REQUESTS)));
        Set<String> fields = new LinkedHashSet<>();
        for (Write.Seen row : rows) {
            if (row.conflict() && row.changed() != null) {
                fields.addAll(List.of(row.changed().split(", ")));
            }
        }
        return fields.isEmpty() ? "" : ", because it differed in " + String.join(", ", fields);
    }

    private static String sentence(Ledger.Row row) {
        String step = "Step " + row.facts().path();
        if (EffectRoutes.isSuppressed(row)) {
            return step + " was suppressed: another run had sent " + row.facts().key() + " inside its window.";
        }
        String about =
                row.facts().object() == null ? "" : " about " + row.facts().object();
        String when = Views.time(row.firstAt());
        return switch (row.state()) {
            case DONE ->
                step + about + " was done at " + Views.time(row.acceptedAt()) + " ("
                        + row.facts().protection() + ").";
            case UNKNOWN -> step + about + " is in doubt since it left at " + when + ".";
            case RESERVED -> step + about + " is on its way since " + when + ".";
            case FREE -> step + about + " was tried at " + when + " and is not done.";
        };
    }

    private static String window(Rows.Held held, long now) {
        Known known = held.known();
        String until = Views.time(known.expiresAt());
        return switch (Admissions.standing(known, now)) {
            case LIVE ->
                known.has(Known.HOLD) && !known.state().ended() && now >= known.expiresAt()
                        ? "Its window was over at " + until + "; the key is held until the run has ended."
                        : "Its window ends at " + until + ".";
            case FAILED ->
                "Its run failed, and the workflow says on_failed: run_again; its window ends at " + until + ".";
            case EXPIRED -> "Its window was over at " + until + ".";
            case RELEASED -> "It was released at " + until + ".";
        };
    }

    /** What the next run could do a second time, each with the reason. */
    ArrayNode doubles(List<Rows.Held> released, long now) {
        ArrayNode out = JsonNodeFactory.instance.arrayNode();
        for (Rows.Held held : released) {
            for (Ledger.Row row : effects(held)) {
                boolean guarded = row.window() > 0 && row.expiresAt() > now;
                boolean harmless = row.facts().protection().equals("repeatable");
                boolean happened = row.state() == Ledger.State.DONE || row.state() == Ledger.State.UNKNOWN;
                if (happened && !harmless && !EffectRoutes.isSuppressed(row)) {
                    ObjectNode item = out.addObject();
                    item.put("run_id", held.known().runIdText());
                    item.put("step", row.facts().path());
                    item.put("effect_key", row.facts().key());
                    item.put("does", row.facts().does());
                    item.put("object", row.facts().object());
                    item.put("worth", row.facts().worth());
                    item.put("could_double", !guarded);
                    item.put(
                            "because",
                            guarded
                                    ? "its own key holds it back until " + Views.time(row.expiresAt())
                                    : "a new run begins a new line, whose steps have new keys");
                }
            }
        }
        return out;
    }
}
