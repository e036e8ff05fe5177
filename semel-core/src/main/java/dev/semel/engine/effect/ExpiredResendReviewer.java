package dev.semel.engine.effect;

import dev.semel.effect.EffectLedger;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.commit.GroupCommitter;
import dev.semel.engine.commit.StoreQueryThreadPool;
import dev.semel.engine.signal.HumanReviewOpener;
import dev.semel.run.RunId;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWriteCommand;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Opens reviews for effects with an unknown outcome when their provider may have forgotten the key. Their runs have ended,
 * or cannot look by themselves. Any worker may do it; the store lets one of them.
 */
public final class ExpiredResendReviewer {
    private static final int AT_ONCE = 100;
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final GroupCommitter committer;
    private final StoreQueryThreadPool readers;
    private final ClockAndRandomSource environment;
    private volatile boolean moved = true;
    private long nextLook;

    public ExpiredResendReviewer(
            GroupCommitter committer, StoreQueryThreadPool readers, ClockAndRandomSource environment) {
        this.committer = committer;
        this.readers = readers;
        this.environment = environment;
        environment.onClockJump(() -> moved = true);
    }

    /** Opens the reviews of a bounded number of effects, if it is time to look. */
    public void reviewSlice() {
        long nanos = environment.nanos();
        if (!moved && nanos < nextLook) {
            return;
        }
        moved = false; // before the clock is read: a later clock jump starts another look
        if (readers.readNullable(StoreQueries::clockJump) != null) {
            return; // the window may not have passed
        }
        List<EffectLedger.EffectRow> expired = readers.read(reads -> reads.expiredResends(AT_ONCE));
        Map<RunId, Map<String, String>> recorded = new HashMap<>();
        for (EffectLedger.EffectRow row : expired) {
            String options = recorded.computeIfAbsent(
                            row.holder().run(),
                            run -> readers.read(reads -> HumanReviewOpener.readRecorded(reads, run)))
                    .get(row.details().path());
            var review = new HumanReviewStoreWriteCommand.OpenExpiredResend(
                    row.id(),
                    row.holder().run(),
                    row.details().workflowId(),
                    HumanReviewOpener.forUnsettledEffect(row, options));
            var unused = committer.execute(new StoreWriteCommand.ReviewCommand<>(review));
        }
        moved |= expired.size() == AT_ONCE;
        nextLook = nanos + REST_NANOS;
    }
}
