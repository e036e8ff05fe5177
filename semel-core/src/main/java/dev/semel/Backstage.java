package dev.semel;

import dev.semel.engine.Committer;
import dev.semel.engine.RunLoop;
import dev.semel.engine.Ticker;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Lets the test kit observe whether an engine is idle and make it poll for work. Not for production code. */
public final class Backstage {
    private static final int MOST_OWNED = 100_000;

    private final Semel semel;
    private final Committer committer;
    private final RunLoop runs;
    private final Ticker ticker;

    Backstage(Semel semel, Committer committer, RunLoop runs, Ticker ticker) {
        this.semel = semel;
        this.committer = committer;
        this.runs = runs;
        this.ticker = ticker;
    }

    /** Number of writes that this engine submitted so far. */
    public long movements() {
        return committer.handedOver();
    }

    private record StoreState(long now, long next, List<Write.Driver> owned) {}

    /**
     * When the next run is due by the store's clock, if the engine is idle; empty while it has work.
     * {@link Write.Rest#NEVER} means that only an external message can create work.
     */
    public OptionalLong quietUntil() {
        long before = movements();
        Long lease = committer.lease();
        OptionalLong tick = ticker.quietUntil();
        OptionalLong replay = semel.replays().replayer().quietUntil();
        if (lease == null
                || tick.isEmpty()
                || replay.isEmpty()
                || runs.quietUntil().isEmpty()
                || !committer.isIdle()) {
            return OptionalLong.empty();
        }
        StoreState outside = Objects.requireNonNull(semel.view(
                reads -> new StoreState(reads.now(), reads.nextDue(), reads.owned(lease, null, MOST_OWNED))));
        // Claimed but not loaded yet, or unloaded and about to be claimed again.
        boolean between = outside.owned().stream().anyMatch(driver -> !runs.drives(driver.run()));
        OptionalLong inside = runs.quietUntil();
        if (between || outside.next() <= outside.now() || inside.isEmpty()) {
            return OptionalLong.empty();
        }
        return before == movements()
                ? OptionalLong.of(
                        LongStream.of(tick.getAsLong(), replay.getAsLong(), inside.getAsLong(), outside.next())
                                .min()
                                .getAsLong())
                : OptionalLong.empty();
    }

    /** Makes the engine poll the store for work immediately. */
    public void lookForWork() {
        semel.lookForWork();
    }

    /** The runs that this engine owns according to the store. */
    public List<RunId> driven() {
        Long lease = committer.lease();
        List<Write.Driver> owned = lease == null
                ? List.of()
                : Objects.requireNonNull(semel.view(reads -> reads.owned(lease, null, MOST_OWNED)));
        return owned.stream().map(Write.Driver::run).toList();
    }

    /** The workspace of runs that Java code starts. */
    public int workspace() {
        return semel.library().home().workspace();
    }

    /** The stored row of a run that Java code started; null if it does not exist. */
    public Rows.@Nullable Run row(String runId) {
        try {
            return semel.library().find(workspace(), runId);
        } catch (SemelException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                return null;
            }
            throw e;
        }
    }
}
