package dev.semel.engine.replay;

import dev.semel.definition.DeclaredStep;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.effect.EffectLedger;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.commit.StoreQueryThreadPool;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalEntry;
import dev.semel.journal.ResumedRunJournalReader;
import dev.semel.json.StrictJsonCodec;
import dev.semel.replay.ChildRunState;
import dev.semel.replay.ReplayDeclaredStepsByVersion;
import dev.semel.replay.ReplayJournalEntrySelector;
import dev.semel.replay.ReplayNotificationMode;
import dev.semel.replay.ReplayOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.ReplayPlannerInput;
import dev.semel.replay.ReplayPreview;
import dev.semel.replay.SafeReplayStepAction;
import dev.semel.run.MicrosecondConverter;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.DatabaseRows;
import dev.semel.store.ReplayPlanStoreWriteCommand;
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
public final class RunReplayPreviewer {
    private static final String RESUMED = "resumed";
    private static final Duration HOUR = Duration.ofHours(1);

    private final StoreQueryThreadPool readers;
    private final WorkflowCatalog catalog;
    private final EngineLimits limits;

    public RunReplayPreviewer(StoreQueryThreadPool readers, WorkflowCatalog catalog, EngineLimits limits) {
        this.readers = readers;
        this.catalog = catalog;
        this.limits = limits;
    }

    public record PreviewRequest(int workspace, ReplayPlanRequest order, boolean editedInput) {}

    /**
     * @param base the newest run of its lineage, which is replayed
     * @param carriedJournal the first entries of the replay's journal
     * @param resumptions how often the base was resumed in place
     */
    public record RunPreview(
            DatabaseRows.RunRow requested,
            DatabaseRows.RunRow base,
            int version,
            ReplayPreview preview,
            String carriedJournal,
            int resumptions) {
        public ReplayPlanStoreWriteCommand.PlanItem toPlanItem() {
            SafeReplayStepAction worst = preview.worst();
            ObjectNode body = preview.toJson();
            body.put("run_id", base.runIdText())
                    .put("workflow_id", base.workflowId())
                    .put("version", version)
                    .put("status", base.state().wireName());
            if (resumptions > 0) {
                body.put(RESUMED, resumptions);
            }
            return new ReplayPlanStoreWriteCommand.PlanItem(
                    base.id(),
                    worst == null ? 0 : worst.ordinal() + 1,
                    preview.actions(),
                    StrictJsonCodec.write(body),
                    ReplayPlanStoreWriteCommand.ItemOutcome.PLANNED,
                    null,
                    "",
                    preview.resendUntil());
        }
    }

    /** Previews runs, in any order. Deleted runs and runs of other workspaces are left out. */
    public List<RunPreview> preview(List<RunId> ids, PreviewRequest wanted) {
        ReplayPreviewSnapshot lineageSnapshot =
                readers.read(reads -> ReplayPreviewSnapshot.read(reads, ids, wanted.workspace()));
        Map<String, ChildRunState> called = called(lineageSnapshot);
        List<RunPreview> all = new ArrayList<>();
        lineageSnapshot.runs().values().stream()
                .filter(run -> ids.contains(run.id()))
                .forEach(run -> all.add(prospect(run, lineageSnapshot, called, wanted)));
        return all;
    }

    private RunPreview prospect(
            DatabaseRows.RunRow row,
            ReplayPreviewSnapshot lineageSnapshot,
            Map<String, ChildRunState> called,
            PreviewRequest wanted) {
        List<DatabaseRows.RunRow> lineage = lineageSnapshot.lineageOf(row);
        DatabaseRows.RunRow base = lineage.getLast();
        List<JournalEntry> entries = lineageSnapshot.journalOf(base);
        int had = entries == null ? base.version() : ResumedRunJournalReader.effectiveVersion(entries, base.version());
        int version = version(base, had, wanted);
        int resumed = entries == null ? 0 : ResumedRunJournalReader.count(entries);
        String blocked = blocked(row, lineage);
        if (blocked == null && (entries == null || isExpiring(base, lineageSnapshot.now()))) {
            blocked = "its retention period has ended and Semel is deleting its data";
        }
        if (blocked != null || entries == null) {
            return new RunPreview(
                    row, base, version, ReplayPreview.blocked(Objects.requireNonNull(blocked)), "", resumed);
        }
        List<EffectLedger.EffectRow> rows = new ArrayList<>();
        lineage.forEach(run -> rows.addAll(lineageSnapshot.ledgerRows().getOrDefault(run.id(), List.of())));
        ReplayPlanRequest order = wanted.order();
        ReplayPlannerInput source = new ReplayPlannerInput(
                base.lineage(),
                base.state(),
                entries,
                rows,
                compareVersions(lineage, entries, version),
                called,
                findRunsWithOtherInput(lineage, base),
                lineageSnapshot.now());
        ReplayOptions terms = new ReplayOptions(
                        order.from(), wanted.editedInput(), version != had, order.redo(), order.confirmed())
                .notifying(order.notifications(), source);
        return new RunPreview(
                row, base, version, ReplayPreview.of(source, terms), firstEntries(source, terms), resumed);
    }

    /** Returns the first journal entries of the replay: its options and the entries that it takes over. */
    private static String firstEntries(ReplayPlannerInput source, ReplayOptions terms) {
        List<JournalEntry> carried = new ArrayList<>(ReplayJournalEntrySelector.select(source.entries(), terms));
        if (!terms.redo().isEmpty()) {
            carried.addFirst(new JournalEntry.RedoRequest(source.now(), terms.redo()));
        }
        if (terms.notifications() == ReplayNotificationMode.NONE) {
            carried.addFirst(new JournalEntry.NotificationMute(source.now()));
        }
        return carried.isEmpty() ? "" : JournalCodec.encode(carried);
    }

    /** A replay may have edited the input. A retry by key has the same data: the admission compared them. */
    static Set<RunId> findRunsWithOtherInput(List<DatabaseRows.RunRow> lineage, DatabaseRows.RunRow one) {
        Map<RunId, DatabaseRows.RunRow> runs =
                lineage.stream().collect(Collectors.toMap(DatabaseRows.RunRow::id, run -> run));
        Map<RunId, Integer> about = new HashMap<>();
        for (DatabaseRows.RunRow run : lineage) {
            DatabaseRows.RunRow base = run.replayOf() == null ? null : runs.get(run.replayOf());
            boolean edited =
                    base != null && !StrictJsonCodec.parse(run.input()).equals(StrictJsonCodec.parse(base.input()));
            about.put(run.id(), edited ? about.size() + 1 : base == null ? 0 : about.getOrDefault(base.id(), 0));
        }
        int wantedGroup = about.getOrDefault(one.id(), 0);
        return about.keySet().stream()
                .filter(run -> about.getOrDefault(run, wantedGroup) != wantedGroup)
                .collect(Collectors.toSet());
    }

    Map<String, ChildRunState> findCalledRuns(DatabaseRows.RunRow run) {
        return called(readers.read(reads -> ReplayPreviewSnapshot.read(reads, List.of(run.id()), run.ws())));
    }

    /** Returns the called runs of this page. A called run is kept as long as the lineage of its first caller. */
    private Map<String, ChildRunState> called(ReplayPreviewSnapshot lineageSnapshot) {
        Map<String, ChildRunState> called = new HashMap<>();
        lineageSnapshot.calledRuns().forEach((ref, calledRun) -> {
            RunId first = calledRun.called().parent();
            DatabaseRows.RunRow caller =
                    first == null ? null : lineageSnapshot.runs().get(first);
            boolean stays = caller != null
                    && !isExpiring(lineageSnapshot.lineageOf(caller).getLast(), lineageSnapshot.now());
            DatabaseRows.RunRow run = calledRun.effective();
            called.put(
                    ref,
                    new ChildRunState(run.runIdText(), run.state(), !stays && isExpiring(run, lineageSnapshot.now())));
        });
        return called;
    }

    /** Code versions cannot be compared. {@code entries}: of the run to resume or follow; it may change its version. */
    ReplayDeclaredStepsByVersion compareVersions(
            List<DatabaseRows.RunRow> lineage, List<JournalEntry> entries, int next) {
        String workflowId = lineage.getLast().workflowId();
        Set<Integer> had =
                lineage.stream().map(DatabaseRows.RunRow::version).collect(Collectors.toCollection(TreeSet::new));
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
        return new ReplayDeclaredStepsByVersion(compared ? expected(workflowId, next) : null, others);
    }

    /** Whether its payloads are deleted or soon will be: a replay would not know what to reuse. */
    boolean isExpiring(DatabaseRows.RunRow run, long now) {
        DatabaseRows.RunEnd end = run.end();
        long kept = MicrosecondConverter.of(limits.payloadRetention().minus(margin(limits.payloadRetention())));
        return end != null && end.endedAt() < now - kept;
    }

    /** An hour, at most a quarter of the retention. */
    private static Duration margin(Duration payloads) {
        Duration quarter = payloads.dividedBy(4);
        return quarter.compareTo(HOUR) < 0 ? quarter : HOUR;
    }

    /** Returns why the lineage cannot be replayed now, or null. */
    private static @Nullable String blocked(DatabaseRows.RunRow row, List<DatabaseRows.RunRow> lineage) {
        for (DatabaseRows.RunRow run : lineage) {
            if (run.end() == null) {
                String who = run.id().equals(row.id()) ? "it" : "its replay " + run.runIdText();
                boolean retries = run.progress() != null
                        && String.valueOf(run.progress().waitingFor()).contains("\"retry\"");
                return run.state() == RunState.IN_DOUBT
                        ? who + " has an effect in doubt and waits for a decision"
                        : who + " has not ended" + (retries ? "; it sends its effect again by itself" : "");
            }
        }
        DatabaseRows.RunRow newest = lineage.getLast();
        return !newest.id().equals(row.id()) && newest.state() == RunState.COMPLETED
                ? "its replay " + newest.runIdText() + " has completed"
                : null;
    }

    private int version(DatabaseRows.RunRow base, int had, PreviewRequest wanted) {
        if (!wanted.order().useCurrentVersion()) {
            return had;
        }
        try {
            WorkflowCatalogEntry current = catalog.find(base.ws(), base.workflowId());
            return current == null ? had : current.published().version();
        } catch (WorkflowCatalog.WorkflowNotRegistered e) {
            DatabaseRows.WorkflowRow row = readers.readNullable(reads -> reads.workflow(base.ws(), base.workflowId()));
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

    /** Returns each with its difference. Blocked items are skipped, because they are never applied. */
    public Map<RunId, String> findChanged(List<ReplayPlanStoreWriteCommand.PlanItem> items, PreviewRequest wanted) {
        Map<RunId, RunPreview> now = new HashMap<>();
        preview(items.stream().map(ReplayPlanStoreWriteCommand.PlanItem::run).toList(), wanted)
                .forEach(one -> now.put(one.requested().id(), one));
        Map<RunId, String> moved = new HashMap<>();
        for (ReplayPlanStoreWriteCommand.PlanItem item : items) {
            String difference = item.worstAction() == 0 ? "" : difference(item, now.get(item.run()));
            if (!difference.isEmpty()) {
                moved.put(item.run(), difference);
            }
        }
        return Collections.unmodifiableMap(moved);
    }

    /** How often its run had been resumed when the plan was created. */
    static int countResumptions(ReplayPlanStoreWriteCommand.PlanItem item) {
        return StrictJsonCodec.parse(item.preview()).path(RESUMED).asInt(0);
    }

    /** Returns an empty text if nothing changed. */
    static String difference(ReplayPlanStoreWriteCommand.PlanItem item, @Nullable RunPreview now) {
        if (now == null) {
            return "the run no longer exists";
        }
        if (!now.base().id().equals(item.run())) {
            return "it was replayed by " + now.base().runIdText();
        }
        if (now.resumptions() != countResumptions(item)) {
            return "the run was resumed after the plan was created";
        }
        int planned = StrictJsonCodec.parse(item.preview()).path("version").asInt(now.version());
        if (planned != now.version() && now.preview().blocked() == null) {
            return "the plan used version " + planned + " of its workflow, but version " + now.version()
                    + " is current";
        }
        return String.join("; ", ReplayPreview.parse(item.preview()).differencesFrom(now.preview()));
    }
}
