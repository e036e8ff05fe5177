package dev.semel.engine.admission;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.engine.step.PreviousRunResultFinder;
import dev.semel.journal.ResumedRunJournalReader;
import dev.semel.run.MicrosecondConverter;
import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import java.time.Duration;
import java.util.List;

/** A retry and a safe replay claim the same follow-up key, so only one starts a run and the other finds it. */
public final class RetryAndReplayKeyDerivation {
    /** Longer than a plan takes to apply, and than any caller acts on old data. */
    public static final Duration WINDOW = Duration.ofDays(7);

    private RetryAndReplayKeyDerivation() {}

    /** @param keyRecord the record of the requested key, with that run as its current run */
    record NewestRun(RunDeduplicationKeyRecord keyRecord, int resumptions) {}

    /** Returns the unique key of the follow-up of a run. A resumed run has several ends, each with one follow-up. */
    public static RunDeduplicationKey followUpKey(int workspace, RunId run, int resumed) {
        return new RunDeduplicationKey(workspace, RunDeduplicationKey.KeyKind.REPLAY, followUpText(run, resumed));
    }

    public static String followUpText(RunId run, int resumed) {
        return resumed == 0 ? run.text() : run.text() + "." + resumed;
    }

    static RunDeduplicationKeyClaim followUpClaim(int workspace, NewestRun newest) {
        RunDeduplicationKeyRecord keyRecord = newest.keyRecord();
        RunDeduplicationKey followUp = followUpKey(workspace, keyRecord.run(), newest.resumptions());
        return new RunDeduplicationKeyClaim(
                followUp, keyRecord.digest(), MicrosecondConverter.of(WINDOW), RunDeduplicationKeyRecord.HOLD, true);
    }

    /** Ids come from worker clocks, so the last need not be the newest: from there on, follow-up keys lead the way. */
    static NewestRun findNewest(StoreQueries reads, int workspace, RunDeduplicationKeyRecord failed) {
        List<RunId> members = PreviousRunResultFinder.findMembers(reads, failed.lineage());
        DatabaseRows.RunRow last = reads.claimedRun(members.getLast());
        RunDeduplicationKeyRecord newest =
                last == null ? failed : failed.withRun(last.id(), last.chosenId(), last.state());
        int resumed = countResumptions(reads, newest.run());
        for (int i = 0; i <= members.size(); i++) {
            RunDeduplicationKeyRecord next = reads.findKeys(List.of(followUpKey(workspace, newest.run(), resumed)))
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

    public static int countResumptions(StoreQueries reads, RunId run) {
        return ResumedRunJournalReader.count(
                PreviousRunResultFinder.readJournal(reads.claimedRun(run), reads.journal(run)));
    }
}
