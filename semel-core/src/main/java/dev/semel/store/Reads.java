package dev.semel.store;

import dev.semel.effect.Ledger;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All read-only queries of the store. Used by one thread at a time. */
public interface Reads extends AutoCloseable {
    /** The store's clock, in microseconds. */
    long now();

    /** The records of these unique keys, in their order; null for a key that no run holds. Includes expired keys. */
    Found names(List<Name> names);

    /** Key records found by a lookup, and the store's time of the lookup. */
    record Found(long now, List<@Nullable Known> known) {}

    Rows.@Nullable Run run(int ws, RunId id);

    /** A run that this worker claimed, in any workspace. */
    Rows.@Nullable Run claimed(RunId id);

    /** Runs without their journals, in any order; deleted runs are missing. */
    default List<Rows.Run> heads(List<RunId> ids) {
        List<Rows.Run> all = new ArrayList<>(ids.size());
        for (RunId id : ids) {
            Rows.Run run = claimed(id);
            if (run != null) {
                all.add(run);
            }
        }
        return all;
    }

    /** Claimed runs with their journals, in any order; deleted runs are missing. */
    default List<Recorded> recorded(List<RunId> ids) {
        List<Recorded> all = new ArrayList<>(ids.size());
        for (RunId id : ids) {
            Rows.Run run = claimed(id);
            if (run != null) {
                all.add(new Recorded(run, journal(id)));
            }
        }
        return all;
    }

    /** A run with its journal chunks in order, without the entries stored with its end. */
    record Recorded(Rows.Run run, List<Chunk> journal) {}

    /** Newest first. */
    List<Rows.Run> runs(RunFilter filter);

    /** Journal chunks of a run in order, without the entries stored with its end. */
    List<Chunk> journal(RunId run);

    /** Journal entries that were committed together. */
    record Chunk(int seq, String entries) {}

    /** Signals of a run in the order of their arrival. */
    List<Rows.Signal> signals(RunId run);

    Ledger.@Nullable Row effect(Ledger.Id id);

    /** The effects that a run holds in the ledger, in the order of their first attempt. */
    List<Ledger.Row> effects(RunId run);

    /** The effects that these runs hold in the ledger, in any order. */
    default List<Ledger.Row> effects(List<RunId> runs) {
        List<Ledger.Row> all = new ArrayList<>();
        runs.forEach(run -> all.addAll(effects(run)));
        return all;
    }

    /** Effects of a workspace, newest runs first. */
    LedgerPage effects(EffectFilter filter);

    /** One page of effects, and the position to continue after; null at the end. */
    record LedgerPage(List<Ledger.Row> found, @Nullable EffectPlace next) {}

    /** Position in a list of effects: the next page starts after it. */
    record EffectPlace(RunId run, String digest) {}

    /** Which ledger rows a list shows. Notes for safe replays are never shown. */
    enum Part {
        ALL,
        DEEDS,
        SUPPRESSED
    }

    /**
     * Filter of an effect list.
     *
     * @param object the external object; with it the scan is limited to its effects
     * @param key the effect key
     * @param before only effects after this position
     */
    record EffectFilter(
            int ws,
            Ledger.@Nullable State state,
            @Nullable String workflowId,
            @Nullable String object,
            @Nullable String protection,
            @Nullable String key,
            Part part,
            @Nullable EffectPlace before,
            int limit) {
        /** At most this many rows are scanned for one page. */
        public static final int LOOKED_AT = 10_000;

        /** All effects of a workspace. */
        public static EffectFilter all(int ws, int limit) {
            return in(ws, null, limit);
        }

        /** All effects in this state. */
        public static EffectFilter in(int ws, Ledger.@Nullable State state, int limit) {
            return new EffectFilter(ws, state, null, null, null, null, Part.ALL, null, limit);
        }

        public EffectFilter before(@Nullable EffectPlace place) {
            return new EffectFilter(ws, state, workflowId, object, protection, key, part, place, limit);
        }

        public EffectFilter part(Part shown) {
            return new EffectFilter(ws, state, workflowId, object, protection, key, shown, before, limit);
        }

        public EffectFilter key(@Nullable String wanted) {
            return new EffectFilter(ws, state, workflowId, object, protection, wanted, part, before, limit);
        }

        /** Whether a row passes the filter, except for its position. */
        public boolean fits(Ledger.Row row) {
            return row.id().workspace() == ws
                    && !row.isNote()
                    && (part == Part.ALL || (part == Part.SUPPRESSED) == (row.stoodFor() != null))
                    && (state == null || row.state() == state)
                    && (workflowId == null || workflowId.equals(row.facts().workflowId()))
                    && (object == null || object.equals(row.facts().object()))
                    && (protection == null || protection.equals(row.facts().protection()))
                    && (key == null || key.equals(row.facts().key()));
        }
    }

    /** Runs that this one started, oldest first. */
    List<RunId> children(RunId run);

    /** The queues that a run occupies or waits in. */
    List<String> queues(RunId run);

    /** The other runs of a lineage, given its first run; oldest first. */
    List<RunId> lineage(RunId first);

    /** The other runs of these lineages, by their first run. Lineages of one run are missing. */
    default Map<RunId, List<RunId>> lineages(List<RunId> first) {
        Map<RunId, List<RunId>> all = new HashMap<>();
        for (RunId one : first) {
            List<RunId> others = lineage(one);
            if (!others.isEmpty()) {
                all.put(one, others);
            }
        }
        return all;
    }

    /** Runs that are suspended until a worker has matching code ({@link Write.Rest#HELD}), in order. */
    List<Misfit> held(@Nullable RunId after, int limit);

    /** A run that is held because the code of its workflow does not match its journal. */
    record Misfit(RunId run, String workflowId) {}

    /** The newest duplicate requests of one run, or those older than {@code before}; newest last. */
    List<Write.Seen> requestsOf(RunId run, @Nullable RunId before, int limit);

    /** All duplicate requests of a workspace, newest first. */
    List<Write.Seen> requests(int ws, @Nullable RunId before, int limit);

    /** Every key record with this key text, in any scope. */
    List<Rows.Held> key(int ws, String key);

    List<Rows.Held> keys(int ws, String prefix, @Nullable Name after, int limit);

    /** Increases with every change of workflows, tokens and cached settings. */
    long catalogChange();

    Rows.@Nullable Workflow workflow(int ws, String nameOrId);

    List<Rows.Workflow> workflows(int ws);

    Rows.@Nullable Version version(String workflowId, int version);

    /** Versions without their texts, newest first, older than {@code before}. */
    List<Rows.Version> versions(String workflowId, int before, int limit);

    /** The newest {@code limit} runs of a workflow, counted by version and state. */
    List<Rows.Tally> tally(int ws, String workflowId, int limit);

    Rows.@Nullable Token token(byte[] hash);

    List<Rows.Token> tokens(int ws);

    Rows.@Nullable Workspace workspace(String name);

    Rows.@Nullable Workspace workspace(int ws);

    /** The current version of a setting; null if it does not exist or was removed. */
    Rows.@Nullable Setting setting(int ws, String kind, String name);

    /** One version of a setting, also one that marks its removal. */
    Rows.@Nullable Setting setting(int ws, String kind, String name, int version);

    /** Current versions by name, after {@code after}. */
    List<Rows.Setting> settings(int ws, String kind, String after, int limit);

    /** The kept versions of a setting, newest first, at most 200. */
    List<Rows.Setting> settingVersions(int ws, String kind, String name);

    /** Deliveries of a webhook source, newest first, without payloads. */
    List<Delivery> deliveries(int ws, String hook, @Nullable RunId before, int limit);

    @Nullable
    Delivery delivery(int ws, String hook, RunId id);

    /** The delivery that first brought this provider id; null if it has expired. */
    @Nullable
    Delivery firstDelivery(int ws, String hook, String eventId);

    /** Whether an expired delivery can be deleted. */
    boolean expiredDelivery();

    List<Rows.Audit> audit(int ws, @Nullable RunId before, int limit);

    /**
     * First runs of lineages that ended before a time, oldest first. Scans up to {@code limit} runs after {@code from},
     * but none that were created after that time.
     */
    Old oldRuns(@Nullable RunId from, int limit, long endedBefore);

    /** First runs of old lineages, and the position to continue after; null at the end. */
    record Old(List<RunId> found, @Nullable RunId next) {}

    /** Scans up to {@code limit} keys after {@code from} for tombstones that expired before {@code before}. */
    Slice tombstones(@Nullable Name from, int limit, long before);

    /** One page of expired keys, and the position to continue after; null at the end. */
    record Slice(List<Edit.Tombstone> found, @Nullable Name next) {}

    /** Whether an expired reply of an idempotent command can be deleted. */
    boolean expiredReply();

    /** Queries for schedules and their ticks. */
    Timetable timetable();

    /** Queries for safe-replay plans. */
    Plans plans();

    /** Queries for monitoring counters. */
    Figures figures();

    /** Queries for reviews. */
    Review.Desk reviews();

    /** An event that has not expired. */
    Rows.@Nullable Event event(int ws, String eventId);

    /** Newest first. */
    Events events(EventFilter filter);

    /** One page of events, and the position to continue after; null at the end. */
    record Events(List<Rows.Event> found, @Nullable RunId next) {}

    /**
     * Filter of an event list.
     *
     * @param unmatched only events that no workflow subscribes to
     * @param before only events older than this one
     */
    record EventFilter(
            int ws,
            @Nullable String type,
            @Nullable String source,
            boolean unmatched,
            long since,
            @Nullable RunId before,
            int limit) {
        /** At most this many rows are scanned for one page. */
        public static final int LOOKED_AT = 10_000;
    }

    /** The records of unique keys of one kind that start with this text, sorted. */
    List<Rows.Held> namesLike(int ws, Name.Kind kind, String prefix, int limit);

    /** The oldest events of a workspace that were received before a time. */
    List<Edit.OldEvent> oldEvents(int ws, long before, int limit);

    /** The next workspace with a higher number; null at the end. */
    @Nullable
    Integer workspaceAfter(int ws);

    /** Whether an expired keyed signal can be deleted; deletion waits {@link Letter#BEHIND} after expiry. */
    boolean expiredLetter();

    /** When the next run without a worker is due, by the store's clock; {@link Write.Rest#NEVER} for none. */
    long nextDue();

    /** Unfinished runs of a lease, in order, after {@code after}. */
    List<Write.Driver> owned(long lease, @Nullable RunId after, int limit);

    /** Every worker with a lease, oldest first, including expired leases that were not taken over yet. */
    List<Rows.Worker> workers();

    /** The number of unfinished runs. */
    long unfinished();

    /**
     * Filter of a run list.
     *
     * @param from older runs are not scanned, so that a list of the last hour does not read those of a year
     */
    record RunFilter(
            int ws,
            @Nullable String workflowId,
            @Nullable RunState state,
            @Nullable String key,
            boolean replayedOnly,
            long since,
            @Nullable RunId before,
            int limit,
            @Nullable RunId from) {
        public RunFilter(
                int ws,
                @Nullable String workflowId,
                @Nullable RunState state,
                @Nullable String key,
                boolean replayedOnly,
                long since,
                @Nullable RunId before,
                int limit) {
            this(ws, workflowId, state, key, replayedOnly, since, before, limit, null);
        }

        /** The same filter for the next page. */
        public RunFilter page(@Nullable RunId behind, int most) {
            return new RunFilter(ws, workflowId, state, key, replayedOnly, since, behind, most, from);
        }
    }

    @Override
    void close();
}
