package dev.semel.store;

import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
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
        @Override
        public int weight() {
            return 512 + run.input().length();
        }
    }

    sealed interface Admitted {
        /** The run exists now. {@code owned}: this worker's lease drives it. */
        record Fresh(
                long now,
                boolean owned,
                RunId lineage,
                @Nullable Earlier earlier,
                @Nullable Known duplicateOf) implements Admitted {}

        /** Binding names are held by live runs, in the order of the wishes; null where the name was free. */
        record Held(long now, List<@Nullable Known> known) implements Admitted {}

        /** Another transaction holds the name and did not end in time. */
        record InUse() implements Admitted {}

        /** The catalog has changed since the workflow was looked up. Nothing was taken; look again and ask again. */
        record Stale() implements Admitted {}

        /** Decided by a neighbour in the same batch: apply it again in the next transaction. */
        record Again() implements Admitted {}
    }

    /** The run that held the name before, and whether it lost it by expiry (false, too, where that is not known any more). */
    record Earlier(RunId run, @Nullable String chosenId, boolean expired) {}

    /** Entries of a run's journal, in order; {@code state} is where the run is after them. */
    record Append(RunId run, int seq, String entries, RunState state) implements Write<Owned> {
        @Override
        public int weight() {
            return 128 + entries.length();
        }
    }

    /** The end of a run, with the entries that were not yet written. */
    record End(RunId run, RunState state, Ending ending, String entries) implements Write<Owned> {
        @Override
        public int weight() {
            return 256
                    + entries.length()
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

    /** Whether the write of an owner counted. */
    enum Owned {
        RECORDED,
        FENCED
    }

    /** Requests that met a known name, gathered; each row has an id of its own, so that counts stay exact. */
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

    /** Takes up to {@code limit} runs that nobody drives. */
    record Claim(int limit) implements Write<List<RunId>> {
        @Override
        public int weight() {
            return 64;
        }
    }

    /** A change that people make, rarely: one statement or few, described by its own type. */
    record Change<T>(Edit<T> edit) implements Write<T> {
        @Override
        public int weight() {
            return 1024;
        }
    }
}
