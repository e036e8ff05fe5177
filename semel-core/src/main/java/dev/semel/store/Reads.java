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

/** Questions to the store; they change nothing. Used by one thread at a time. */
public interface Reads extends AutoCloseable {
    /** The store's clock, in microseconds. */
    long now();

    /** Who holds these names, in their order; null where nobody does. Expired ones are told too. */
    Found names(List<Name> names);

    /** What was found, and when by the store's clock. */
    record Found(long now, List<@Nullable Known> known) {}

    Rows.@Nullable Run run(int ws, RunId id);

    /** A run that this worker claimed, whatever its workspace. */
    Rows.@Nullable Run claimed(RunId id);

    /** Runs without their journals, in any order; those that are gone are left out. */
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

    /** Claimed runs with their journals, in any order; those that are gone are left out. */
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

    /** A run and the chunks of its journal in order, without what its end holds. */
    record Recorded(Rows.Run run, List<Chunk> journal) {}

    /** Newest first. */
    List<Rows.Run> runs(RunFilter filter);

    /** Journal chunks of a run in order, without what its end holds. */
    List<Chunk> journal(RunId run);

    /** Entries that became durable together. */
    record Chunk(int seq, String entries) {}

    /** Signals of a run in the order of their arrival. */
    List<Rows.Signal> signals(RunId run);

    Ledger.@Nullable Row effect(Ledger.Id id);

    /** The effects whose rows a run holds, in the order of their first attempt. */
    List<Ledger.Row> effects(RunId run);

    /** The effects whose rows these runs hold, in any order. */
    default List<Ledger.Row> effects(List<RunId> runs) {
        List<Ledger.Row> all = new ArrayList<>();
        runs.forEach(run -> all.addAll(effects(run)));
        return all;
    }

    /** Effects of a workspace, those of the newest runs first. */
    LedgerPage effects(EffectFilter filter);

    /** What was found among the effects that were looked at, and behind which to go on; null at the end. */
    record LedgerPage(List<Ledger.Row> found, @Nullable EffectPlace next) {}

    record EffectPlace(RunId run, String digest) {}

    /** Which rows of the ledger a list shows; notes that a step keeps for safe replays are in none. */
    enum Part {
        ALL,
        DEEDS,
        SUPPRESSED
    }

    /**
     * What a list of effects is narrowed to.
     *
     * @param object what they are about; with it nothing else is looked at
     * @param key the effect key
     * @param before only those behind that one
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
        /** So many are looked at for one page. */
        public static final int LOOKED_AT = 10_000;

        /** Everything of a workspace. */
        public static EffectFilter all(int ws, int limit) {
            return in(ws, null, limit);
        }

        /** Everything that stands so. */
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

        /** Whether a row is among those that are meant, wherever it stands. */
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

    /** The queues in which a run has a place, whether it has begun or waits. */
    List<String> queues(RunId run);

    /** The runs that continue the line of this first one, oldest first, without itself. */
    List<RunId> lineage(RunId first);

    /** The runs that continue the lines of these first ones, by their first run; lines of one run are left out. */
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

    /** Runs that rest until a worker comes whose code may fit them ({@link Write.Rest#HELD}), in order. */
    List<Misfit> held(@Nullable RunId after, int limit);

    /** A run that is held because the code of its workflow did not fit. */
    record Misfit(RunId run, String workflowId) {}

    /** The newest rows of one run, or those older than {@code before}; newest last. */
    List<Write.Seen> requestsOf(RunId run, @Nullable RunId before, int limit);

    /** All rows of a workspace, newest first. */
    List<Write.Seen> requests(int ws, @Nullable RunId before, int limit);

    /** Every name that spells this key, whatever its scope. */
    List<Rows.Held> key(int ws, String key);

    List<Rows.Held> keys(int ws, String prefix, @Nullable Name after, int limit);

    /** Grows with every change of workflows, tokens and watched settings. */
    long catalogChange();

    Rows.@Nullable Workflow workflow(int ws, String nameOrId);

    List<Rows.Workflow> workflows(int ws);

    Rows.@Nullable Version version(String workflowId, int version);

    /** Versions without their texts, newest first, from those before {@code before}. */
    List<Rows.Version> versions(String workflowId, int before, int limit);

    /** The newest runs of a workflow, up to {@code limit} of them, counted by version and state. */
    List<Rows.Tally> tally(int ws, String workflowId, int limit);

    Rows.@Nullable Token token(byte[] hash);

    List<Rows.Token> tokens(int ws);

    Rows.@Nullable Workspace workspace(String name);

    Rows.@Nullable Workspace workspace(int ws);

    /** The current version of a document; null where there is none, or none any more. */
    Rows.@Nullable Setting setting(int ws, String kind, String name);

    /** One version of a document, also one that says that it was removed. */
    Rows.@Nullable Setting setting(int ws, String kind, String name, int version);

    /** Current versions by name, behind {@code after}. */
    List<Rows.Setting> settings(int ws, String kind, String after, int limit);

    /** The versions of a document that are kept, newest first, at most 200. */
    List<Rows.Setting> settingVersions(int ws, String kind, String name);

    /** Deliveries of a hook, newest first, without their payloads. */
    List<Delivery> deliveries(int ws, String hook, @Nullable RunId before, int limit);

    @Nullable
    Delivery delivery(int ws, String hook, RunId id);

    /** The delivery that brought this id of its provider first; null where it is known no longer. */
    @Nullable
    Delivery firstDelivery(int ws, String hook, String eventId);

    /** Whether anything of a delivery is kept that need not be any more. */
    boolean expiredDelivery();

    List<Rows.Audit> audit(int ws, @Nullable RunId before, int limit);

    /**
     * First runs of their lineage that ended before then, among up to {@code limit} runs after {@code from}, the oldest
     * first; runs that were made later than that are not looked at.
     */
    Old oldRuns(@Nullable RunId from, int limit, long endedBefore);

    /** What was found, and where to go on; null at the end. */
    record Old(List<RunId> found, @Nullable RunId next) {}

    /** Looks at up to {@code limit} names after {@code from} for tombstones that expired before {@code before}. */
    Slice tombstones(@Nullable Name from, int limit, long before);

    /** What was found, and where to go on; null at the end. */
    record Slice(List<Edit.Tombstone> found, @Nullable Name next) {}

    /** Whether an answer to a change is kept that need not be any more. */
    boolean expiredReply();

    /** Schedules and their ticks. */
    Timetable timetable();

    /** Plans of safe replays. */
    Plans plans();

    /** What was counted. */
    Figures figures();

    /** Questions that runs put to people. */
    Review.Desk reviews();

    /** An event that is still kept. */
    Rows.@Nullable Event event(int ws, String eventId);

    /** Newest first. */
    Events events(EventFilter filter);

    /** What was found among the events that were looked at, and where to go on; null at the end. */
    record Events(List<Rows.Event> found, @Nullable RunId next) {}

    /**
     * What a list of events is narrowed to.
     *
     * @param unmatched only what nobody wanted
     * @param before only older ones than that
     */
    record EventFilter(
            int ws,
            @Nullable String type,
            @Nullable String source,
            boolean unmatched,
            long since,
            @Nullable RunId before,
            int limit) {
        /** So many are looked at for one page. */
        public static final int LOOKED_AT = 10_000;
    }

    /** The names of one kind that begin with this text, in their order. */
    List<Rows.Held> namesLike(int ws, Name.Kind kind, String prefix, int limit);

    /** The oldest events of a workspace, as far as they came before then. */
    List<Edit.OldEvent> oldEvents(int ws, long before, int limit);

    /** The next workspace with a higher number; null at the end. */
    @Nullable
    Integer workspaceAfter(int ws);

    /** Whether a letter is known that need not be any more; those are deleted some time behind. */
    boolean expiredLetter();

    /** When the next run that nobody drives is due, by the store's clock; {@link Write.Rest#NEVER} where there is none. */
    long nextDue();

    /** Unfinished runs that belong to a lease, in order, after {@code after}. */
    List<Write.Driver> owned(long lease, @Nullable RunId after, int limit);

    /** Every worker with a lease, the oldest first, also one whose lease is over and was not taken over yet. */
    List<Rows.Worker> workers();

    /** How many runs are not ended. */
    long unfinished();

    /**
     * What a list of runs is narrowed to.
     *
     * @param from runs below it are not looked at, so that a list of the last hour does not read those of a year
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

        /** The same list further on. */
        public RunFilter page(@Nullable RunId behind, int most) {
            return new RunFilter(ws, workflowId, state, key, replayedOnly, since, behind, most, from);
        }
    }

    @Override
    void close();
}
