package dev.semel.server.operations.idempotency;

import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.TriggerAdmissionRules;
import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.query.PiiMask;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.RunPiiMaskFactory;
import dev.semel.server.query.StoreReader;
import dev.semel.server.query.UnmaskedPiiValue;
import dev.semel.server.query.view.KeySimulationView;
import dev.semel.server.query.view.KeyView;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWrite;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Describes the history of a key in sentences, and which effects could happen twice after its release. */
final class IdempotencyKeyHistoryRenderer {
    private static final int MOST_REQUESTS = 20;
    private static final String CUT = "This list is truncated. GET /v1/effects returns all effects.";

    private final SemelRuntime semel;
    private final IdempotentTriggerSimulator simulation;
    private final EffectLedgerRoutes effects;
    private final RunIdempotencyKeyEffectFinder actions;
    private final RunPiiMaskFactory masks;

    IdempotencyKeyHistoryRenderer(SemelRuntime semel, IdempotentTriggerSimulator simulation) {
        this.semel = semel;
        this.simulation = simulation;
        this.effects = new EffectLedgerRoutes(semel);
        this.actions = new RunIdempotencyKeyEffectFinder(semel);
        this.masks = new RunPiiMaskFactory(semel);
    }

    /** The key with its effects, its history in sentences, and what a repeat would do now. */
    KeyView.KeyDetailView detail(DatabaseRows.KeyRow held, KeyView newest, List<KeyView> others, long now) {
        RunIdempotencyKeyEffectFinder.KeyEffects done =
                actions.findByLineage(held.keyRecord().lineage());
        KeySimulationView next = simulation.simulateNow(held);
        List<String> story = new ArrayList<>();
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
            story.add("If the key is sent again now with the same data: " + next.summary());
        }
        return new KeyView.KeyDetailView(
                newest, others, done.rows().stream().map(effects::view).toList(), done.truncated(), next, story);
    }

    /** Names the run of the effect, unless it is the run of the key itself. */
    private static String in(
            DatabaseRows.KeyRow held, RunIdempotencyKeyEffectFinder.KeyEffects done, EffectLedger.EffectRow row) {
        return row.holder().run().equals(held.keyRecord().run()) ? "" : " of " + done.runIdText(row);
    }

    private String beginning(DatabaseRows.KeyRow held) {
        RunDeduplicationKeyRecord keyRecord = held.keyRecord();
        String failed = held.errorCode() == null ? "" : " (" + held.errorCode() + " in step " + held.errorStep() + ")";
        return "First used at " + RunJsonRenderer.formatTime(keyRecord.firstAt()) + " by " + held.actor() + " for "
                + semel.version(keyRecord.workflowId(), keyRecord.version()).name() + ": it started "
                + keyRecord.runIdText()
                + ", which is " + keyRecord.state().wireName() + failed + ".";
    }

    private @Nullable String laterRequests(DatabaseRows.KeyRow held) {
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
                + RunJsonRenderer.formatTime(held.counts().lastSeenAt()) + ".";
    }

    private String because(DatabaseRows.KeyRow held) {
        List<StoreWrite.DuplicateRequest> rows = StoreReader.read(
                semel, reads -> reads.requestsOf(held.keyRecord().run(), null, MOST_REQUESTS));
        Set<String> fields = new LinkedHashSet<>();
        for (StoreWrite.DuplicateRequest row : rows) {
            if (row.conflict() && row.changed() != null) {
                fields.addAll(List.of(row.changed().split(", ")));
            }
        }
        return fields.isEmpty() ? "" : " (different " + String.join(", ", fields) + ")";
    }

    /** The PII mask of the run that owns the effect. */
    private PiiMask mask(RunIdempotencyKeyEffectFinder.KeyEffects found, EffectLedger.EffectRow row) {
        RunId holder = row.holder().run();
        DatabaseRows.RunRow known = found.runs().get(holder);
        int workspace = row.id().workspace();
        DatabaseRows.RunRow run = known != null ? known : semel.view(reads -> reads.run(workspace, holder));
        return masks.of(run, workspace, row.details().workflowId());
    }

    private static String sentence(EffectLedger.EffectRow row, String in, PiiMask mask) {
        String step = "Step " + row.details().path() + in;
        if (EffectLedgerRoutes.isSuppressed(row)) {
            return step + " was suppressed: another run had sent an effect with the key "
                    + UnmaskedPiiValue.key(row).maskTextWith(mask) + ", and the window of that key had not ended.";
        }
        UnmaskedPiiValue object = UnmaskedPiiValue.object(row);
        String about = object.isNull() ? "" : " about " + object.maskTextWith(mask);
        String when = RunJsonRenderer.formatTime(row.firstAt());
        return switch (row.state()) {
            case DONE ->
                step + about + " was done at " + RunJsonRenderer.formatTime(row.acceptedAt()) + " ("
                        + row.details().protection() + ").";
            case UNKNOWN ->
                row.resendUntil() > 0
                        ? step + about + " was sent at " + when
                                + " and its outcome is unknown. It is safe to send again" + " with the same key until "
                                + RunJsonRenderer.formatTime(row.resendUntil()) + "."
                        : step + about + " has been in doubt since it was sent at " + when + ".";
            case RESERVED -> step + about + " has been in progress since " + when + ".";
            case FREE -> step + about + " was attempted at " + when + " and is not done.";
            case UNCONFIRMED ->
                step + about + " was attempted at " + when + ". It may have happened, and its protection ("
                        + row.details().protection() + ") allows to send it again.";
        };
    }

    private static String window(DatabaseRows.KeyRow held, long now) {
        RunDeduplicationKeyRecord keyRecord = held.keyRecord();
        String until = RunJsonRenderer.formatTime(keyRecord.expiresAt());
        return switch (TriggerAdmissionRules.statusOf(keyRecord, now)) {
            case LIVE ->
                keyRecord.has(RunDeduplicationKeyRecord.HOLD)
                                && !keyRecord.state().hasEnded()
                                && now >= keyRecord.expiresAt()
                        ? "The window of the key ended at " + until + "; the key stays in use until the run has ended."
                        : "The window of the key ends at " + until + ".";
            case FAILED ->
                "The run of the key failed and the workflow has on_failed: run_again. The window of the key ends at "
                        + until + ".";
            case EXPIRED -> "The window of the key ended at " + until + ".";
            case RELEASED -> "The key was released at " + until + ".";
        };
    }

    /**
     * Adds the effects that the next run could repeat, each with the reason, and whether the list is complete.
     *
     * @param out the response to a release or to its dry run
     */
    void addDuplicateRisks(ObjectNode out, List<DatabaseRows.KeyRow> released, long now) {
        ArrayNode list = out.putArray("effects");
        boolean cut = false;
        List<String> running = new ArrayList<>();
        for (DatabaseRows.KeyRow held : released) {
            RunId lineage = held.keyRecord().lineage();
            RunIdempotencyKeyEffectFinder.KeyEffects found = actions.findByLineage(lineage);
            cut |= found.truncated();
            found.unfinished(lineage).forEach(run -> running.add(run.runIdText()));
            for (EffectLedger.EffectRow row : found.rows()) {
                boolean harmless = row.details().protection().equals("repeatable");
                if (row.state() != EffectLedger.EffectState.FREE
                        && !harmless
                        && !EffectLedgerRoutes.isSuppressed(row)) {
                    list.add(couldDouble(row, found, lineage, now));
                }
            }
        }
        out.put("effects_truncated", cut);
        String more = running.isEmpty() ? "" : " These runs are still in progress: " + String.join(", ", running) + ".";
        out.put("summary", out.path("summary").asString("") + more + (cut ? " " + CUT : ""));
    }

    private ObjectNode couldDouble(
            EffectLedger.EffectRow row, RunIdempotencyKeyEffectFinder.KeyEffects found, RunId lineage, long now) {
        boolean settled = row.state() == EffectLedger.EffectState.DONE;
        boolean guarded = row.window() > 0 && (!settled || row.expiresAt() > now);
        ObjectNode item = RunJsonRenderer.newObject();
        item.put("run_id", found.runIdText(row));
        item.put("step", row.details().path());
        PiiMask mask = mask(found, row);
        item.set("effect_key", UnmaskedPiiValue.key(row).maskWith(mask));
        item.put("does", row.details().does());
        item.set("object", UnmaskedPiiValue.object(row).maskWith(mask));
        item.put("worth", row.details().worth());
        item.put("could_duplicate", !guarded);
        String because = found.belongsTo(row, lineage)
                ? "a new run starts a new lineage, whose steps have new effect keys"
                : "a new run starts new child runs, unless the keys of the child runs are still in use";
        return item.put(
                "reason",
                !guarded
                        ? because
                        : settled
                                ? "its effect key prevents a repeat until "
                                        + RunJsonRenderer.formatTime(row.expiresAt())
                                : "its effect key prevents a repeat until its outcome is known");
    }
}
