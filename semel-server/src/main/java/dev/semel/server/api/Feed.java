package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.json.Json;
import dev.semel.run.RunId;
import dev.semel.store.Reads;
import dev.semel.store.Review;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The newest runs of a workspace and what became of them, found by comparing two looks. A run that is older than the
 * newest hundred is told only when a duplicate meets it.
 */
final class Feed {
    private static final int NEWEST = 100;
    private static final int FIRST = 50;
    private static final int KEPT = 2_000;
    private static final long FRESH = TimeUnit.MILLISECONDS.toNanos(900);

    private final Semel semel;
    private final int workspace;
    private final Deque<Change> changes = new ArrayDeque<>();
    private Map<RunId, String> stood = new HashMap<>();
    private @Nullable RunId lastRequest;
    private Set<String> waiting = Set.of();
    private long count;
    private long lookedAt;
    private boolean primed;
    private byte[] begin = new byte[0];
    private News told = new News(new byte[0], 0);
    private long toldFrom;

    Feed(Semel semel, int workspace) {
        this.semel = semel;
        this.workspace = workspace;
    }

    private record Change(long number, String text) {}

    /** What is sent to a listener, made once for all that are as far. */
    record News(byte[] text, long upTo) {}

    /** What changed behind this number; with -1 the newest runs as they stand, oldest first. */
    synchronized News since(long number) {
        long now = semel.nanos();
        if (!primed || now - lookedAt > FRESH) {
            look();
            lookedAt = now;
        }
        // Who is further behind than what is kept begins anew, as who has just come.
        boolean missed = number >= 0 && !changes.isEmpty() && changes.getFirst().number() > number + 1;
        if (number < 0 || missed) {
            return new News(begin, count);
        }
        if (number != toldFrom || told.upTo() != count) {
            told = new News(
                    bytes(changes.stream()
                            .filter(change -> change.number() > number)
                            .map(Change::text)),
                    count);
            toldFrom = number;
        }
        return told;
    }

    private static byte[] bytes(Stream<String> events) {
        return events.collect(Collectors.joining()).getBytes(StandardCharsets.UTF_8);
    }

    /** An event as a stream carries it. */
    static String text(String kind, ObjectNode event) {
        return "event: " + kind + "\ndata: " + Json.write(event) + "\n\n";
    }

    private void look() {
        List<Rows.Run> newest = runs();
        Map<RunId, String> stand = HashMap.newHashMap(newest.size());
        List<Rows.Run> moved = new ArrayList<>();
        for (Rows.Run run : newest.reversed()) {
            String now = stamp(run);
            stand.put(run.id(), now);
            if (!now.equals(stood.get(run.id()))) {
                moved.add(run);
            }
        }
        List<Write.Seen> requests = requests();
        older(requests, stand).forEach(moved::add);
        Set<String> open = open();
        if (primed) {
            for (Rows.Run run : moved) {
                changes.add(new Change(++count, text("run", event(run, name(run)))));
            }
            if (!requests.isEmpty()) {
                changes.add(new Change(++count, text("requests", Views.object().put("new", requests.size()))));
            }
            if (!open.equals(waiting)) {
                changes.add(new Change(++count, text("reviews", reviews(open, waiting))));
            }
            while (changes.size() > KEPT) {
                changes.removeFirst();
            }
        }
        stood = stand;
        waiting = open;
        begin = bytes(Stream.concat(
                Stream.of(text("reviews", reviews(open, open))),
                newest.subList(0, Math.min(FIRST, newest.size())).reversed().stream()
                        .map(run -> text("run", event(run, name(run))))));
        primed = true;
    }

    /** How many wait for a person, and how many of them were not there at the last look. */
    private static ObjectNode reviews(Set<String> now, Set<String> before) {
        long fresh = now.stream().filter(id -> !before.contains(id)).count();
        return Views.object().put("open", now.size()).put("new", fresh);
    }

    private Set<String> open() {
        var front = new Review.Filter(workspace, null, null, null, Review.Place.FRONT, ReviewRoutes.COUNTED);
        Review.Page page = semel.view(reads -> reads.reviews().open(front));
        return page == null
                ? Set.of()
                : page.found().stream().map(Review.Row::id).collect(Collectors.toSet());
    }

    /** Those that came since the last look, newest first; all of the newest at the first one. */
    private List<Write.Seen> requests() {
        List<Write.Seen> seen = semel.view(reads -> reads.requests(workspace, null, FIRST));
        if (seen == null || seen.isEmpty()) {
            return List.of();
        }
        RunId before = lastRequest;
        lastRequest = seen.getFirst().id();
        return seen.stream().takeWhile(one -> !one.id().equals(before)).toList();
    }

    /** Runs that are not among the newest, and were met by one of these requests. */
    private List<Rows.Run> older(List<Write.Seen> requests, Map<RunId, String> newest) {
        List<Rows.Run> found = new ArrayList<>();
        for (Write.Seen one : requests) {
            Rows.Run run = newest.containsKey(one.run()) ? null : semel.view(reads -> reads.run(workspace, one.run()));
            if (run != null && found.stream().noneMatch(other -> other.id().equals(run.id()))) {
                found.add(run);
            }
        }
        return found;
    }

    private List<Rows.Run> runs() {
        List<Rows.Run> rows = semel.view(
                reads -> reads.runs(new Reads.RunFilter(workspace, null, null, null, false, 0, null, NEWEST)));
        return rows == null ? List.of() : rows;
    }

    private String name(Rows.Run run) {
        return semel.version(run.workflowId(), run.version()).name();
    }

    private static String stamp(Rows.Run run) {
        return run.state().word() + " " + run.counts().replays() + " "
                + run.counts().conflicts();
    }

    static ObjectNode event(Rows.Run run, String workflow) {
        return Views.object()
                .put("run_id", run.runIdText())
                .put("workflow", workflow)
                .put("key", run.origin().key())
                .put("status", run.state().word())
                .put("replays", run.counts().replays())
                .put("conflicts", run.counts().conflicts())
                .put("created_at", Views.time(run.createdAt()));
    }
}
