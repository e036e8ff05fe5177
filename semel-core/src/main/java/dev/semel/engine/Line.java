package dev.semel.engine;

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

    /** The name of whatever follows a run. */
    static Name following(int workspace, RunId run) {
        return new Name(workspace, Name.Kind.REPLAY, run.text());
    }

    /** What a retry wants beside its own names. */
    static Wish wish(int workspace, Known newest) {
        long window = WINDOW.toNanos() / 1_000;
        return new Wish(following(workspace, newest.run()), newest.digest(), window, Known.HOLD, true);
    }

    /**
     * The same name, as the newest run of its line stands for it. Ids are made by the clocks of workers, so the last of
     * them need not be the newest: from there on it is followed by name.
     */
    static Known newest(Reads reads, int workspace, Known failed) {
        List<RunId> members = Earlier.members(reads, failed.lineage());
        Rows.Run last = reads.claimed(members.getLast());
        Known newest = last == null ? failed : failed.stoodForBy(last.id(), last.chosenId(), last.state());
        for (int i = 0; i <= members.size(); i++) {
            Known next = reads.names(List.of(following(workspace, newest.run())))
                    .known()
                    .getFirst();
            if (next == null || !next.lineage().equals(failed.lineage())) {
                return newest;
            }
            newest = failed.stoodForBy(next.run(), next.chosenRunId(), next.state());
        }
        return newest;
    }
}
