package dev.semel.engine.step;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.store.StoreWriteCommand;

/** Delivers a signal to a run, whichever worker executes it. */
@FunctionalInterface
public interface SignalSender {
    StoreWriteCommand.SignalResult signal(int workspace, DurableWorkflowOperations.OutgoingSignal signal, String key);
}
