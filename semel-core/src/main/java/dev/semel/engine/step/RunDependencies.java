package dev.semel.engine.step;

import dev.semel.engine.EngineLimits;
import dev.semel.engine.commit.GroupCommitter;
import dev.semel.engine.commit.StoreQueryThreadPool;

/** What every execution of a run uses of its worker. */
public record RunDependencies(
        GroupCommitter committer,
        StoreQueryThreadPool readers,
        TransactionStepExecutor transactionStep,
        ChildRunStarter childStarter,
        SignalSender signalSender,
        EngineLimits limits,
        GroupCommitter.EngineDependencies dependencies,
        WorkspaceSecretCache secrets) {}
