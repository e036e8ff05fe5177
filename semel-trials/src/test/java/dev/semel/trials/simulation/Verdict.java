package dev.semel.trials.simulation;

import dev.semel.effect.Ledger;
import dev.semel.journal.Entry;
import dev.semel.journal.Journal;
import dev.semel.json.Json;
import dev.semel.run.RunState;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/** What must hold when a history has come to rest, by the rows of the store and the counts of the receivers. */
final class Verdict {
    private static final int ALL = 10_000;

    private final Simulation.World world;
    private final List<String> broken = new ArrayList<>();

    Verdict(Simulation.World world) {
        this.world = world;
    }

    static List<Rows.Run> runs(Simulation.World world) {
        int ws = Objects.requireNonNull(world.reads().workspace("default")).ws();
        return world.reads().runs(new Reads.RunFilter(ws, null, null, null, false, 0, null, ALL));
    }

    /** The id that the run's input carries; it names the run's intent, whoever asked and how often. */
    static String idOf(Rows.Run run) {
        return Json.parse(run.input()).get("id").asString();
    }

    static String deed(String id, Ledger.Row effect) {
        String key = effect.facts().key();
        String path = effect.facts().path();
        return key.startsWith("once-") ? key : id + ":" + path.substring(path.lastIndexOf('/') + 1);
    }

    List<String> broken() {
        Map<String, Rows.Run> byId = new TreeMap<>();
        for (Rows.Run run : runs(world)) {
            String id = idOf(run);
            if (byId.put(id, run) != null) {
                broken.add("two runs for one key: " + id);
            }
        }
        acknowledged(byId);
        byId.forEach(this::run);
        byId.forEach((id, run) -> end(id, run, byId));
        world.receivers().deeds().forEach((name, seen) -> deed(name, seen, byId));
        broken.addAll(world.receivers().broken());
        return broken;
    }

    private void acknowledged(Map<String, Rows.Run> byId) {
        world.acknowledged.forEach((id, told) -> {
            Rows.Run run = byId.get(id);
            if (told.size() > 1) {
                broken.add("one key, several answers: " + id + " " + told);
            }
            if (run == null || !told.contains(run.runIdText())) {
                broken.add("an acknowledged trigger has no run: " + id);
            }
        });
    }

    private void run(String id, Rows.Run run) {
        Reads reads = world.reads();
        List<Entry> entries = new ArrayList<>();
        reads.journal(run.id()).forEach(chunk -> entries.addAll(Journal.decode(chunk.entries())));
        Rows.End end = run.end();
        if (end != null) {
            entries.addAll(Journal.decode(end.entries()));
        }
        results(id, entries);
        if ((end != null) == (run.work() != null)) {
            broken.add("a run is either at work or ended: " + id);
        }
        long keys = reads.signals(run.id()).stream()
                .map(Rows.Signal::key)
                .distinct()
                .count();
        if (keys != reads.signals(run.id()).size()) {
            broken.add("a signal arrived twice: " + id);
        }
    }

    private void results(String id, List<Entry> entries) {
        Map<String, Integer> results = new HashMap<>();
        for (Entry entry : entries) {
            if (entry instanceof Entry.Done || entry instanceof Entry.Failed) {
                results.merge(entry.path(), 1, Integer::sum);
            }
            if (entry instanceof Entry.Done done && done.kind() == Entry.Kind.EFFECT) {
                done(id, done);
            }
        }
        results.forEach((path, times) -> {
            if (times > 1) {
                broken.add("a step has " + times + " results: " + id + " " + path);
            }
        });
    }

    private void done(String id, Entry.Done done) {
        String result = done.result().asString("");
        boolean says = result.startsWith("done ");
        if (done.how() != Entry.How.INDETERMINATE
                && (!says || !world.receivers().accepted(result.substring("done ".length())))) {
            broken.add("recorded as done and never accepted: " + id + " " + done.path());
        }
        if (done.how() != Entry.How.DONE) {
            world.met("recorded " + done.how());
        }
    }

    private void end(String id, Rows.Run run, Map<String, Rows.Run> byId) {
        Program program = world.program(id);
        boolean childFailed = program.children(id).stream()
                .map(byId::get)
                .anyMatch(child -> child != null && child.state() == RunState.FAILED);
        boolean right = switch (run.state()) {
            case COMPLETED -> !program.fails() && !childFailed;
            case FAILED -> program.fails() || childFailed;
            case CANCELLED -> world.cancelled.contains(id) || wentWithItsParent(id, byId);
            case WAITING, IN_DOUBT, QUEUED, STARTED, RUNNING -> Liveness.mayRest(world, run);
        };
        world.met("ended " + run.state());
        if (!right) {
            Rows.End end = run.end();
            Rows.Work work = run.work();
            String why = end == null
                    ? ""
                    : " " + end.ending().errorCode() + " " + end.ending().errorMessage();
            broken.add("not the end of its program: " + id + " " + program.ops() + " is " + run.state() + why
                    + (work == null ? "" : " " + work));
        }
    }

    /** A cancelled run takes the child along that it waits for. */
    private static boolean wentWithItsParent(String id, Map<String, Rows.Run> byId) {
        Rows.Run parent = id.contains("/") ? byId.get(id.substring(0, id.lastIndexOf('/'))) : null;
        return parent != null && parent.state() == RunState.CANCELLED;
    }

    private void deed(String name, Receivers.Seen seen, Map<String, Rows.Run> byId) {
        int accepted = seen.acceptedAt.size();
        switch (seen.kind) {
            case PROVIDER_KEY, LOOKUP -> {
                atMost(1, accepted, "accepted under " + seen.kind, name);
            }
            case UNDO -> {
                atMost(1, accepted, "undone", name);
                Rows.Run run = byId.get(name.substring(0, name.indexOf(':')));
                if (run == null || run.state() == RunState.COMPLETED) {
                    broken.add("undone in a run that did not fail: " + name);
                }
            }
            case AT_MOST_ONCE -> atMost(1, seen.requests, "requests under AT_MOST_ONCE", name);
            case ASK -> {
                atMost(1 + seen.doubtsDenied, seen.requests, "requests under ASK", name);
                atMost(1, accepted, "accepted under ASK", name);
            }
            case ONCE -> once(name, seen.acceptedAt);
            case REPEATABLE, STEP, SLEEP, AWAIT, AWAIT_FOR, EACH, CHILD, COMPENSATE, FAIL -> {}
        }
        sameKey(name, seen.kind == Program.Kind.ONCE ? accepted + 1 : 1, seen.keys);
    }

    private void sameKey(String name, int most, Set<String> keys) {
        if (keys.size() > most) {
            broken.add("the key of a deed changed: " + name + " went out under " + keys.size() + " keys");
        }
    }

    private void once(String name, List<Long> acceptedAt) {
        for (int i = 1; i < acceptedAt.size(); i++) {
            if (acceptedAt.get(i) - acceptedAt.get(i - 1) < Playing.ONCE_WINDOW.toNanos() / 1_000) {
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
