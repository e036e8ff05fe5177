package dev.semel;

import dev.semel.engine.RunLoop;
import dev.semel.run.RunId;
import dev.semel.store.StoreFailure;
import dev.semel.workflow.Gates;
import org.jspecify.annotations.Nullable;

/** Wakes parent runs and the dispatcher when a run ends, is unloaded, or another worker reports new work. */
record Followers(Semel semel) implements RunLoop.Observer {
    /** Handles a notification from another worker: there is work for this run or, if null, for any run. */
    void told(@Nullable RunId run) {
        try {
            if (run == null || !semel.runs().told(run)) {
                semel.lookForWork();
            }
        } catch (StoreFailure e) {
            semel.lookForWork(); // the notification was only a hint
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
