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

/** The rare changes that people make. Each says what it did, never nothing. */
public sealed interface Edit<T> {
    /** Whether it may change workflows or tokens, which every worker remembers. */
    default boolean changesCatalog() {
        return false;
    }

    /**
     * Whether it locks rows that have no place in the order in which a batch locks its own: names that are let go or
     * swept, answers that are kept, new workspaces and tokens. Two batches with such changes could wait in a circle, so
     * each has a transaction of its own.
     */
    default boolean standsAlone() {
        return false;
    }

    /** Makes the workspace if there is none of that name; the answer is the one that exists. */
    record OpenWorkspace(String name, byte[] secret) implements Edit<Rows.Workspace> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** Publishes a version for all triggers; an unchanged text stays the version it is. A candidate is over with it. */
    record Publish(int workspace, String name, String workflowId, String body, String actor)
            implements Edit<Rows.Workflow> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /**
     * Publishes where all is as it was when somebody looked; else null, and nothing changes. The text that is current
     * already is no conflict, whatever was seen: asked again it is answered again.
     *
     * @param counted the catalog's number at which something was counted over all workflows; null where nothing was
     * @param seen what its author saw in force; null for whatever there is
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
     * What is in force of a workflow.
     *
     * @param version the current one; 0 where there is no such workflow
     * @param candidate the one that is tried beside it; 0 for none
     */
    record Footing(int version, int candidate) {
        /** Whether a text may follow this, where the workflow is as it is now. */
        public boolean holds(@Nullable Rollout now) {
            return now == null
                    ? version == 0 && candidate == 0
                    : version == now.version() && candidate == now.candidate();
        }
    }

    /** Publishes a version for a share of the fresh triggers, in per cent. Null: no such workflow. */
    record Stage(int workspace, String name, String body, int share, String actor)
            implements Edit<Rows.@Nullable Workflow> {
        public Stage {
            if (share < 1 || share > Rollout.LARGEST_SHARE) {
                throw new IllegalArgumentException("a share is 1 to 99 per cent, not " + share);
            }
        }

        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /**
     * Makes the candidate the current version. Where there is none, or not the one that is wanted, nothing changes. Null:
     * no such workflow.
     *
     * @param version the candidate that is meant; 0 for whichever there is
     */
    record Promote(int workspace, String workflowId, int version, String actor)
            implements Edit<Rows.@Nullable Workflow> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /**
     * Ends the candidate, if there is one; with a version, its text is current again, under a new number. Null: no such
     * workflow or version.
     *
     * @param version whose text is to be current; 0 for the current one
     */
    record Rollback(int workspace, String workflowId, int version, String actor, String reason)
            implements Edit<Rows.@Nullable Workflow> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /** Pauses or resumes; resuming lets queued runs go. Null: no such workflow. */
    record Pause(int workspace, String workflowId, boolean paused) implements Edit<Rows.@Nullable Workflow> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /**
     * Makes a token, and first its workspace where it says one. Answers the token as it is stored; null: its id or hash
     * is taken, or there is such a workspace already. Applied again it answers the same token.
     *
     * @param inside a workspace that must be new; null: the one that the token names
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

    record RevokeToken(int workspace, String tokenId, String actor) implements Edit<Boolean> {
        @Override
        public boolean changesCatalog() {
            return true;
        }
    }

    /**
     * Who wants a change, and why, for the audit.
     *
     * @param id of this very request: where the audit has it, the request was done and only its answer was lost
     */
    record By(RunId id, String actor, String reason) {}

    /**
     * Lets a name go, as long as it stands for that run: the next trigger with it is fresh. Asked twice it does nothing
     * more, even if the name was given to another run meanwhile. False: it was let go before, or stands for another run.
     * Applied again, after a lost answer, it answers what it answered first.
     */
    record Release(Name name, RunId run, By by) implements Edit<Boolean> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /**
     * Lets a name stand for longer, as long as it stands for that run: until then at least, never shorter. False: it
     * stands for another run, was let go, or is over. Applied again it answers what it answered first.
     *
     * @param until microseconds of the store's clock
     */
    record Extend(Name name, RunId run, long until, By by) implements Edit<Boolean> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** Several names as one deed; those of payloads go with their keys. True: a key was let go. */
    record ReleaseAll(List<Release> releases) implements Edit<Boolean> {
        /** In the order in which every trigger locks names. */
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
     * A change that came with a key of its caller. The first one is done, and its answer is kept in the same transaction;
     * later ones get that answer and do nothing.
     *
     * @param answer the text to keep; null where the change refused, which leaves nothing behind
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
     * A request for a change.
     *
     * @param id of this very request: where it finds its own answer, that answer was lost and is no replay
     * @param operation keys of different operations never meet
     * @param digest of all that defines the request
     * @param window microseconds for which the answer is kept
     */
    record Asked(RunId id, int workspace, String operation, String key, byte[] digest, long window) {}

    /**
     * A change with its row in the audit, in one transaction: who did it, to what, and why. Applied again it leaves one row.
     *
     * @param done whether the outcome is worth a row: what was refused, or was so before, leaves none
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

    /** A row of the audit. No value of a payload and no secret may be in it. */
    record Note(int workspace, String action, String target, By by) {}

    sealed interface Replied {
        /** Done now, or done before. */
        record Done(String answer, boolean replayed) implements Replied {}

        /** The change refused; nothing is kept. */
        record Refused() implements Replied {}

        /** The key came with another request before. Nothing was done. */
        record OtherRequest() implements Replied {}
    }

    /** Deletes up to {@code limit} answers that are kept no longer; says how many. */
    record DeleteReplies(int limit) implements Edit<Integer> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** Deletes these tombstones, where they still are what was read; answers how many. */
    record DeleteNames(List<Tombstone> tombstones) implements Edit<Integer> {
        /** In the order in which every trigger locks names. */
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
     * Removes runs that ended before then, with all that is known of them; answers how many. A lineage goes as a whole,
     * by its first run, and not while a name, an effect in its window or in doubt, or an unfinished parent needs it.
     */
    record DeleteRuns(List<RunId> first, long endedBefore) implements Edit<Integer> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /**
     * Takes out what such runs were told and what they made: input, output, results. The runs stay, with how they ended.
     * Answers how many had something. What may not be removed yet keeps its payload as well.
     */
    record BlankRuns(List<RunId> first, long endedBefore) implements Edit<Integer> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** What is kept in rows of its own, and forgotten by its age. */
    enum Memory {
        /** Rows of single duplicates; their counts stay with the run. */
        REQUESTS,
        AUDIT
    }

    /** Deletes the oldest rows that were written before then, of up to {@code limit} that are looked at; says how many. */
    record Forget(Memory memory, long before, int limit) implements Edit<Integer> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** Deletes these events, where they still are what was read; answers how many. */
    record DeleteEvents(List<OldEvent> events) implements Edit<Integer> {
        /** In the order in which every batch locks events. */
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

    /** An event past its time: which one and when it came. */
    record OldEvent(int ws, String eventId, long at) {}

    /** A name past its time: who held it and until when. */
    record Tombstone(Name name, RunId run, long expiresAt) {}

    /** A signal for a run: sent twice with one key it arrives once. It makes a run that waits due. */
    record Signal(int workspace, RunId run, String name, String key, String value) implements Edit<Signalled> {}

    enum Signalled {
        DELIVERED,
        /** The same key came before. */
        REPEATED,
        /** No such run, or it has ended. */
        GONE
    }

    /** Something about letters: signals by a key, for whoever waits for them. */
    record Mail<T>(Letter<T> letter) implements Edit<T> {
        @Override
        public boolean standsAlone() {
            return letter.standsAlone();
        }
    }

    /** Something about plans of safe replays. */
    record Replaying<T>(Replay<T> replay) implements Edit<T> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** Something about reviews: questions that runs put to people. */
    record Reviewing<T>(Review<T> review) implements Edit<T> {
        @Override
        public boolean standsAlone() {
            return true; // it locks an effect and a question after their run, in one order
        }
    }

    /** Asks a run to end. It ends when its owner sees this. False: no such run, or it has ended. */
    record Cancel(int workspace, RunId run, String actor, String reason) implements Edit<Boolean> {}

    /** Makes runs due now, or as soon as whoever drives them puts them away. Answers how many there were. */
    record Wake(List<RunId> runs) implements Edit<Integer> {}

    /** Gives a claimed run back, to be taken up by somebody else. */
    record GiveBack(Write.Driver driver) implements Edit<Boolean> {}

    /** Makes runs due again that were held because the code did not fit; called when code may have changed. */
    record WakeHeld(String workflowId) implements Edit<Integer> {}

    /** Lets a run go on that is held. False: no such run, or it is not held. */
    record GoOn(int workspace, RunId run, String actor, String reason) implements Edit<Boolean> {}

    /**
     * Takes the end of a run that failed back: it is at work again, under its own id. An end is followed once, by a replay
     * or by this, under one name; so of all who saw the same end one does it. Applied again it answers what it answered
     * first.
     *
     * @param endedAt when it ended, as it was seen
     * @param name under which this very end is followed
     * @param claims from which its executions are counted on
     * @param seq of the new chunk of its journal
     * @param entries of that chunk: what the end held, and that it was taken back
     * @param places in queues that it goes through again
     * @param ops what a person says of its effects
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
        /** In the order in which every batch locks queues and effects. */
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

    enum Resumed {
        /** It is at work again. */
        DONE,
        /** It has not ended, ended otherwise or at another time, or is gone. Nothing was changed. */
        MOVED,
        /** Another run follows its end. Nothing was changed. */
        FOLLOWED
    }

    /**
     * A person says how an effect in doubt ended: with this result, or (null) not at all. False: it is not in doubt, or
     * was decided before by another request.
     */
    record Decide(Ledger.Id effect, RunId run, @Nullable String result, By by) implements Edit<Boolean> {}

    /**
     * Makes this text the current version of a document. Where it already is, nothing changes, whatever was expected: so
     * whoever lost the answer and asks again is told the same.
     *
     * @param expected the version it replaces, 0 where there must be none; null: whatever there is
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

    /** Removes a document: its next version says so and has no text. Asked again it answers that same version. */
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
     * Puts or removes a watched document where the catalog is still at this number, so that what was counted over other
     * documents holds; else it answers {@link Placed.Moved} with the version that is current, and nothing changes. What
     * stands already is told all the same: so it may be applied twice.
     */
    record PlaceAsOf(Edit<Placed> place, long change) implements Edit<Placed> {
        /** No document has this version. */
        private static final int NEVER = -1;

        public PlaceAsOf {
            if (!(place instanceof Put || place instanceof Remove) || !place.changesCatalog()) {
                throw new IllegalArgumentException("only watched documents move the catalog");
            }
        }

        /** What is to be done with the catalog at this number. */
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
     * A delivery of a webhook that came in. Where it was not turned away before, its id and its signature are held against
     * those that came in their window, and the answer says what became of it. Applied again it answers the same. Null:
     * so many were turned away in this hour that this one is not kept.
     */
    record Receive(Delivery delivery, Delivery.Memory memory) implements Edit<@Nullable Delivery> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** Deletes up to {@code limit} deliveries, payloads and marks each that are kept no longer; says how many. */
    record DeleteDeliveries(int limit) implements Edit<Integer> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    sealed interface Placed {
        /** What was asked for stands. */
        record Now(Rows.Setting row) implements Placed {}

        /** Another version than the expected one is current, or (0) none. Nothing was changed. */
        record Moved(int version) implements Placed {}

        /** There never was such a document to remove. */
        record Absent() implements Placed {}
    }

    /**
     * Lays out the schedules of a workflow's version; others of that workflow are removed, and what became of their ticks
     * stays. Nothing changes, and it answers false, where that version is not current or a row is not what it was.
     *
     * @param left what is told of the ticks that rows leave behind which go or get other times
     */
    record LayOut(int workspace, String workflowId, int version, List<Laid> schedules, List<Left> left)
            implements Edit<Boolean> {
        public LayOut {
            schedules =
                    schedules.stream().sorted(Comparator.comparing(Laid::name)).toList();
            left = List.copyOf(left);
        }

        /** One that leaves it to the store what is told of ticks that are left behind. */
        public LayOut(int workspace, String workflowId, int version, List<Laid> schedules) {
            this(workspace, workflowId, version, schedules, List.of());
        }

        /**
         * What is told where this row goes, or gets other times, at this moment. Where nobody has looked at its ticks one
         * by one, the first of them stands for all.
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
     * A schedule as it is to be.
     *
     * @param before how it stood; null where there was none
     */
    record Laid(String name, String spec, long nextNominal, long nextAt, Rows.@Nullable Schedule before) {}

    /**
     * Ticks whose time had come when their schedule was edited, and the runs that some of them have.
     *
     * @param from the nominal time at which the row stood that was looked at
     */
    record Left(String name, long from, List<Rows.Tick> ticks) {
        public Left {
            ticks = List.copyOf(ticks);
        }
    }

    /**
     * Takes ticks that are due, to see to them alone for a while. Answers those it got.
     *
     * @param by of this very request
     * @param lasts microseconds
     */
    record TakeTicks(List<Rows.Schedule> due, RunId by, long lasts) implements Edit<List<Rows.Schedule>> {
        /** In the order in which all changes lock schedules. */
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

    /** Writes down what became of ticks that were taken, and which comes next. Answers how many schedules moved on. */
    record SettleTicks(RunId by, List<Settled> settled) implements Edit<Integer> {
        /** In the order in which all changes lock schedules. */
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
     * @param from the nominal time that was taken. Where the schedule stands at another one by now, or was taken by
     *     somebody else, runs are written down all the same, and what was skipped is theirs to say
     * @param lastRun of the newest of these ticks that had one; null leaves it as it is
     */
    record Settled(
            String workflowId,
            String name,
            long from,
            long nextNominal,
            long nextAt,
            @Nullable RunId lastRun,
            List<Rows.Tick> ticks) {}

    /** Writes down ticks that a person asked for. A tick that has a run keeps it. Answers how many were written. */
    record NoteTicks(List<Rows.Tick> ticks) implements Edit<Integer> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** Pauses or resumes one schedule. Null: no such schedule. */
    record PauseSchedule(int workspace, String workflowId, String name, boolean paused, By by)
            implements Edit<Rows.@Nullable Schedule> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /**
     * Makes hours of minutes that are long over, and removes counts and facts that are kept no longer; up to {@code
     * limit} rows of each. Answers how many went.
     *
     * @param fine minutes that are older are gathered by the hour
     * @param counts the last minute that is gone
     * @param facts microseconds
     */
    record TidyFigures(long fine, long counts, long facts, int limit) implements Edit<Integer> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }

    /** Deletes up to {@code limit} ticks that were written down before then; answers how many. */
    record DeleteTicks(long before, int limit) implements Edit<Integer> {
        @Override
        public boolean standsAlone() {
            return true;
        }
    }
}
