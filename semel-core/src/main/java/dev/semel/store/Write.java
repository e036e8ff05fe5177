package dev.semel.store;

import dev.semel.effect.Ledger;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything that changes state is one of these. Many are applied in one transaction; each gets its own outcome
 * {@code O}. Applying one twice is the same as applying it once, which is how a cut COMMIT is resolved.
 */
public sealed interface Write<O> {
    /** How many bytes this adds to a batch, roughly. */
    int weight();

    /**
     * A trigger: take the names and create the run, or tell who holds them.
     *
     * @param own this worker has room for it
     * @param change of the catalog under which the workflow was looked up: the names are right under no other
     */
    record Admit(NewRun run, List<Wish> wishes, boolean own, long change) implements Write<Admitted> {
        /**
         * Whether this run may take the name of one that failed: it says that it continues that line, and wants the name
         * of what follows a run of it, which a replay would want as well. So one of them comes first.
         */
        public boolean continues(Known failed) {
            return failed.lineage().equals(run.links().lineage())
                    && wishes.stream().anyMatch(wish -> wish.name().kind() == Name.Kind.REPLAY);
        }

        @Override
        public int weight() {
            return 512 + run.input().length() + run.links().carried().length();
        }
    }

    sealed interface Admitted {
        /** The run exists now. {@code owned}: this worker's lease drives it. {@code queued}: it waits behind its gate. */
        record Fresh(
                long now,
                boolean owned,
                RunId lineage,
                @Nullable Earlier earlier,
                @Nullable Known duplicateOf,
                boolean queued)
                implements Admitted {
            public Fresh(
                    long now, boolean owned, RunId lineage, @Nullable Earlier earlier, @Nullable Known duplicateOf) {
                this(now, owned, lineage, earlier, duplicateOf, false);
            }

            public Fresh behindItsGate() {
                return new Fresh(now, owned, lineage, earlier, duplicateOf, true);
            }
        }

        /** Binding names are held by live runs, in the order of the wishes; null where the name was free. */
        record Held(long now, List<@Nullable Known> known) implements Admitted {}

        /**
         * The first name stands for a run that failed and may be run again, but only by one that {@link Admit#continues}
         * its line. Nothing was taken; look who stands for that line by now and ask again.
         */
        record Failed(long now, Known known) implements Admitted {}

        /** Another transaction holds the name and did not end in time. */
        record InUse() implements Admitted {}

        /** The catalog has changed since the workflow was looked up. Nothing was taken; look again and ask again. */
        record Stale() implements Admitted {}

        /** Decided by a neighbour in the same batch: apply it again in the next transaction. */
        record Again() implements Admitted {}

        /** Another trigger's run waits for quiet and takes this one in: its input is the newest now. */
        record Absorbed(long now, RunId run, @Nullable String chosenId, long due) implements Admitted {}
    }

    /** The run that held the name before, and whether it lost it by expiry (false, too, where that is not known any more). */
    record Earlier(RunId run, @Nullable String chosenId, boolean expired) {}

    /** One execution of a run: the claim counts how often somebody took the run up, so an old execution is known. */
    record Driver(RunId run, int claim) {}

    /**
     * Entries of a run's journal, in order (empty text: none), what they do to the ledger, and where the run is after
     * them. With a {@code rest} the run is put away: nobody owns it until it is due.
     */
    record Append(
            Driver by,
            int seq,
            String entries,
            RunState state,
            List<Ledger.Op> ops,
            @Nullable Rest rest) implements Write<Owned> {
        /** Entries of a run that was taken up once. */
        public Append(RunId run, int seq, String entries, RunState state) {
            this(new Driver(run, 1), seq, entries, state, List.of(), null);
        }

        public RunId run() {
            return by.run();
        }

        /** The run came further. An intent alone is none: its worker may die of it each time anew. */
        public boolean isProgress() {
            return !entries.isEmpty();
        }

        @Override
        public int weight() {
            return 128 + entries.length() + 512 * ops.size();
        }
    }

    /**
     * Until when a run needs nobody.
     *
     * @param due when it is to be taken up again, by the store's clock; {@link #NEVER} where only a wake-up counts
     * @param waits what it waits for, for people and for wake-ups: a JSON text
     * @param signals how many signals the run has seen; where there are more it is due at once
     * @param cancelled its execution knows that it was cancelled; one that does not is due at once
     * @param suspect it brought its workers down: what is known of that stays, until somebody lets it go on
     */
    record Rest(long due, String waits, int signals, boolean cancelled, boolean suspect) {
        public static final long NEVER = Long.MAX_VALUE;

        /** As never; but a worker whose code may fit looks for such runs. */
        public static final long HELD = NEVER - 1;

        public Rest(long due, String waits, int signals) {
            this(due, waits, signals, false, false);
        }
    }

    /**
     * The end of a run, with the entries that were not yet written.
     *
     * @param stumbled an attempt of it failed on the way
     */
    record End(Driver by, RunState state, Ending ending, String entries, List<Ledger.Op> ops, boolean stumbled)
            implements Write<Owned> {
        /** The end of a run whose attempts all came through. */
        public End(Driver by, RunState state, Ending ending, String entries, List<Ledger.Op> ops) {
            this(by, state, ending, entries, ops, false);
        }

        /** The end of a run that was taken up once. */
        public End(RunId run, RunState state, Ending ending, String entries) {
            this(new Driver(run, 1), state, ending, entries, List.of());
        }

        public RunId run() {
            return by.run();
        }

        @Override
        public int weight() {
            return 256
                    + entries.length()
                    + 512 * ops.size()
                    + (ending.output() == null ? 0 : ending.output().length());
        }
    }

    /** What a run leaves behind: an output, or an error. */
    record Ending(
            @Nullable String output,
            @Nullable String errorCode,
            @Nullable String errorMessage,
            @Nullable String errorStep) {
        public static Ending output(String json) {
            return new Ending(json, null, null, null);
        }
    }

    /**
     * Whether the write of an owner counted.
     *
     * @param cancel somebody asked for the end of the run
     * @param verdicts the ledger's answers, in the order of the ops
     */
    record Owned(boolean recorded, boolean cancel, List<Ledger.Verdict> verdicts) implements TxOutcome {
        public static final Owned RECORDED = new Owned(true, false, List.of());
        public static final Owned FENCED = new Owned(false, false, List.of());
    }

    sealed interface TxOutcome {}

    /** The user's code failed, and all it did was undone. */
    record Undone(Throwable failure) implements TxOutcome {}

    /** Not decided: a neighbour in the same transaction stands in the way. Apply it again in the next one. */
    enum Deferred {
        DEFERRED
    }

    /**
     * Requests that met a known name, gathered; each row has an id of its own, so that counts stay exact. Those of a run
     * that was removed meanwhile are dropped.
     */
    record Tally(List<Seen> rows) implements Write<Boolean> {
        @Override
        public int weight() {
            return rows.size() * 160;
        }
    }

    /** One row of the request list: {@code times} equal requests between {@code at} and the end of its second. */
    record Seen(
            RunId id,
            int workspace,
            RunId run,
            boolean conflict,
            long at,
            int statusCode,
            String actor,
            @Nullable String changed,
            long times) {}

    /**
     * Takes up to {@code limit} runs that are due and that nobody drives.
     *
     * @param except ids of workflows that this worker cannot drive
     * @param falls only runs whose worker died with them at most so often in a row
     */
    record Claim(int limit, List<String> except, int falls) implements Write<List<Driver>> {
        public Claim(int limit) {
            this(limit, List.of());
        }

        public Claim(int limit, List<String> except) {
            this(limit, except, Integer.MAX_VALUE);
        }

        @Override
        public int weight() {
            return 64;
        }
    }

    /** The user's own rows and the record of the step, in one commit. Only where the store shares its writer. */
    record Tx(Driver by, int seq, Deed deed) implements Write<TxOutcome> {
        @Override
        public int weight() {
            return 4096;
        }
    }

    /** What a transaction does, on a connection that does not end it; the answer is the journal's entries. A failure undoes all of it and nothing else. */
    @FunctionalInterface
    interface Deed {
        String apply(java.sql.Connection connection) throws Exception;

        /**
         * Whether it takes longer than it may; a store that can end a statement under way asks now and then. Applied
         * again after it was ended so, it fails at once.
         */
        default boolean isLate() {
            return false;
        }

        /** How long it may take; for a store whose server ends a statement itself. Null: as long as the store allows. */
        default java.time.@Nullable Duration longest() {
            return null;
        }
    }

    /**
     * An event, kept beside the triggers that it makes. The time in it is the store's.
     *
     * @param change of the catalog under which it was matched: who subscribed later was not asked
     */
    record Keep(Rows.Event event, long change) implements Write<Kept> {
        /** How long an event is known. One that comes again later is another one, though its row may still be there. */
        public static final Duration WINDOW = Duration.ofDays(7);

        /** Whether this row is known no longer. */
        public static boolean isOver(Rows.Event row, long now) {
            return row.at() <= now - WINDOW.toNanos() / 1_000;
        }

        @Override
        public int weight() {
            return 256 + event.body().length();
        }
    }

    sealed interface Kept {
        /** It is on record. {@code fresh}: by this very write, and not since before. */
        record Now(boolean fresh) implements Kept {}

        /** The catalog has changed since the event was matched. Nothing was kept; match it again. */
        record Stale() implements Kept {}
    }

    /** A change that people make, rarely: one statement or few, described by its own type. */
    record Change<T>(Edit<T> edit) implements Write<T> {
        @Override
        public int weight() {
            return 1024;
        }
    }
}
