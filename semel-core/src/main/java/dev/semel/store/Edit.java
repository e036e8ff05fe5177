package dev.semel.store;

import dev.semel.effect.Ledger;
import dev.semel.run.RunId;
import dev.semel.schedule.Tick;
import dev.semel.schedule.Ticked;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A less frequent write operation of the store, with its result type {@code T}: publishing, settings, signals,
 * retention, schedules and more. Every command returns a result.
 */
public sealed interface Edit<T> {
    /** Whether the command may change workflows or tokens, which every worker caches. */
    default boolean changesCatalog() {
        return false;
    }

    /**
     * Whether the command locks rows outside the lock order of a batch: released or expired keys, stored replies, new
     * workspaces and tokens. Two batches with such commands could deadlock, so each such command gets its own
     * transaction.
     */
    default boolean standsAlone() {
        return false;
    }

    /** Creates the workspace if none has this name, and returns the existing one otherwise. */
    record OpenWorkspace(String name, byte[] secret) implements Edit<Rows.Workspace> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /**
     * Publishes a workflow version for all triggers and ends a candidate. An unchanged text keeps its version number.
     */
    record Publish(int workspace, String name, String workflowId, String body, String actor)
            implements Edit<Rows.Workflow> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /**
     * Publishes only if the workflow and the catalog did not change since the author looked; returns null otherwise.
     * Publishing the current text again is never a conflict, so a retry gets the same result.
     *
     * @param counted the catalog version at which a quota over all workflows was checked; null if none was checked
     * @param seen the versions that the author saw; null accepts any
     */
    record PublishOver(
            Publish publish,
            @Nullable Long counted,
            @Nullable Footing seen) implements Edit<Rows.@Nullable Workflow> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /**
     * The current version and the candidate of a workflow, as an author saw them.
     *
     * @param version the current version; 0 if the workflow does not exist
     * @param candidate the candidate that gets a percentage of the triggers; 0 for none
     */
    record Footing(int version, int candidate) {
        /** Whether the workflow still has these versions. */
        public boolean holds(@Nullable Rollout now) {
            return now == null
                    ? version == 0 && candidate == 0
                    : version == now.version() && candidate == now.candidate();
        }
    }

    /**
     * Publishes a candidate version for a percentage of the fresh triggers. Returns null if the workflow does not
     * exist.
     */
    record Stage(int workspace, String name, String body, int share, String actor)
            implements Edit<Rows.@Nullable Workflow> {
        public Stage {
            if (share < 1 || share > Rollout.LARGEST_SHARE) {
                throw new IllegalArgumentException("a rollout percentage is 1 to 99, not " + share);
            }
        }

        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /**
     * Makes the candidate the current version. Changes nothing if there is no candidate or another one than expected.
     * Returns null if the workflow does not exist.
     *
     * @param version the expected candidate; 0 for any
     */
    record Promote(int workspace, String workflowId, int version, String actor)
            implements Edit<Rows.@Nullable Workflow> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /**
     * Ends the candidate, if there is one; with a version, republishes that version's text under a new number. Returns
     * null if the workflow or version does not exist.
     *
     * @param version whose text becomes current; 0 keeps the current version
     */
    record Rollback(int workspace, String workflowId, int version, String actor, String reason)
            implements Edit<Rows.@Nullable Workflow> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /** Pauses or resumes a workflow. Resuming starts its queued runs. Returns null if the workflow does not exist. */
    record Pause(int workspace, String workflowId, boolean paused) implements Edit<Rows.@Nullable Workflow> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /**
     * Creates an API token, and its workspace if one is given. Returns the stored token, also when applied again; null
     * if its id, its hash or the workspace exists already.
     *
     * @param inside a workspace to create with the token; null to use the token's existing workspace
     */
    record CreateToken(Rows.Token token, @Nullable OpenWorkspace inside) implements Edit<Rows.@Nullable Token> {
        public CreateToken(Rows.Token token) {
            this(token, null);
        }

        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** Revokes an API token. Returns false if it does not exist or was revoked before. */
    record RevokeToken(int workspace, String tokenId, String actor) implements Edit<Boolean> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /**
     * Who requests a change and why, for the audit log.
     *
     * @param id of this request: if the audit log contains it, the change was made and only the response was lost
     */
    record By(RunId id, String actor, String reason) {}

    /**
     * Releases a unique key, if that run still holds it; the next trigger with the key is fresh. Returns false if the
     * key was released before or another run holds it. Applied again after a lost response, it returns its first
     * result.
     */
    record Release(Name name, RunId run, By by) implements Edit<Boolean> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /**
     * Extends the window of a unique key, if that run still holds it; never shortens it. Returns false if another run
     * holds the key, or if it was released or has expired. Applied again, it returns its first result.
     *
     * @param until microseconds of the store's clock
     */
    record Extend(Name name, RunId run, long until, By by) implements Edit<Boolean> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /**
     * Releases several keys in one transaction, payload keys together with their callers' keys. Returns true if a key
     * was released.
     */
    record ReleaseAll(List<Release> releases) implements Edit<Boolean> {
        /** Sorted in the lock order of keys. */
        public ReleaseAll {
            releases = releases.stream()
                    .sorted(Comparator.comparing(Release::name))
                    .toList();
        }

        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /**
     * A command that came with an idempotency key. The first request executes it and stores the reply in the same
     * transaction; later requests get the stored reply.
     *
     * @param answer encodes the reply to store; null if the command was rejected, which stores nothing
     */
    record Once<T>(Asked asked, Edit<T> edit, Function<@Nullable T, @Nullable String> answer) implements Edit<Replied> {
        @Override
        public boolean changesCatalog() {
            return edit.changesCatalog();
        }

        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /**
     * Identifies a request for an idempotent command: operation, key and digest of the request.
     *
     * @param id of this request: if the stored reply has the same id, its response was lost and it is no duplicate
     * @param operation separates the keys of different operations
     * @param digest of everything that defines the request
     * @param window microseconds for which the reply is stored
     */
    record Asked(RunId id, int workspace, String operation, String key, byte[] digest, long window) {}

    /**
     * A command that also writes its audit row in the same transaction. Applied again, it leaves one row.
     *
     * @param done whether the result deserves a row; a rejected or unnecessary change leaves none
     */
    record Noted<T>(Edit<T> edit, Predicate<@Nullable T> done, Note note) implements Edit<T> {
        @Override
        public boolean changesCatalog() {
            return edit.changesCatalog();
        }

        @Override
        public boolean standsAlone() {
            return edit.standsAlone();
        }
    }

    /** A row of the audit log. It must contain no payload value and no secret. */
    record Note(int workspace, String action, String target, By by) {}

    /** The result of an idempotent command. */
    sealed interface Replied {
        /** The command was executed now or by an earlier request. */
        record Done(String answer, boolean replayed) implements Replied {}

        /** The command was rejected; nothing is stored. */
        record Refused() implements Replied {}

        /** The key was used before with a different request. Nothing was changed. */
        record OtherRequest() implements Replied {}
    }

    /** Deletes up to {@code limit} expired replies of idempotent commands and returns their number. */
    record DeleteReplies(int limit) implements Edit<Integer> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** Deletes these expired keys if they did not change since they were read, and returns their number. */
    record DeleteNames(List<Tombstone> tombstones) implements Edit<Integer> {
        /** Sorted in the lock order of keys. */
        public DeleteNames {
            tombstones = tombstones.stream()
                    .sorted(Comparator.comparing(Tombstone::name))
                    .toList();
        }

        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /**
     * Deletes runs that ended before a time, with everything that belongs to them, and returns their number. A lineage
     * is deleted as a whole, by its first run. It stays while a key, an effect in its window or in doubt, or an
     * unfinished parent needs it.
     */
    record DeleteRuns(List<RunId> first, long endedBefore) implements Edit<Integer> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /**
     * Erases input, output and step results of old runs and returns how many had any. The runs stay with their final
     * state. A lineage that must not be deleted yet keeps its payload.
     */
    record BlankRuns(List<RunId> first, long endedBefore) implements Edit<Integer> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** A history table whose rows are deleted by age. */
    enum Memory {
        /** Rows of single duplicate requests; their counts stay with the run. */
        REQUESTS,
        AUDIT
    }

    /**
     * Deletes rows of a history table that are older than a time, scanning at most {@code limit}; returns their number.
     */
    record Forget(Memory memory, long before, int limit) implements Edit<Integer> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** Deletes these events if they did not change since they were read, and returns their number. */
    record DeleteEvents(List<OldEvent> events) implements Edit<Integer> {
        /** Sorted in the lock order of events. */
        public DeleteEvents {
            events = events.stream()
                    .sorted(Comparator.comparingInt(OldEvent::ws).thenComparing(OldEvent::eventId))
                    .toList();
        }

        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** An event past its retention, and when it was received. */
    record OldEvent(int ws, String eventId, long at) {}

    /** An expired unique key, the run that held it, and its expiry time. */
    record Tombstone(Name name, RunId run, long expiresAt) {}

    /** Sends a signal to a run and makes a waiting run due. A signal with a repeated key is delivered once. */
    record Signal(int workspace, RunId run, String name, String key, String value) implements Edit<Signalled> {}

    /** The result of sending a signal to a run. */
    enum Signalled {
        DELIVERED,
        /** A signal with the same key came before. */
        REPEATED,
        /** The run does not exist or has ended. */
        GONE
    }

    /** Executes an operation on keyed signals. */
    record Mail<T>(Letter<T> letter) implements Edit<T> {
        @Override
        public boolean standsAlone() {
            return letter.standsAlone();
        }
    }

    /** Executes an operation on a safe-replay plan. */
    record Replaying<T>(Replay<T> replay) implements Edit<T> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** Executes an operation on a review. */
    record Reviewing<T>(Review<T> review) implements Edit<T> {
        @Override
        public boolean standsAlone() {
            return true; // it locks run, effect and review in one fixed order
        }
    }

    /** Requests the cancellation of a run; its worker ends it. Returns false if the run does not exist or has ended. */
    record Cancel(int workspace, RunId run, String actor, String reason) implements Edit<Boolean> {}

    /** Makes runs due now, or as soon as their worker suspends them. Returns the number of runs. */
    record Wake(List<RunId> runs) implements Edit<Integer> {}

    /** Returns a claimed run unexecuted, so that another worker can claim it. */
    record GiveBack(Write.Driver driver) implements Edit<Boolean> {}

    /**
     * Makes runs due again that were held because the workflow code did not match; called when the code may have
     * changed.
     */
    record WakeHeld(String workflowId) implements Edit<Integer> {}

    /** Continues a held run. Returns false if the run does not exist or is not held. */
    record GoOn(int workspace, RunId run, String actor, String reason) implements Edit<Boolean> {}

    /**
     * Reopens a failed run in place, under its own id. A unique key allows one follower per end: either one replay or
     * one resumption. Applied again, it returns its first result.
     *
     * @param endedAt when the run ended, as the caller saw it
     * @param name the unique key for following this end
     * @param claims the number from which further executions are counted
     * @param seq of the new journal chunk
     * @param entries of that chunk: the entries of the end, and the resumption
     * @param places queues that the run passes through again
     * @param ops decisions of a user on its effects
     */
    record Resume(
            int workspace,
            RunId run,
            long endedAt,
            Wish name,
            int claims,
            int seq,
            String entries,
            List<NewRun.Gate.Place> places,
            List<Ledger.Op> ops,
            By by)
            implements Edit<Resumed> {
        /** Sorted in the lock order of queues and effects. */
        public Resume {
            places = places.stream()
                    .sorted(Comparator.comparing(NewRun.Gate.Place::queue))
                    .toList();
            ops = ops.stream().sorted(Comparator.comparing(Ledger.Op::id)).toList();
        }

        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** The result of resuming a failed run. */
    enum Resumed {
        /** The run is unfinished again. */
        DONE,
        /** The run has not ended, ended differently or at another time, or does not exist. Nothing was changed. */
        MOVED,
        /** Another run follows this end. Nothing was changed. */
        FOLLOWED
    }

    /**
     * Records a user's decision on an effect in doubt: its result, or null if it did not happen. Returns false if the
     * effect is not in doubt or another request decided it.
     */
    record Decide(Ledger.Id effect, RunId run, @Nullable String result, By by) implements Edit<Boolean> {}

    /**
     * Saves a text as the current version of a setting. If it is already current, nothing changes, so a retry gets the
     * same result.
     *
     * @param expected the version to replace, 0 if there must be none; null for any
     */
    record Put(SettingName name, String body, @Nullable Integer expected, String actor) implements Edit<Placed> {
        @Override
        public boolean changesCatalog() {
            return name.kind().watched();
        }

        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** Removes a setting by adding a version without a text. Applied again, it returns the same version. */
    record Remove(SettingName name, @Nullable Integer expected, String actor) implements Edit<Placed> {
        @Override
        public boolean changesCatalog() {
            return name.kind().watched();
        }

        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /**
     * Saves or removes a setting only if the catalog version did not change, so that a quota over other settings still
     * holds. Otherwise it returns {@link Placed.Moved} and changes nothing. If the setting already has the requested
     * state, it succeeds, so it may be applied twice.
     */
    record PlaceAsOf(Edit<Placed> place, long change) implements Edit<Placed> {
        /** No setting has this version. */
        private static final int NEVER = -1;

        public PlaceAsOf {
            if (!(place instanceof Put || place instanceof Remove) || !place.changesCatalog()) {
                throw new IllegalArgumentException("only settings that change the catalog can depend on its version");
            }
        }

        /** Returns the change to apply at this catalog version: one that must fail if the catalog changed. */
        public Edit<Placed> at(@Nullable Long number) {
            boolean still = number != null && number == change;
            return switch (place) {
                case Put put when !still -> new Put(put.name(), put.body(), NEVER, put.actor());
                case Remove remove when !still -> new Remove(remove.name(), NEVER, remove.actor());
                default -> place;
            };
        }

        @Override
        public boolean changesCatalog() {
            return true;
        }

        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /**
     * Records a received webhook delivery and compares its id and signature with those in their window. Returns the
     * delivery with its verdict, also when applied again; null if the hourly limit of rejected deliveries is reached.
     */
    record Receive(Delivery delivery, Delivery.Memory memory) implements Edit<@Nullable Delivery> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /**
     * Deletes up to {@code limit} expired deliveries, payloads and deduplication keys each, and returns their number.
     */
    record DeleteDeliveries(int limit) implements Edit<Integer> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** The result of saving or removing a setting. */
    sealed interface Placed {
        /** The setting has the requested state. */
        record Now(Rows.Setting row) implements Placed {}

        /** The current version is not the expected one; 0 if there is none. Nothing was changed. */
        record Moved(int version) implements Placed {}

        /** There never was such a setting to remove. */
        record Absent() implements Placed {}
    }

    /**
     * Saves the schedules of a workflow version and removes its other schedules; the tick history stays. Returns false
     * and changes nothing if the version is not current or a row changed meanwhile.
     *
     * @param left tick history for schedules that are removed or get other times
     */
    record LayOut(int workspace, String workflowId, int version, List<Laid> schedules, List<Left> left)
            implements Edit<Boolean> {
        public LayOut {
            schedules =
                    schedules.stream().sorted(Comparator.comparing(Laid::name)).toList();
            left = List.copyOf(left);
        }

        /** Lets the store record the ticks that removed schedules leave behind. */
        public LayOut(int workspace, String workflowId, int version, List<Laid> schedules) {
            this(workspace, workflowId, version, schedules, List.of());
        }

        /**
         * Returns the ticks to record if this schedule is removed or gets other times now. If the caller did not list
         * the ticks, the first one represents all.
         */
        public List<Rows.Tick> leftOf(Rows.Schedule row, long now) {
            for (Left one : left) {
                if (one.name().equals(row.name()) && one.from() == row.nextNominal()) {
                    return one.ticks();
                }
            }
            long through = row.nextNominal() < now ? now : 0;
            return row.nextNominal() > now
                    ? List.of()
                    : List.of(new Rows.Tick(
                            row.workflowId(),
                            row.name(),
                            row.nextNominal(),
                            Ticked.SKIPPED,
                            Tick.Reason.EDITED.word(),
                            null,
                            now,
                            through));
        }

        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /**
     * The new state of a schedule.
     *
     * @param before the row that was read; null if there was none
     */
    record Laid(String name, String spec, long nextNominal, long nextAt, Rows.@Nullable Schedule before) {}

    /**
     * Due ticks of a schedule that was edited before they fired, with the runs that some of them have.
     *
     * @param from the next nominal time of the row that was read
     */
    record Left(String name, long from, List<Rows.Tick> ticks) {
        public Left {
            ticks = List.copyOf(ticks);
        }
    }

    /**
     * Claims due ticks for one worker for a limited time, and returns the claimed schedules.
     *
     * @param by the id of this request
     * @param lasts microseconds
     */
    record TakeTicks(List<Rows.Schedule> due, RunId by, long lasts) implements Edit<List<Rows.Schedule>> {
        /** Sorted in the lock order of schedules. */
        public TakeTicks {
            due = due.stream()
                    .sorted(Comparator.comparing(Rows.Schedule::workflowId).thenComparing(Rows.Schedule::name))
                    .toList();
        }

        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** Records the outcome of claimed ticks and the next tick of each schedule. Returns how many schedules advanced. */
    record SettleTicks(RunId by, List<Settled> settled) implements Edit<Integer> {
        /** Sorted in the lock order of schedules. */
        public SettleTicks {
            settled = settled.stream()
                    .sorted(Comparator.comparing(Settled::workflowId).thenComparing(Settled::name))
                    .toList();
        }

        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /**
     * The recorded ticks of one schedule, and its next tick.
     *
     * @param from the nominal time that was claimed. If the schedule is at another time by now, or another worker
     *     claimed it, runs are still recorded but skipped ticks are not
     * @param lastRun of the newest of these ticks that has one; null keeps the stored one
     */
    record Settled(
            String workflowId,
            String name,
            long from,
            long nextNominal,
            long nextAt,
            @Nullable RunId lastRun,
            List<Rows.Tick> ticks) {}

    /** Records ticks that a user backfilled and returns how many were recorded. A tick that has a run keeps it. */
    record NoteTicks(List<Rows.Tick> ticks) implements Edit<Integer> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** Pauses or resumes one schedule. Returns null if the schedule does not exist. */
    record PauseSchedule(int workspace, String workflowId, String name, boolean paused, By by)
            implements Edit<Rows.@Nullable Schedule> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /**
     * Merges old minute counters into hours and deletes expired counters and facts, up to {@code limit} rows each.
     * Returns the number of deleted rows.
     *
     * @param fine older minutes are merged by the hour
     * @param counts the last minute whose counters are deleted
     * @param facts microseconds; older facts are deleted
     */
    record TidyFigures(long fine, long counts, long facts, int limit) implements Edit<Integer> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** Deletes up to {@code limit} ticks that were recorded before a time, and returns their number. */
    record DeleteTicks(long before, int limit) implements Edit<Integer> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }
}
