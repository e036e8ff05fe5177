package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.effect.Ledger;
import dev.semel.key.Admissions;
import dev.semel.key.Known;
import dev.semel.run.RunId;
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

/** Describes the history of a key in sentences, and which effects could happen twice after its release. */
final class KeyTale {
    private static final int MOST_REQUESTS = 20;
    private static final String CUT = "This list is truncated. GET /v1/effects returns all effects.";

    private final Semel semel;
    private final KeyFuture simulation;
    private final EffectRoutes effects;
    private final KeyDeeds actions;
    private final Masks masks;

    KeyTale(Semel semel, KeyFuture simulation) {
        this.semel = semel;
        this.simulation = simulation;
        this.effects = new EffectRoutes(semel);
        this.actions = new KeyDeeds(semel);
        this.masks = new Masks(semel);
    }

    /** Adds the effects of the key, its history in sentences, and what a repeat would do now. */
    void tell(ObjectNode out, Rows.Held held, long now) {
        KeyDeeds.Found done = actions.of(held.known().lineage());
        ArrayNode list = out.putArray("effects");
        done.rows().forEach(row -> list.add(effects.item(row)));
        out.put("effects_cut", done.cut());
        ObjectNode next = simulation.now(held);
        out.set("if_it_came_now", next == null ? JsonNodeFactory.instance.nullNode() : next);
        ArrayNode story = out.putArray("story");
        story.add(beginning(held));
        String later = laterRequests(held);
        if (later != null) {
            story.add(later);
        }
        done.rows().forEach(row -> story.add(sentence(row, in(held, done, row), mask(done, row))));
        if (done.cut()) {
            story.add(CUT);
        }
        story.add(window(held, now));
        if (next != null) {
            story.add("A repeat now with the same data: "
                    + next.path("sentence").asString(""));
        }
    }

    /** Names the run of the effect, unless it is the run of the key itself. */
    private static String in(Rows.Held held, KeyDeeds.Found done, Ledger.Row row) {
        return row.holder().run().equals(held.known().run()) ? "" : " of " + done.runIdText(row);
    }

    private String beginning(Rows.Held held) {
        Known known = held.known();
        String failed = held.errorCode() == null ? "" : " (" + held.errorCode() + " in step " + held.errorStep() + ")";
        return "First used at " + Views.time(known.firstAt()) + " by " + held.actor() + " for "
                + semel.version(known.workflowId(), known.version()).name() + ": it started " + known.runIdText()
                + ", which is " + known.state().word() + failed + ".";
    }

    private @Nullable String laterRequests(Rows.Held held) {
        long replays = held.counts().replays();
        long conflicts = held.counts().conflicts();
        if (replays + conflicts == 0) {
            return "No other request used this key.";
        }
        List<String> parts = new ArrayList<>();
        if (replays > 0) {
            parts.add(replays + " answered with that run");
        }
        if (conflicts > 0) {
            parts.add(conflicts + " rejected" + because(held));
        }
        return "Later requests with this key: " + String.join(", ", parts) + ". Last request at "
                + Views.time(held.counts().lastSeenAt()) + ".";
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
        return fields.isEmpty() ? "" : " (different " + String.join(", ", fields) + ")";
    }

    /** The PII mask of the run that owns the effect. */
    private Masks.Mask mask(KeyDeeds.Found found, Ledger.Row row) {
        RunId holder = row.holder().run();
        Rows.Run known = found.runs().get(holder);
        int workspace = row.id().workspace();
        Rows.Run run = known != null ? known : semel.view(reads -> reads.run(workspace, holder));
        return masks.of(run, workspace, row.facts().workflowId());
    }

    private static String sentence(Ledger.Row row, String in, Masks.Mask mask) {
        String step = "Step " + row.facts().path() + in;
        if (EffectRoutes.isSuppressed(row)) {
            return step + " was suppressed: another run had sent "
                    + Bare.key(row).textUnder(mask) + " inside its window.";
        }
        Bare object = Bare.object(row);
        String about = object.isNothing() ? "" : " about " + object.textUnder(mask);
        String when = Views.time(row.firstAt());
        return switch (row.state()) {
            case DONE ->
                step + about + " was done at " + Views.time(row.acceptedAt()) + " ("
                        + row.facts().protection() + ").";
            case UNKNOWN -> step + about + " is in doubt since it was sent at " + when + ".";
            case RESERVED -> step + about + " is in progress since " + when + ".";
            case FREE -> step + about + " was attempted at " + when + " and is not done.";
        };
    }

    private static String window(Rows.Held held, long now) {
        Known known = held.known();
        String until = Views.time(known.expiresAt());
        return switch (Admissions.standing(known, now)) {
            case LIVE ->
                known.has(Known.HOLD) && !known.state().ended() && now >= known.expiresAt()
                        ? "Its window ended at " + until + "; the key stays in use until the run has ended."
                        : "Its window ends at " + until + ".";
            case FAILED ->
                "Its run failed and the workflow has on_failed: run_again. Its window ends at " + until + ".";
            case EXPIRED -> "Its window ended at " + until + ".";
            case RELEASED -> "It was released at " + until + ".";
        };
    }

    /**
     * Adds the effects that the next run could repeat, each with the reason, and whether the list is complete.
     *
     * @param out the response to a release or to its dry run
     */
    void doubles(ObjectNode out, List<Rows.Held> released, long now) {
        ArrayNode list = out.putArray("effects");
        boolean cut = false;
        List<String> running = new ArrayList<>();
        for (Rows.Held held : released) {
            RunId lineage = held.known().lineage();
            KeyDeeds.Found found = actions.of(lineage);
            cut |= found.cut();
            found.unfinished(lineage).forEach(run -> running.add(run.runIdText()));
            for (Ledger.Row row : found.rows()) {
                boolean harmless = row.facts().protection().equals("repeatable");
                if (row.state() != Ledger.State.FREE && !harmless && !EffectRoutes.isSuppressed(row)) {
                    list.add(couldDouble(row, found, lineage, now));
                }
            }
        }
        out.put("effects_cut", cut);
        String more =
                running.isEmpty() ? "" : " Still running beside it: " + String.join(", ", running) + ".";
        out.put("could_double", out.path("could_double").asString("") + more + (cut ? " " + CUT : ""));
    }

    private ObjectNode couldDouble(Ledger.Row row, KeyDeeds.Found found, RunId lineage, long now) {
        boolean settled = row.state() == Ledger.State.DONE;
        boolean guarded = row.window() > 0 && (!settled || row.expiresAt() > now);
        ObjectNode item = Views.object();
        item.put("run_id", found.runIdText(row));
        item.put("step", row.facts().path());
        Masks.Mask mask = mask(found, row);
        item.set("effect_key", Bare.key(row).under(mask));
        item.put("does", row.facts().does());
        item.set("object", Bare.object(row).under(mask));
        item.put("worth", row.facts().worth());
        item.put("could_double", !guarded);
        String because = found.isOf(row, lineage)
                ? "a new run starts a new lineage, whose steps have new effect keys"
                : "a new run starts its own child runs, unless their keys are still in use";
        return item.put(
                "because",
                !guarded
                        ? because
                        : settled
                                ? "its own effect key blocks it until " + Views.time(row.expiresAt())
                                : "its own effect key blocks it until its outcome is known");
    }
}
