package dev.semel.trials.simulation;

import dev.semel.effect.EffectLedger;
import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalEntry;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunState;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/** What must hold when a history has come to rest, by the rows of the store and the counts of the receivers. */
final class SimulationChecks {
    private static final int ALL = 10_000;

    private final Simulation.SharedState shared;
    private final List<String> broken = new ArrayList<>();

    SimulationChecks(Simulation.SharedState shared) {
        this.shared = shared;
    }

    static List<DatabaseRows.RunRow> runs(Simulation.SharedState shared) {
        int ws = Objects.requireNonNull(shared.reads().workspace("default")).ws();
        return shared.reads().runs(new StoreQueries.RunFilter(ws, null, null, null, false, 0, null, ALL, null));
    }

    /** The id that the run's input carries; it names the run's intent, whoever asked and how often. */
    static String idOf(DatabaseRows.RunRow run) {
        return StrictJsonCodec.parse(run.input()).get("id").asString();
    }

    static String effect(String id, EffectLedger.EffectRow effect) {
        String key = effect.details().key();
        String path = effect.details().path();
        return key.startsWith("once-") ? key : id + ":" + path.substring(path.lastIndexOf('/') + 1);
    }

    List<String> broken() {
        Map<String, DatabaseRows.RunRow> byId = new TreeMap<>();
        for (DatabaseRows.RunRow run : runs(shared)) {
            String id = idOf(run);
            if (byId.put(id, run) != null) {
                broken.add("two runs for one key: " + id);
            }
        }
        acknowledged(byId);
        byId.forEach(this::run);
        byId.forEach((id, run) -> end(id, run, byId));
        shared.receivers().effects().forEach((name, counts) -> effect(name, counts, byId));
        broken.addAll(shared.receivers().broken());
        return broken;
    }

    private void acknowledged(Map<String, DatabaseRows.RunRow> byId) {
        shared.acknowledged.forEach((id, reported) -> {
            DatabaseRows.RunRow run = byId.get(id);
            if (reported.size() > 1) {
                broken.add("one key, several answers: " + id + " " + reported);
            }
            if (run == null || !reported.contains(run.runIdText())) {
                broken.add("an acknowledged trigger has no run: " + id);
            }
        });
    }

    private void run(String id, DatabaseRows.RunRow run) {
        StoreQueries reads = shared.reads();
        List<JournalEntry> entries = new ArrayList<>();
        reads.journal(run.id()).forEach(chunk -> entries.addAll(JournalCodec.decode(chunk.entries())));
        DatabaseRows.RunEnd end = run.end();
        if (end != null) {
            entries.addAll(JournalCodec.decode(end.entries()));
        }
        results(id, entries);
        if ((end != null) == (run.progress() != null)) {
            broken.add("a run is either at work or ended: " + id);
        }
        long keys = reads.signals(run.id()).stream()
                .map(DatabaseRows.SignalRow::key)
                .distinct()
                .count();
        if (keys != reads.signals(run.id()).size()) {
            broken.add("a signal arrived twice: " + id);
        }
    }

    private void results(String id, List<JournalEntry> entries) {
        Map<String, Integer> results = new HashMap<>();
        for (JournalEntry entry : entries) {
            if (entry instanceof JournalEntry.StepResult || entry instanceof JournalEntry.StepFailure) {
                results.merge(entry.path(), 1, Integer::sum);
            }
            if (entry instanceof JournalEntry.StepResult done && done.kind() == JournalEntry.EntryKind.EFFECT) {
                done(id, done);
            }
        }
        results.forEach((path, times) -> {
            if (times > 1) {
                broken.add("a step has " + times + " results: " + id + " " + path);
            }
        });
    }

    private void done(String id, JournalEntry.StepResult done) {
        String result = done.result().asString("");
        boolean says = result.startsWith("done ");
        if (done.outcome() != JournalEntry.StepOutcome.INDETERMINATE
                && (!says || !shared.receivers().accepted(result.substring("done ".length())))) {
            broken.add("recorded as done and never accepted: " + id + " " + done.path());
        }
        if (done.outcome() != JournalEntry.StepOutcome.DONE) {
            shared.met("recorded " + done.outcome());
        }
    }

    private void end(String id, DatabaseRows.RunRow run, Map<String, DatabaseRows.RunRow> byId) {
        RandomProgram program = shared.program(id);
        boolean childFailed = program.children(id).stream()
                .map(byId::get)
                .anyMatch(child -> child != null && child.state() == RunState.FAILED);
        boolean right = switch (run.state()) {
            case COMPLETED -> !program.fails() && !childFailed;
            case FAILED -> program.fails() || childFailed;
            case CANCELLED -> shared.cancelled.contains(id) || wentWithItsParent(id, byId);
            case WAITING, HELD, IN_DOUBT, QUEUED, STARTED, RUNNING -> LivenessPhase.mayRest(shared, run);
        };
        shared.met("ended " + run.state());
        if (!right) {
            DatabaseRows.RunEnd end = run.end();
            DatabaseRows.RunProgress work = run.progress();
            String why = end == null
                    ? ""
                    : " " + end.result().errorCode() + " " + end.result().errorMessage();
            broken.add("not the end of its program: " + id + " " + program.ops() + " is " + run.state() + why
                    + (work == null ? "" : " " + work));
        }
    }

    /** A cancelled run takes the child along that it waits for. */
    private static boolean wentWithItsParent(String id, Map<String, DatabaseRows.RunRow> byId) {
        DatabaseRows.RunRow parent = id.contains("/") ? byId.get(id.substring(0, id.lastIndexOf('/'))) : null;
        return parent != null && parent.state() == RunState.CANCELLED;
    }

    private void effect(String name, SimulatedReceivers.EffectCounts counts, Map<String, DatabaseRows.RunRow> byId) {
        int accepted = counts.acceptedAt.size();
        switch (counts.kind) {
            case PROVIDER_KEY, LOOKUP -> {
                atMost(1, accepted, "accepted under " + counts.kind, name);
            }
            case UNDO -> {
                atMost(1, accepted, "undone", name);
                DatabaseRows.RunRow run = byId.get(name.substring(0, name.indexOf(':')));
                if (run == null || run.state() == RunState.COMPLETED) {
                    broken.add("undone in a run that did not fail: " + name);
                }
            }
            case AT_MOST_ONCE -> atMost(1, counts.requests, "requests under AT_MOST_ONCE", name);
            case ASK -> {
                atMost(1 + counts.doubtsDenied, counts.requests, "requests under ASK", name);
                atMost(1, accepted, "accepted under ASK", name);
            }
            case ONCE -> once(name, counts.acceptedAt);
            case REPEATABLE, STEP, SLEEP, AWAIT, AWAIT_FOR, EACH, CHILD, COMPENSATE, FAIL -> {}
        }
        sameKey(name, counts.kind == RandomProgram.Kind.ONCE ? accepted + 1 : 1, counts.keys);
    }

    private void sameKey(String name, int most, Set<String> keys) {
        if (keys.size() > most) {
            broken.add("the key of a effect changed: " + name + " went out under " + keys.size() + " keys");
        }
    }

    private void once(String name, List<Long> acceptedAt) {
        for (int i = 1; i < acceptedAt.size(); i++) {
            if (acceptedAt.get(i) - acceptedAt.get(i - 1) < ProgramExecution.ONCE_WINDOW.toNanos() / 1_000) {
                broken.add("accepted twice inside its window: " + name);
            }
        }
    }

    private void atMost(int most, int seen, String what, String name) {
        if (seen > most) {
            broken.add(seen + " times, not " + most + ": " + what + ": " + name);
        }
    }

    /** For a report. */
    static String lines(Collection<String> lines) {
        return String.join("\n", lines);
    }
}
