package dev.semel.testing.memory;

import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Reads;
import dev.semel.store.Reads.RunFilter;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Runs, names and tokens with what other tables say about them. */
final class RunViews {
    private static final int EARLIER_RUNS_OF_A_KEY = 100;
    private static final int LONGEST_IN_A_LIST = 4096;

    private final Tables tables;

    RunViews(Tables tables) {
        this.tables = tables;
    }

    Rows.@Nullable Run run(RunId id) {
        Tables.Run run = tables.runs.get(id);
        return run == null ? null : view(run, false);
    }

    List<String> queues(RunId run) {
        return tables.placesByRun.tailMap(new Pair<>(run, new Pair<>("", Long.MIN_VALUE))).values().stream()
                .takeWhile(place -> place.run().equals(run))
                .map(Tables.Place::queue)
                .toList();
    }

    List<RunId> children(RunId run, int limit) {
        return tables.linksByParent.tailMap(new Pair<>(run, Tables.FIRST)).values().stream()
                .takeWhile(link -> run.equals(link.parent()))
                .limit(limit)
                .map(Tables.Link::run)
                .toList();
    }

    List<RunId> lineage(RunId first, int limit) {
        return tables.runs.rows().values().stream()
                .filter(run -> run.lineage().equals(first) && !run.id().equals(first))
                .limit(limit)
                .map(Tables.Run::id)
                .toList();
    }

    List<Reads.Misfit> held(@Nullable RunId after, int limit) {
        var from = new Pair<>(Write.Rest.HELD, after == null ? Tables.FIRST : after);
        return tables.workDue.tailMap(from, after == null).values().stream()
                .takeWhile(work -> work.due == Write.Rest.HELD)
                .limit(limit)
                .map(work -> new Reads.Misfit(work.run, work.workflowId))
                .toList();
    }

    private Rows.Run view(Tables.Run run, boolean inList) {
        Tables.End end = tables.ends.get(run.id());
        Work work = tables.work.get(run.id());
        Tables.Link link = tables.links.get(run.id());
        RunState state = Objects.requireNonNull(tables.stateOf(run.id()), "a run has work or an end");
        return new Rows.Run(
                run.id(),
                run.asked().workspace(),
                run.asked().chosenId(),
                run.asked().workflowId(),
                run.asked().version(),
                state,
                run.asked().origin(),
                Objects.requireNonNull(inList ? shortened(run.input()) : run.input()),
                run.lineage(),
                run.previous(),
                run.duplicateOf(),
                run.createdAt(),
                work == null ? null : new Rows.Work(work.claims, work.falls, work.cancel, work.due, work.waits),
                end == null ? null : inList ? shortened(end.end()) : end.end(),
                Objects.requireNonNullElse(tables.uses.get(run.id()), Rows.Counts.NONE),
                link == null ? null : link.parent(),
                link == null ? null : link.replayOf(),
                link == null ? 0 : link.depth());
    }

    /** As in the other stores: a page of a list must fit into memory whatever the runs hold. */
    private static Rows.End shortened(Rows.End end) {
        Write.Ending all = end.ending();
        var ending = new Write.Ending(shortened(all.output()), all.errorCode(), all.errorMessage(), all.errorStep());
        return new Rows.End(end.endedAt(), ending, "[]");
    }

    private static @Nullable String shortened(@Nullable String text) {
        return text != null && text.codePointCount(0, text.length()) > LONGEST_IN_A_LIST ? "" : text;
    }

    Rows.@Nullable Version version(Tables.Version row, String body) {
        Rows.Workflow workflow = tables.workflowsById.get(row.workflowId());
        return workflow == null
                ? null
                : new Rows.Version(
                        row.workflowId(),
                        workflow.name(),
                        workflow.ws(),
                        row.version(),
                        body,
                        row.publishedAt(),
                        row.by());
    }

    List<Rows.Tally> tally(int ws, String workflowId, int limit) {
        TreeMap<Pair<Integer, Integer>, Long> counts = new TreeMap<>();
        tables.runsByWorkflow.headMap(new Pair<>(workflowId, Tables.AFTER_ALL), true).descendingMap().values().stream()
                .takeWhile(run -> run.asked().workflowId().equals(workflowId))
                .filter(run -> run.asked().workspace() == ws)
                .limit(limit)
                .forEach(run -> {
                    RunState state = Objects.requireNonNull(tables.stateOf(run.id()));
                    counts.merge(new Pair<>(-run.asked().version(), state.code()), 1L, Long::sum);
                });
        return counts.entrySet().stream()
                .map(one -> new Rows.Tally(
                        -one.getKey().first(), RunState.of(one.getKey().second()), one.getValue()))
                .toList();
    }

    List<Rows.Workflow> workflows(int ws) {
        return tables.workflows.rows().tailMap(new Pair<>(ws, "")).values().stream()
                .takeWhile(workflow -> workflow.ws() == ws)
                .toList();
    }

    List<Rows.Run> newest(RunFilter filter) {
        String workflowId = filter.workflowId();
        if (workflowId != null) {
            return ofWorkflow(workflowId, filter);
        }
        List<Rows.Run> all = new ArrayList<>();
        for (Rows.Workflow workflow : workflows(filter.ws())) {
            all.addAll(ofWorkflow(workflow.workflowId(), filter));
        }
        all.sort(Comparator.comparing(Rows.Run::id).reversed());
        return all.stream().limit(filter.limit()).toList();
    }

    private List<Rows.Run> ofWorkflow(String workflowId, RunFilter filter) {
        var end = new Pair<>(workflowId, filter.before() == null ? Tables.AFTER_ALL : filter.before());
        return tables.runsByWorkflow.headMap(end, false).descendingMap().values().stream()
                .takeWhile(run -> run.asked().workflowId().equals(workflowId))
                .filter(run -> run.asked().workspace() == filter.ws())
                .map(run -> view(run, true))
                .filter(run -> fits(run, filter))
                .limit(filter.limit())
                .toList();
    }

    /** The run a key names now, and those it named before. */
    List<Rows.Run> ofKey(List<Rows.Held> names, RunFilter filter) {
        TreeMap<RunId, Rows.Run> found = new TreeMap<>(Comparator.reverseOrder());
        for (Rows.Held held : names) {
            RunId next = held.known().run();
            for (int i = 0; next != null && i < EARLIER_RUNS_OF_A_KEY; i++) {
                Rows.Run run = run(next);
                if (run == null || run.ws() != filter.ws()) {
                    break;
                }
                if (fits(run, filter)) {
                    found.put(run.id(), run);
                }
                next = run.previous();
            }
        }
        return found.values().stream().limit(filter.limit()).toList();
    }

    private static boolean fits(Rows.Run run, RunFilter filter) {
        return (filter.workflowId() == null || filter.workflowId().equals(run.workflowId()))
                && (filter.state() == null || filter.state() == run.state())
                && (!filter.replayedOnly() || run.counts().replays() > 0)
                && (filter.before() == null || run.id().compareTo(filter.before()) < 0)
                && (filter.from() == null || run.id().compareTo(filter.from()) >= 0)
                && run.createdAt() >= filter.since();
    }

    /** Null where the name's run is not there. */
    Rows.@Nullable Held held(Tables.Key key) {
        Known known = Admitting.known(tables, key);
        Tables.Run run = tables.runs.get(key.run());
        if (known == null || run == null) {
            return null;
        }
        Tables.End end = tables.ends.get(key.run());
        return new Rows.Held(
                key.name(),
                known,
                run.asked().origin().actor(),
                run.asked().origin().correlationId(),
                Objects.requireNonNullElse(tables.uses.get(key.run()), Rows.Counts.NONE),
                end == null ? null : end.end().ending().errorCode(),
                end == null ? null : end.end().ending().errorStep());
    }

    /** Null where its workspace is not there. */
    Rows.@Nullable Token token(Rows.Token token) {
        Tables.Workspace workspace = tables.workspaces.get(token.ws());
        return workspace == null
                ? null
                : new Rows.Token(
                        token.tokenId(),
                        token.ws(),
                        workspace.row().name(),
                        token.name(),
                        token.hash().clone(),
                        token.scopes(),
                        token.quotaPerMinute(),
                        token.createdAt(),
                        token.revokedAt(),
                        token.madeBy());
    }
}
