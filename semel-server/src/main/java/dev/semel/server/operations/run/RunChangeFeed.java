package dev.semel.server.operations.run;

import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.operations.review.HumanReviewRoutes;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
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
 * Feeds live event streams with changes of a workspace's newest runs, found by comparing two polls of the store. A run
 * beyond the newest hundred appears only when a duplicate request arrives for it.
 */
final class RunChangeFeed {
    private static final int NEWEST = 100;
    private static final int FIRST = 50;
    private static final int MAX_CHANGES = 2_000;
    private static final long FRESH = TimeUnit.MILLISECONDS.toNanos(900);

    private final SemelRuntime semel;
    private final int workspace;
    private final Deque<Change> changes = new ArrayDeque<>();
    private Map<RunId, String> lastStates = new HashMap<>();
    private @Nullable RunId lastRequest;
    private Set<String> waiting = Set.of();
    private long count;
    private long polledAt;
    private boolean polled;
    private byte[] begin = new byte[0];
    private FeedUpdate cached = new FeedUpdate(new byte[0], 0);
    private long cachedFrom;

    RunChangeFeed(SemelRuntime semel, int workspace) {
        this.semel = semel;
        this.workspace = workspace;
    }

    private record Change(long number, String text) {}

    /** The bytes for a stream, built once for all clients at the same position. */
    record FeedUpdate(byte[] text, long lastNumber) {}

    /** The changes after this number; with -1 the current state of the newest runs, oldest first. */
    synchronized FeedUpdate updateSince(long number) {
        long now = semel.nanos();
        if (!polled || now - polledAt > FRESH) {
            poll();
            polledAt = now;
        }
        // A client that missed discarded changes starts again with the current state.
        boolean missed = number >= 0 && !changes.isEmpty() && changes.getFirst().number() > number + 1;
        if (number < 0 || missed) {
            return new FeedUpdate(begin, count);
        }
        if (number != cachedFrom || cached.lastNumber() != count) {
            cached = new FeedUpdate(
                    bytes(changes.stream()
                            .filter(change -> change.number() > number)
                            .map(Change::text)),
                    count);
            cachedFrom = number;
        }
        return cached;
    }

    private static byte[] bytes(Stream<String> events) {
        return events.collect(Collectors.joining()).getBytes(StandardCharsets.UTF_8);
    }

    static String serverSentEvent(String kind, ObjectNode event) {
        return "event: " + kind + "\ndata: " + StrictJsonCodec.write(event) + "\n\n";
    }

    private void poll() {
        List<DatabaseRows.RunRow> newest = runs();
        Map<RunId, String> states = HashMap.newHashMap(newest.size());
        List<DatabaseRows.RunRow> changed = new ArrayList<>();
        for (DatabaseRows.RunRow run : newest.reversed()) {
            String now = stateText(run);
            states.put(run.id(), now);
            if (!now.equals(lastStates.get(run.id()))) {
                changed.add(run);
            }
        }
        List<StoreWrite.DuplicateRequest> requests = requests();
        older(requests, states).forEach(changed::add);
        Set<String> open = open();
        if (polled) {
            for (DatabaseRows.RunRow run : changed) {
                changes.add(new Change(++count, serverSentEvent("run", runEvent(run, name(run)))));
            }
            if (!requests.isEmpty()) {
                changes.add(new Change(
                        ++count,
                        serverSentEvent("requests", RunJsonRenderer.newObject().put("new", requests.size()))));
            }
            if (!open.equals(waiting)) {
                changes.add(new Change(++count, serverSentEvent("reviews", reviews(open, waiting))));
            }
            while (changes.size() > MAX_CHANGES) {
                changes.removeFirst();
            }
        }
        lastStates = states;
        waiting = open;
        begin = bytes(Stream.concat(
                Stream.of(serverSentEvent("reviews", reviews(open, open))),
                newest.subList(0, Math.min(FIRST, newest.size())).reversed().stream()
                        .map(run -> serverSentEvent("run", runEvent(run, name(run))))));
        polled = true;
    }

    /** How many reviews are open, and how many of them are new since the last poll. */
    private static ObjectNode reviews(Set<String> now, Set<String> before) {
        long fresh = now.stream().filter(id -> !before.contains(id)).count();
        return RunJsonRenderer.newObject().put("open", now.size()).put("new", fresh);
    }

    private Set<String> open() {
        var front = new HumanReviewStoreWriteCommand.OpenReviewFilter(
                workspace,
                null,
                null,
                null,
                HumanReviewStoreWriteCommand.ReviewCursor.FRONT,
                HumanReviewRoutes.MAX_COUNTED);
        return StoreReader.read(semel, reads -> reads.reviews().open(front)).found().stream()
                .map(HumanReviewStoreWriteCommand.ReviewRow::id)
                .collect(Collectors.toSet());
    }

    /** Requests since the last poll, newest first; at the first poll all recent ones. */
    private List<StoreWrite.DuplicateRequest> requests() {
        List<StoreWrite.DuplicateRequest> duplicateRequests =
                StoreReader.read(semel, reads -> reads.requests(workspace, null, FIRST));
        if (duplicateRequests.isEmpty()) {
            return List.of();
        }
        RunId before = lastRequest;
        lastRequest = duplicateRequests.getFirst().id();
        return duplicateRequests.stream()
                .takeWhile(one -> !one.id().equals(before))
                .toList();
    }

    /** Older runs that received one of these duplicate requests. */
    private List<DatabaseRows.RunRow> older(List<StoreWrite.DuplicateRequest> requests, Map<RunId, String> newest) {
        List<DatabaseRows.RunRow> found = new ArrayList<>();
        for (StoreWrite.DuplicateRequest one : requests) {
            DatabaseRows.RunRow run =
                    newest.containsKey(one.run()) ? null : semel.view(reads -> reads.run(workspace, one.run()));
            if (run != null && found.stream().noneMatch(other -> other.id().equals(run.id()))) {
                found.add(run);
            }
        }
        return found;
    }

    private List<DatabaseRows.RunRow> runs() {
        var filter = new StoreQueries.RunFilter(workspace, null, null, null, false, 0, null, NEWEST, null);
        return StoreReader.read(semel, reads -> reads.runs(filter));
    }

    private String name(DatabaseRows.RunRow run) {
        return semel.version(run.workflowId(), run.version()).name();
    }

    private static String stateText(DatabaseRows.RunRow run) {
        return run.state().wireName() + " " + run.counts().replays() + " "
                + run.counts().conflicts();
    }

    static ObjectNode runEvent(DatabaseRows.RunRow run, String workflow) {
        return RunJsonRenderer.newObject()
                .put("run_id", run.runIdText())
                .put("workflow", workflow)
                .put("key", run.origin().key())
                .put("status", run.state().wireName())
                .put("replays", run.counts().replays())
                .put("conflicts", run.counts().conflicts())
                .put("created_at", RunJsonRenderer.formatTime(run.createdAt()));
    }
}
