package dev.semel.engine;

import dev.semel.effect.Ledger;
import dev.semel.journal.Entry;
import dev.semel.journal.Journal;
import dev.semel.journal.Resumptions;
import dev.semel.json.Json;
import dev.semel.replay.Action;
import dev.semel.replay.Called;
import dev.semel.replay.Carried;
import dev.semel.replay.Notify;
import dev.semel.replay.Order;
import dev.semel.replay.Outlook;
import dev.semel.replay.Past;
import dev.semel.replay.Terms;
import dev.semel.replay.Versions;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Replay;
import dev.semel.store.Rows;
import dev.semel.workflow.Current;
import dev.semel.workflow.Expected;
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
public final class Planner {
    private static final String RESUMED = "resumed";
    private static final Duration HOUR = Duration.ofHours(1);

    private final Readers readers;
    private final Catalog catalog;
    private final Limits limits;

    public Planner(Readers readers, Catalog catalog, Limits limits) {
        this.readers = readers;
        this.catalog = catalog;
        this.limits = limits;
    }

    /**
     * The options of a preview.
     *
     * @param otherInput the replays get an edited input
     */
    public record Wanted(int workspace, Order order, boolean otherInput) {}

    /**
     * The predicted replay of one run.
     *
     * @param asked the requested run
     * @param base the newest run of its lineage, which is replayed
     * @param version the workflow version of the replay
     * @param carried the first entries of the replay's journal
     * @param resumed how often the base was resumed in place
     */
    public record Prospect(Rows.Run asked, Rows.Run base, int version, Outlook outlook, String carried, int resumed) {
        public Replay.Item item() {
            Action worst = outlook.worst();
            ObjectNode body = outlook.toJson();
            body.put("run_id", base.runIdText())
                    .put("workflow_id", base.workflowId())
                    .put("version", version)
                    .put("status", base.state().word());
            if (resumed > 0) {
                body.put(RESUMED, resumed);
            }
            return new Replay.Item(
                    base.id(),
                    worst == null ? 0 : worst.ordinal() + 1,
                    outlook.actions(),
                    Json.write(body),
                    Replay.Fate.PLANNED,
                    null,
                    "");
        }
    }

    /** Previews runs, in any order. Deleted runs and runs of other workspaces are left out. */
    public List<Prospect> look(List<RunId> ids, Wanted wanted) {
        Hindsight seen = readers.ask(reads -> Hindsight.of(reads, ids, wanted.workspace()));
        Map<String, Called> called = called(seen);
        List<Prospect> all = new ArrayList<>();
        seen.runs().values().stream()
                .filter(run -> ids.contains(run.id()))
                .forEach(run -> all.add(prospect(run, seen, called, wanted)));
        return all;
    }

    private Prospect prospect(Rows.Run asked, Hindsight seen, Map<String, Called> called, Wanted wanted) {
        List<Rows.Run> lineage = seen.line(asked);
        Rows.Run base = lineage.getLast();
        List<Entry> entries = seen.journal(base);
        int had = entries == null ? base.version() : Resumptions.version(entries, base.version());
        int version = version(base, had, wanted);
        int resumed = entries == null ? 0 : Resumptions.count(entries);
        String blocked = blocked(asked, lineage);
        if (blocked == null && (entries == null || isGoing(base, seen.now()))) {
            blocked = "its retention is over and its data is being deleted";
        }
        if (blocked != null || entries == null) {
            return new Prospect(asked, base, version, Outlook.blocked(Objects.requireNonNull(blocked)), "", resumed);
        }
        List<Ledger.Row> rows = new ArrayList<>();
        lineage.forEach(run -> rows.addAll(seen.rows().getOrDefault(run.id(), List.of())));
        Order order = wanted.order();
        Past past = new Past(
                base.lineage(),
                base.state(),
                entries,
                rows,
                versions(lineage, entries, version),
                called,
                otherData(lineage, base),
                seen.now());
        Terms terms = new Terms(order.from(), wanted.otherInput(), version != had, order.redo(), order.confirmed())
                .notifying(order.telling(), past);
        return new Prospect(asked, base, version, Outlook.of(past, terms), firstEntries(past, terms), resumed);
    }

    /** Returns the first journal entries of the replay: its options and the entries that it takes over. */
    private static String firstEntries(Past past, Terms terms) {
        List<Entry> carried = new ArrayList<>(Carried.of(past.entries(), terms));
        if (!terms.redo().isEmpty()) {
            carried.addFirst(new Entry.Redo(past.now(), terms.redo()));
        }
        if (terms.telling() == Notify.NONE) {
            carried.addFirst(new Entry.Quiet(past.now()));
        }
        return carried.isEmpty() ? "" : Journal.encode(carried);
    }

    /**
     * Returns the runs of a lineage that had other input than this one, because a replay edited it.
     * A retry by key has the same data: the admission compared them.
     */
    static Set<RunId> otherData(List<Rows.Run> lineage, Rows.Run one) {
        Map<RunId, Rows.Run> runs = lineage.stream().collect(Collectors.toMap(Rows.Run::id, run -> run));
        Map<RunId, Integer> about = new HashMap<>();
        for (Rows.Run run : lineage) {
            Rows.Run base = run.replayOf() == null ? null : runs.get(run.replayOf());
            boolean edited = base != null && !Json.parse(run.input()).equals(Json.parse(base.input()));
            about.put(run.id(), edited ? about.size() + 1 : base == null ? 0 : about.getOrDefault(base.id(), 0));
        }
        int wantedGroup = about.getOrDefault(one.id(), 0);
        return about.keySet().stream()
                .filter(run -> about.getOrDefault(run, wantedGroup) != wantedGroup)
                .collect(Collectors.toSet());
    }

    /** Returns the runs that this run called. */
    Map<String, Called> calledBy(Rows.Run run) {
        return called(readers.ask(reads -> Hindsight.of(reads, List.of(run.id()), run.ws())));
    }

    /** Returns the called runs of this page. A called run is kept as long as the lineage of its first caller. */
    private Map<String, Called> called(Hindsight seen) {
        Map<String, Called> called = new HashMap<>();
        seen.called().forEach((ref, calledRun) -> {
            RunId first = calledRun.called().parent();
            Rows.Run caller = first == null ? null : seen.runs().get(first);
            boolean stays = caller != null && !isGoing(seen.line(caller).getLast(), seen.now());
            Rows.Run run = calledRun.speaks();
            called.put(ref, new Called(run.runIdText(), run.state(), !stays && isGoing(run, seen.now())));
        });
        return called;
    }

    /**
     * Compares the steps of the next version with those of the lineage. Versions written in code cannot be compared.
     *
     * @param entries of the run to resume or to follow, which may have changed its version in place
     */
    Versions versions(List<Rows.Run> lineage, List<Entry> entries, int next) {
        String workflowId = lineage.getLast().workflowId();
        Set<Integer> had = lineage.stream().map(Rows.Run::version).collect(Collectors.toCollection(TreeSet::new));
        for (Entry entry : entries) {
            if (entry instanceof Entry.Resumed resumed) {
                had.add(resumed.version());
            }
        }
        had.remove(next);
        List<List<Expected>> others = new ArrayList<>();
        boolean compared = true;
        for (int other : had) {
            List<Expected> expectedSteps = expected(workflowId, other);
            compared &= expectedSteps != null;
            others.add(expectedSteps == null ? List.of() : expectedSteps);
        }
        return new Versions(compared ? expected(workflowId, next) : null, others);
    }

    /** Whether its payloads are deleted or soon will be: a replay would not know what to reuse. */
    boolean isGoing(Rows.Run run, long now) {
        Rows.End end = run.end();
        long kept = limits.payloads().minus(margin(limits.payloads())).toNanos() / 1_000;
        return end != null && end.endedAt() < now - kept;
    }

    /** An hour, at most a quarter of the retention. */
    private static Duration margin(Duration payloads) {
        Duration quarter = payloads.dividedBy(4);
        return quarter.compareTo(HOUR) < 0 ? quarter : HOUR;
    }

    /** Returns why the lineage cannot be replayed now, or null. */
    private static @Nullable String blocked(Rows.Run asked, List<Rows.Run> lineage) {
        for (Rows.Run run : lineage) {
            if (run.end() == null) {
                String who = run.id().equals(asked.id()) ? "it" : "its replay " + run.runIdText();
                return run.state() == RunState.IN_DOUBT
                        ? who + " is in doubt and waits for a decision"
                        : who + " has not ended";
            }
        }
        Rows.Run newest = lineage.getLast();
        return !newest.id().equals(asked.id()) && newest.state() == RunState.COMPLETED
                ? "its replay " + newest.runIdText() + " has completed"
                : null;
    }

    private int version(Rows.Run base, int had, Wanted wanted) {
        if (!wanted.order().asItIs()) {
            return had;
        }
        try {
            Current current = catalog.find(base.ws(), base.workflowId());
            return current == null ? had : current.published().version();
        } catch (Catalog.NotKnownHere e) {
            Rows.Workflow row = readers.maybe(reads -> reads.workflow(base.ws(), base.workflowId()));
            return row == null ? had : row.version();
        }
    }

    private @Nullable List<Expected> expected(String workflowId, int version) {
        try {
            return catalog.version(workflowId, version).body().expected();
        } catch (Catalog.NotKnownHere e) {
            return null; // the code is at another worker; its steps cannot be predicted in any case
        }
    }

    /**
     * Returns the items whose prediction has changed, each with the difference. Blocked items are never applied, so
     * they are skipped.
     */
    public Map<RunId, String> moved(List<Replay.Item> items, Wanted wanted) {
        Map<RunId, Prospect> now = new HashMap<>();
        look(items.stream().map(Replay.Item::run).toList(), wanted)
                .forEach(one -> now.put(one.asked().id(), one));
        Map<RunId, String> moved = new HashMap<>();
        for (Replay.Item item : items) {
            String difference = item.worst() == 0 ? "" : difference(item, now.get(item.run()));
            if (!difference.isEmpty()) {
                moved.put(item.run(), difference);
            }
        }
        return Collections.unmodifiableMap(moved);
    }

    /** How often its run had been resumed when the plan was created. */
    static int resumed(Replay.Item item) {
        return Json.parse(item.body()).path(RESUMED).asInt(0);
    }

    /** Returns an empty text if nothing changed. */
    static String difference(Replay.Item item, @Nullable Prospect now) {
        if (now == null) {
            return "the run is gone";
        }
        if (!now.base().id().equals(item.run())) {
            return "it was replayed by " + now.base().runIdText();
        }
        if (now.resumed() != resumed(item)) {
            return "it was resumed in place since";
        }
        int planned = Json.parse(item.body()).path("version").asInt(now.version());
        if (planned != now.version() && now.outlook().blocked() == null) {
            return "the plan used version " + planned + " of its workflow, and " + now.version() + " is current";
        }
        return String.join("; ", Outlook.parse(item.body()).against(now.outlook()));
    }
}
