package dev.semel;

import dev.semel.engine.RunLoop;
import dev.semel.run.RunId;
import dev.semel.workflow.Gates;

/** Tells others when a run has ended or rests: what was waiting behind it may go on. */
record Followers(Semel semel) implements RunLoop.Observer {
    @Override
    public void ended(RunLoop.Resident run) {
        RunId parent = run.parent();
        if (parent != null) {
            semel.wake(parent);
        }
        if (!run.workflow().extras().gates().equals(Gates.NONE)) {
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
