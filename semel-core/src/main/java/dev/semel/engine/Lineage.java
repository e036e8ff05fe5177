package dev.semel.engine;

import dev.semel.admission.KeyRecord;
import dev.semel.journal.JournalResumptions;
import dev.semel.run.RunId;
import dev.semel.store.KeyClaim;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoredRows;
import dev.semel.store.UniqueKey;
import java.time.Duration;
import java.util.List;

/**
 * Finds the newest run of a lineage and derives the unique key of its follow-up.
 * A retry and a safe replay claim the same follow-up key, so only one of them starts a run and the other finds it.
 */
final class Lineage {
    /** Longer than a plan takes to apply, and than any caller acts on old data. */
    static final Duration WINDOW = Duration.ofDays(7);

    private Lineage() {}

    /**
     * The newest run of a lineage.
     *
     * @param keyRecord the record of the requested key, with that run as its current run
     * @param resumptions how often that run was resumed in place
     */
    record NewestRun(KeyRecord keyRecord, int resumptions) {}

    /** Returns the unique key of the follow-up of a run. A resumed run has several ends, each with one follow-up. */
    static UniqueKey followUpKey(int workspace, RunId run, int resumed) {
        return new UniqueKey(workspace, UniqueKey.KeyKind.REPLAY, followUpText(run, resumed));
    }

    static String followUpText(RunId run, int resumed) {
        return resumed == 0 ? run.text() : run.text() + "." + resumed;
    }

    /** Returns the additional key claim of a retry. */
    static KeyClaim followUpClaim(int workspace, NewestRun newest) {
        KeyRecord known = newest.keyRecord();
        UniqueKey followUp = followUpKey(workspace, known.run(), newest.resumptions());
        return new KeyClaim(followUp, known.digest(), Micros.of(WINDOW), KeyRecord.HOLD, true);
    }

    /**
     * Returns the key record with the newest run of its lineage.
     * Ids come from worker clocks, so the last one need not be the newest: from there on follow-up keys lead the way.
     */
    static NewestRun findNewest(StoreQueries reads, int workspace, KeyRecord failed) {
        List<RunId> members = LineageResults.findMembers(reads, failed.lineage());
        StoredRows.RunRow last = reads.claimedRun(members.getLast());
        KeyRecord newest = last == null ? failed : failed.withRun(last.id(), last.chosenId(), last.state());
        int resumed = countResumptions(reads, newest.run());
        for (int i = 0; i <= members.size(); i++) {
            KeyRecord next = reads.findKeys(List.of(followUpKey(workspace, newest.run(), resumed)))
                    .keyRecords()
                    .getFirst();
            if (next == null || !next.lineage().equals(failed.lineage())) {
                return new NewestRun(newest, resumed);
            }
            boolean same = next.run().equals(newest.run()); // it was just resumed in place
            newest = failed.withRun(next.run(), next.chosenRunId(), next.state());
            resumed = same ? resumed + 1 : countResumptions(reads, newest.run());
        }
        return new NewestRun(newest, resumed);
    }

    /** Counts how often a run was resumed in place. */
    static int countResumptions(StoreQueries reads, RunId run) {
        return JournalResumptions.count(LineageResults.readJournal(reads.claimedRun(run), reads.journal(run)));
    }
}
