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
 * Who stands for a name whose run failed and may be run again: the newest run of that line, whoever started it. A retry
 * follows that one under the very name under which a replay would, so of the two one comes first and the other finds it.
 */
final class Line {
    /** Longer than a plan can be applied, and than anybody asks with what he has read. */
    static final Duration WINDOW = Duration.ofDays(7);

    private Line() {}

    /**
     * The newest run of a line.
     *
     * @param known the name that was asked for, as that run stands for it
     * @param resumed how often that run went on in place
     */
    record Newest(Known known, int resumed) {}

    /** The name of whatever follows the end of a run. One that went on in place has several ends, each followed once. */
    static Name following(int workspace, RunId run, int resumed) {
        return new Name(workspace, Name.Kind.REPLAY, text(run, resumed));
    }

    static String text(RunId run, int resumed) {
        return resumed == 0 ? run.text() : run.text() + "." + resumed;
    }

    /** What a retry wants beside its own names. */
    static Wish wish(int workspace, Newest newest) {
        Known known = newest.known();
        Name behind = following(workspace, known.run(), newest.resumed());
        return new Wish(behind, known.digest(), Micros.of(WINDOW), Known.HOLD, true);
    }

    /**
     * The same name, as the newest run of its line stands for it. Ids are made by the clocks of workers, so the last of
     * them need not be the newest: from there on it is followed by name.
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
            boolean same = next.run().equals(newest.run()); // it has just gone on in place
            newest = failed.stoodForBy(next.run(), next.chosenRunId(), next.state());
            resumed = same ? resumed + 1 : resumed(reads, newest.run());
        }
        return new Newest(newest, resumed);
    }

    /** How often a run went on in place. */
    static int resumed(Reads reads, RunId run) {
        return Resumptions.count(Earlier.record(reads.claimed(run), reads.journal(run)));
    }
}
