package dev.semel.engine;

import dev.semel.journal.Resumptions;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.store.Name;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import dev.semel.store.Wish;
import java.time.Duration;
import java.util.List;

/**
 * Finds the newest run of a lineage and derives the unique key of its follow-up.
 * A retry and a safe replay claim the same follow-up key, so only one of them starts a run and the other finds it.
 */
final class Line {
    /** Longer than a plan takes to apply, and than any caller acts on old data. */
    static final Duration WINDOW = Duration.ofDays(7);

    private Line() {}

    /**
     * The newest run of a lineage.
     *
     * @param known the record of the requested key, with that run as its current run
     * @param resumed how often that run was resumed in place
     */
    record Newest(Known known, int resumed) {}

    /** Returns the unique key of the follow-up of a run. A resumed run has several ends, each with one follow-up. */
    static Name following(int workspace, RunId run, int resumed) {
        return new Name(workspace, Name.Kind.REPLAY, text(run, resumed));
    }

    static String text(RunId run, int resumed) {
        return resumed == 0 ? run.text() : run.text() + "." + resumed;
    }

    /** Returns the additional key claim of a retry. */
    static Wish wish(int workspace, Newest newest) {
        Known known = newest.known();
        Name followUp = following(workspace, known.run(), newest.resumed());
        return new Wish(followUp, known.digest(), Micros.of(WINDOW), Known.HOLD, true);
    }

    /**
     * Returns the key record with the newest run of its lineage.
     * Ids come from worker clocks, so the last one need not be the newest: from there on follow-up keys lead the way.
     */
    static Newest newest(Reads reads, int workspace, Known failed) {
        List<RunId> members = Earlier.members(reads, failed.lineage());
        Rows.Run last = reads.claimed(members.getLast());
        Known newest = last == null ? failed : failed.stoodForBy(last.id(), last.chosenId(), last.state());
        int resumed = resumed(reads, newest.run());
        for (int i = 0; i <= members.size(); i++) {
            Known next = reads.names(List.of(following(workspace, newest.run(), resumed)))
                    .known()
                    .getFirst();
            if (next == null || !next.lineage().equals(failed.lineage())) {
                return new Newest(newest, resumed);
            }
            boolean same = next.run().equals(newest.run()); // it was just resumed in place
            newest = failed.stoodForBy(next.run(), next.chosenRunId(), next.state());
            resumed = same ? resumed + 1 : resumed(reads, newest.run());
        }
        return new Newest(newest, resumed);
    }

    /** Counts how often a run was resumed in place. */
    static int resumed(Reads reads, RunId run) {
        return Resumptions.count(Earlier.record(reads.claimed(run), reads.journal(run)));
    }
}
