package dev.semel.engine;

import dev.semel.effect.EffectLedger;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalResumptions;
import dev.semel.json.StrictJson;
import dev.semel.replay.ReplayAction;
import dev.semel.replay.CalledRunState;
import dev.semel.replay.CarriedJournal;
import dev.semel.replay.NotificationMode;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.ReplayPreview;
import dev.semel.replay.ReplaySource;
import dev.semel.replay.ReplayOptions;
import dev.semel.replay.DeclaredVersions;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.store.ReplayPlanOperation;
import dev.semel.store.StoredRows;
import dev.semel.definition.CurrentWorkflow;
import dev.semel.definition.DeclaredStep;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Predicts what safe replays of runs would do, without changing anything. A page of runs takes a few queries. */
public final class ReplayPreviewer {
    private static final String RESUMED = "resumed";
    private static final Duration HOUR = Duration.ofHours(1);

    private final StoreReadPool readers;
    private final WorkflowCatalog catalog;
    private final EngineLimits limits;

    public ReplayPreviewer(StoreReadPool readers, WorkflowCatalog catalog, EngineLimits limits) {
        this.readers = readers;
        this.catalog = catalog;
        this.limits = limits;
    }

    /**
     * The options of a preview.
     *
     * @param editedInput the replays get an edited input
     */
    public record PreviewRequest(int workspace, ReplayPlanRequest order, boolean editedInput) {}

    /**
     * The predicted replay of one run.
     *
     * @param requested the requested run
     * @param base the newest run of its lineage, which is replayed
     * @param version the workflow version of the replay
     * @param carriedJournal the first entries of the replay's journal
     * @param resumptions how often the base was resumed in place
     */
    public record RunPreview(StoredRows.RunRow requested, StoredRows.RunRow base, int version, ReplayPreview preview, String carriedJournal, int resumptions) {
        public ReplayPlanOperation.PlanItem toPlanItem() {
            ReplayAction worst = preview.worst();
            ObjectNode body = preview.toJson();
            body.put("run_id", base.runIdText())
                    .put("workflow_id", base.workflowId())
                    .put("version", version)
                    .put("status", base.state().wireName());
            if (resumptions > 0) {
                body.put(RESUMED, resumptions);
            }
            return new ReplayPlanOperation.PlanItem(
                    base.id(),
                    worst == null ? 0 : worst.ordinal() + 1,
                    preview.actions(),
                    StrictJson.write(body),
                    ReplayPlanOperation.ItemOutcome.PLANNED,
                    null,
                    "");
        }
    }

    /** Previews runs, in any order. Deleted runs and runs of other workspaces are left out. */
    public List<RunPreview> preview(List<RunId> ids, PreviewRequest wanted) {
        LineageSnapshot seen = readers.read(reads -> LineageSnapshot.read(reads, ids, wanted.workspace()));
        Map<String, CalledRunState> called = called(seen);
        List<RunPreview> all = new ArrayList<>();
        seen.runs().values().stream()
                .filter(run -> ids.contains(run.id()))
                .forEach(run -> all.add(prospect(run, seen, called, wanted)));
        return all;
    }

    private RunPreview prospect(StoredRows.RunRow asked, LineageSnapshot seen, Map<String, CalledRunState> called, PreviewRequest wanted) {
        List<StoredRows.RunRow> lineage = seen.lineageOf(asked);
        StoredRows.RunRow base = lineage.getLast();
        List<JournalEntry> entries = seen.journalOf(base);
        int had = entries == null ? base.version() : JournalResumptions.effectiveVersion(entries, base.version());
        int version = version(base, had, wanted);
        int resumed = entries == null ? 0 : JournalResumptions.count(entries);
        String blocked = blocked(asked, lineage);
        if (blocked == null && (entries == null || isExpiring(base, seen.now()))) {
            blocked = "its retention is over and its data is being deleted";
        }
        if (blocked != null || entries == null) {
            return new RunPreview(asked, base, version, ReplayPreview.blocked(Objects.requireNonNull(blocked)), "", resumed);
        }
        List<EffectLedger.EffectRow> rows = new ArrayList<>();
        lineage.forEach(run -> rows.addAll(seen.ledgerRows().getOrDefault(run.id(), List.of())));
        ReplayPlanRequest order = wanted.order();
        ReplaySource past = new ReplaySource(
                base.lineage(),
                base.state(),
                entries,
                rows,
                compareVersions(lineage, entries, version),
                called,
                findRunsWithOtherInput(lineage, base),
                seen.now());
        ReplayOptions terms = new ReplayOptions(order.from(), wanted.editedInput(), version != had, order.redo(), order.confirmed())
                .notifying(order.notifications(), past);
        return new RunPreview(asked, base, version, ReplayPreview.of(past, terms), firstEntries(past, terms), resumed);
    }

    /** Returns the first journal entries of the replay: its options and the entries that it takes over. */
    private static String firstEntries(ReplaySource past, ReplayOptions terms) {
        List<JournalEntry> carried = new ArrayList<>(CarriedJournal.select(past.entries(), terms));
        if (!terms.redo().isEmpty()) {
            carried.addFirst(new JournalEntry.RedoRequest(past.now(), terms.redo()));
        }
        if (terms.notifications() == NotificationMode.NONE) {
            carried.addFirst(new JournalEntry.NotificationMute(past.now()));
        }
        return carried.isEmpty() ? "" : JournalCodec.encode(carried);
    }

    /**
     * Returns the runs of a lineage that had other input than this one, because a replay edited it.
     * A retry by key has the same data: the admission compared them.
     */
    static Set<RunId> findRunsWithOtherInput(List<StoredRows.RunRow> lineage, StoredRows.RunRow one) {
        Map<RunId, StoredRows.RunRow> runs = lineage.stream().collect(Collectors.toMap(StoredRows.RunRow::id, run -> run));
        Map<RunId, Integer> about = new HashMap<>();
        for (StoredRows.RunRow run : lineage) {
            StoredRows.RunRow base = run.replayOf() == null ? null : runs.get(run.replayOf());
            boolean edited = base != null && !StrictJson.parse(run.input()).equals(StrictJson.parse(base.input()));
            about.put(run.id(), edited ? about.size() + 1 : base == null ? 0 : about.getOrDefault(base.id(), 0));
        }
        int wantedGroup = about.getOrDefault(one.id(), 0);
        return about.keySet().stream()
                .filter(run -> about.getOrDefault(run, wantedGroup) != wantedGroup)
                .collect(Collectors.toSet());
    }

    /** Returns the runs that this run called. */
    Map<String, CalledRunState> findCalledRuns(StoredRows.RunRow run) {
        return called(readers.read(reads -> LineageSnapshot.read(reads, List.of(run.id()), run.ws())));
    }

    /** Returns the called runs of this page. A called run is kept as long as the lineage of its first caller. */
    private Map<String, CalledRunState> called(LineageSnapshot seen) {
        Map<String, CalledRunState> called = new HashMap<>();
        seen.calledRuns().forEach((ref, calledRun) -> {
            RunId first = calledRun.called().parent();
            StoredRows.RunRow caller = first == null ? null : seen.runs().get(first);
            boolean stays = caller != null && !isExpiring(seen.lineageOf(caller).getLast(), seen.now());
            StoredRows.RunRow run = calledRun.effective();
            called.put(ref, new CalledRunState(run.runIdText(), run.state(), !stays && isExpiring(run, seen.now())));
        });
        return called;
    }

    /**
     * Compares the steps of the next version with those of the lineage. Versions written in code cannot be compared.
     *
     * @param entries of the run to resume or to follow, which may have changed its version in place
     */
    DeclaredVersions compareVersions(List<StoredRows.RunRow> lineage, List<JournalEntry> entries, int next) {
        String workflowId = lineage.getLast().workflowId();
        Set<Integer> had = lineage.stream().map(StoredRows.RunRow::version).collect(Collectors.toCollection(TreeSet::new));
        for (JournalEntry entry : entries) {
            if (entry instanceof JournalEntry.RunResumption resumed) {
                had.add(resumed.version());
            }
        }
        had.remove(next);
        List<List<DeclaredStep>> others = new ArrayList<>();
        boolean compared = true;
        for (int other : had) {
            List<DeclaredStep> expectedSteps = expected(workflowId, other);
            compared &= expectedSteps != null;
            others.add(expectedSteps == null ? List.of() : expectedSteps);
        }
        return new DeclaredVersions(compared ? expected(workflowId, next) : null, others);
    }

    /** Whether its payloads are deleted or soon will be: a replay would not know what to reuse. */
    boolean isExpiring(StoredRows.RunRow run, long now) {
        StoredRows.RunEnd end = run.end();
        long kept = limits.payloadRetention().minus(margin(limits.payloadRetention())).toNanos() / 1_000;
        return end != null && end.endedAt() < now - kept;
    }

    /** An hour, at most a quarter of the retention. */
    private static Duration margin(Duration payloads) {
        Duration quarter = payloads.dividedBy(4);
        return quarter.compareTo(HOUR) < 0 ? quarter : HOUR;
    }

    /** Returns why the lineage cannot be replayed now, or null. */
    private static @Nullable String blocked(StoredRows.RunRow asked, List<StoredRows.RunRow> lineage) {
        for (StoredRows.RunRow run : lineage) {
            if (run.end() == null) {
                String who = run.id().equals(asked.id()) ? "it" : "its replay " + run.runIdText();
                return run.state() == RunState.IN_DOUBT
                        ? who + " is in doubt and waits for a decision"
                        : who + " has not ended";
            }
        }
        StoredRows.RunRow newest = lineage.getLast();
        return !newest.id().equals(asked.id()) && newest.state() == RunState.COMPLETED
                ? "its replay " + newest.runIdText() + " has completed"
                : null;
    }

    private int version(StoredRows.RunRow base, int had, PreviewRequest wanted) {
        if (!wanted.order().useCurrentVersion()) {
            return had;
        }
        try {
            CurrentWorkflow current = catalog.find(base.ws(), base.workflowId());
            return current == null ? had : current.published().version();
        } catch (WorkflowCatalog.WorkflowNotRegistered e) {
            StoredRows.WorkflowRow row = readers.readNullable(reads -> reads.workflow(base.ws(), base.workflowId()));
            return row == null ? had : row.version();
        }
    }

    private @Nullable List<DeclaredStep> expected(String workflowId, int version) {
        try {
            return catalog.version(workflowId, version).body().declaredSteps();
        } catch (WorkflowCatalog.WorkflowNotRegistered e) {
            return null; // the code is at another worker; its steps cannot be predicted in any case
        }
    }

    /**
     * Returns the items whose prediction has changed, each with the difference. Blocked items are never applied, so
     * they are skipped.
     */
    public Map<RunId, String> findChanged(List<ReplayPlanOperation.PlanItem> items, PreviewRequest wanted) {
        Map<RunId, RunPreview> now = new HashMap<>();
        preview(items.stream().map(ReplayPlanOperation.PlanItem::run).toList(), wanted)
                .forEach(one -> now.put(one.requested().id(), one));
        Map<RunId, String> moved = new HashMap<>();
        for (ReplayPlanOperation.PlanItem item : items) {
            String difference = item.worstAction() == 0 ? "" : difference(item, now.get(item.run()));
            if (!difference.isEmpty()) {
                moved.put(item.run(), difference);
            }
        }
        return Collections.unmodifiableMap(moved);
    }

    /** How often its run had been resumed when the plan was created. */
    static int countResumptions(ReplayPlanOperation.PlanItem item) {
        return StrictJson.parse(item.preview()).path(RESUMED).asInt(0);
    }

    /** Returns an empty text if nothing changed. */
    static String difference(ReplayPlanOperation.PlanItem item, @Nullable RunPreview now) {
        if (now == null) {
            return "the run is gone";
        }
        if (!now.base().id().equals(item.run())) {
            return "it was replayed by " + now.base().runIdText();
        }
        if (now.resumptions() != countResumptions(item)) {
            return "it was resumed in place since";
        }
        int planned = StrictJson.parse(item.preview()).path("version").asInt(now.version());
        if (planned != now.version() && now.preview().blocked() == null) {
            return "the plan used version " + planned + " of its workflow, and " + now.version() + " is current";
        }
        return String.join("; ", ReplayPreview.parse(item.preview()).differencesFrom(now.preview()));
    }
}
