package dev.semel;

import dev.semel.engine.RunLoop;
import dev.semel.run.RunId;
import dev.semel.store.StoreFailure;
import dev.semel.workflow.Gates;
import org.jspecify.annotations.Nullable;

/** Tells others when a run has ended or rests: what was waiting behind it may go on. */
record Followers(Semel semel) implements RunLoop.Observer {
    /** Another worker made something to do, for this run or (null) for anybody. */
    void told(@Nullable RunId run) {
        try {
            if (run == null || !semel.runs().told(run)) {
                semel.lookForWork();
            }
        } catch (StoreFailure e) {
            semel.lookForWork(); // it was only a hint
        }
    }

    @Override
    public void ended(RunLoop.Resident run) {
        semel.replays().replayer().ended();
        RunId parent = run.parent();
        if (parent != null) {
            semel.wake(parent);
        }
        if (run.falls() > 0 || !run.workflow().extras().gates().equals(Gates.NONE)) {
            semel.lookForWork();
        }
    }

    @Override
    public void putAway(long due) {
        semel.lookForWork();
    }

    @Override
    public void claimedAgain() {
        semel.lookForWork();
    }
}
