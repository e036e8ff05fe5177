package dev.semel.runtime;

import dev.semel.definition.ConcurrencyControl;
import dev.semel.engine.run.RunExecutor;
import dev.semel.engine.step.ActiveRun;
import dev.semel.run.RunId;
import dev.semel.store.StoreFailure;
import org.jspecify.annotations.Nullable;

/** Wakes parent runs and the dispatcher when a run ends, is unloaded, or another worker reports new work. */
record ParentRunWaker(SemelRuntime semel) implements RunExecutor.RunObserver {
    /** Handles a notification from another worker: there is work for this run or, if null, for any run. */
    void onNotification(@Nullable RunId run) {
        try {
            if (run == null || !semel.runExecutor().onRemoteWake(run)) {
                semel.lookForWork();
            }
        } catch (StoreFailure e) {
            semel.lookForWork(); // the notification was only a hint
        }
    }

    @Override
    public void onEnded(ActiveRun run) {
        semel.replays().replayer().onRunEnded();
        RunId parent = run.parent();
        if (parent != null) {
            semel.wake(parent);
        }
        if (run.crashCount().stored() > 0
                || !run.workflow().options().concurrency().equals(ConcurrencyControl.NONE)) {
            semel.lookForWork();
        }
    }

    @Override
    public void onParked(long due) {
        semel.lookForWork();
    }

    @Override
    public void onReclaimed() {
        semel.lookForWork();
    }
}
