package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.effect.EffectLedger;
import dev.semel.admission.AdmissionRules;
import dev.semel.admission.KeyRecord;
import dev.semel.run.RunId;
import dev.semel.store.StoredRows;
import dev.semel.store.StoreWrite;
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
final class KeyHistory {
    private static final int MOST_REQUESTS = 20;
    private static final String CUT = "This list is truncated. GET /v1/effects returns all effects.";

    private final SemelRuntime semel;
    private final KeySimulation simulation;
    private final EffectRoutes effects;
    private final KeyActions actions;
    private final PiiMasks masks;

    KeyHistory(SemelRuntime semel, KeySimulation simulation) {
        this.semel = semel;
        this.simulation = simulation;
        this.effects = new EffectRoutes(semel);
        this.actions = new KeyActions(semel);
        this.masks = new PiiMasks(semel);
    }

    /** Adds the effects of the key, its history in sentences, and what a repeat would do now. */
    void addHistory(ObjectNode out, StoredRows.KeyRow held, long now) {
        KeyActions.KeyEffects done = actions.findByLineage(held.keyRecord().lineage());
        ArrayNode list = out.putArray("effects");
        done.rows().forEach(row -> list.add(effects.effectJson(row)));
        out.put("effects_cut", done.truncated());
        ObjectNode next = simulation.simulateNow(held);
        out.set("if_it_came_now", next == null ? JsonNodeFactory.instance.nullNode() : next);
        ArrayNode story = out.putArray("story");
        story.add(beginning(held));
        String later = laterRequests(held);
        if (later != null) {
            story.add(later);
        }
        done.rows().forEach(row -> story.add(sentence(row, in(held, done, row), mask(done, row))));
        if (done.truncated()) {
            story.add(CUT);
        }
        story.add(window(held, now));
        if (next != null) {
            story.add("A repeat now with the same data: "
                    + next.path("sentence").asString(""));
        }
    }

    /** Names the run of the effect, unless it is the run of the key itself. */
    private static String in(StoredRows.KeyRow held, KeyActions.KeyEffects done, EffectLedger.EffectRow row) {
        return row.holder().run().equals(held.keyRecord().run()) ? "" : " of " + done.runIdText(row);
    }

    private String beginning(StoredRows.KeyRow held) {
        KeyRecord known = held.keyRecord();
        String failed = held.errorCode() == null ? "" : " (" + held.errorCode() + " in step " + held.errorStep() + ")";
        return "First used at " + JsonViews.formatTime(known.firstAt()) + " by " + held.actor() + " for "
                + semel.version(known.workflowId(), known.version()).name() + ": it started " + known.runIdText()
                + ", which is " + known.state().wireName() + failed + ".";
    }

    private @Nullable String laterRequests(StoredRows.KeyRow held) {
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
                + JsonViews.formatTime(held.counts().lastSeenAt()) + ".";
    }

    private String because(StoredRows.KeyRow held) {
        List<StoreWrite.DuplicateRequest> rows = Objects.requireNonNull(
                semel.view(reads -> reads.requestsOf(held.keyRecord().run(), null, MOST_REQUESTS)));
        Set<String> fields = new LinkedHashSet<>();
        for (StoreWrite.DuplicateRequest row : rows) {
            if (row.conflict() && row.changed() != null) {
                fields.addAll(List.of(row.changed().split(", ")));
            }
        }
        return fields.isEmpty() ? "" : " (different " + String.join(", ", fields) + ")";
    }

    /** The PII mask of the run that owns the effect. */
    private PiiMasks.PiiMask mask(KeyActions.KeyEffects found, EffectLedger.EffectRow row) {
        RunId holder = row.holder().run();
        StoredRows.RunRow known = found.runs().get(holder);
        int workspace = row.id().workspace();
        StoredRows.RunRow run = known != null ? known : semel.view(reads -> reads.run(workspace, holder));
        return masks.of(run, workspace, row.details().workflowId());
    }

    private static String sentence(EffectLedger.EffectRow row, String in, PiiMasks.PiiMask mask) {
        String step = "Step " + row.details().path() + in;
        if (EffectRoutes.isSuppressed(row)) {
            return step + " was suppressed: another run had sent "
                    + UnmaskedValue.key(row).maskTextWith(mask) + " inside its window.";
        }
        UnmaskedValue object = UnmaskedValue.object(row);
        String about = object.isNull() ? "" : " about " + object.maskTextWith(mask);
        String when = JsonViews.formatTime(row.firstAt());
        return switch (row.state()) {
            case DONE ->
                step + about + " was done at " + JsonViews.formatTime(row.acceptedAt()) + " ("
                        + row.details().protection() + ").";
            case UNKNOWN -> step + about + " is in doubt since it was sent at " + when + ".";
            case RESERVED -> step + about + " is in progress since " + when + ".";
            case FREE -> step + about + " was attempted at " + when + " and is not done.";
        };
    }

    private static String window(StoredRows.KeyRow held, long now) {
        KeyRecord known = held.keyRecord();
        String until = JsonViews.formatTime(known.expiresAt());
        return switch (AdmissionRules.statusOf(known, now)) {
            case LIVE ->
                known.has(KeyRecord.HOLD) && !known.state().hasEnded() && now >= known.expiresAt()
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
    void addDuplicateRisks(ObjectNode out, List<StoredRows.KeyRow> released, long now) {
        ArrayNode list = out.putArray("effects");
        boolean cut = false;
        List<String> running = new ArrayList<>();
        for (StoredRows.KeyRow held : released) {
            RunId lineage = held.keyRecord().lineage();
            KeyActions.KeyEffects found = actions.findByLineage(lineage);
            cut |= found.truncated();
            found.unfinished(lineage).forEach(run -> running.add(run.runIdText()));
            for (EffectLedger.EffectRow row : found.rows()) {
                boolean harmless = row.details().protection().equals("repeatable");
                if (row.state() != EffectLedger.EffectState.FREE && !harmless && !EffectRoutes.isSuppressed(row)) {
                    list.add(couldDouble(row, found, lineage, now));
                }
            }
        }
        out.put("effects_cut", cut);
        String more =
                running.isEmpty() ? "" : " Still running beside it: " + String.join(", ", running) + ".";
        out.put("could_double", out.path("could_double").asString("") + more + (cut ? " " + CUT : ""));
    }

    private ObjectNode couldDouble(EffectLedger.EffectRow row, KeyActions.KeyEffects found, RunId lineage, long now) {
        boolean settled = row.state() == EffectLedger.EffectState.DONE;
        boolean guarded = row.window() > 0 && (!settled || row.expiresAt() > now);
        ObjectNode item = JsonViews.newObject();
        item.put("run_id", found.runIdText(row));
        item.put("step", row.details().path());
        PiiMasks.PiiMask mask = mask(found, row);
        item.set("effect_key", UnmaskedValue.key(row).maskWith(mask));
        item.put("does", row.details().does());
        item.set("object", UnmaskedValue.object(row).maskWith(mask));
        item.put("worth", row.details().worth());
        item.put("could_double", !guarded);
        String because = found.belongsTo(row, lineage)
                ? "a new run starts a new lineage, whose steps have new effect keys"
                : "a new run starts its own child runs, unless their keys are still in use";
        return item.put(
                "because",
                !guarded
                        ? because
                        : settled
                                ? "its own effect key blocks it until " + JsonViews.formatTime(row.expiresAt())
                                : "its own effect key blocks it until its outcome is known");
    }
}
