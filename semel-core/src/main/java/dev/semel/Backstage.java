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

/** What a test kit sees of an engine: whether it moves, and how to make it look. Nothing here is for production. */
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

    /** Moves with everything that this engine writes. */
    public long movements() {
        return committer.handedOver();
    }

    private record Outside(long now, long next, List<Write.Driver> owned) {}

    /**
     * When the next run is due by the store's clock ({@link Write.Rest#NEVER}: only a message can move anything), as long
     * as nothing moves by itself; empty while something does.
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
        Outside outside = Objects.requireNonNull(
                semel.view(reads -> new Outside(reads.now(), reads.nextDue(), reads.owned(lease, null, MOST_OWNED))));
        // Claimed and not yet in memory, or let go of and to be taken up again.
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

    /** The engine looks for work at once. */
    public void lookForWork() {
        semel.lookForWork();
    }

    /** The runs that this engine owns by what the store says. */
    public List<RunId> driven() {
        Long lease = committer.lease();
        List<Write.Driver> owned = lease == null
                ? List.of()
                : Objects.requireNonNull(semel.view(reads -> reads.owned(lease, null, MOST_OWNED)));
        return owned.stream().map(Write.Driver::run).toList();
    }

    /** The workspace of what is started from code. */
    public int workspace() {
        return semel.library().home().workspace();
    }

    /** The row of a run that was started from code; null where there is none. */
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
