package dev.semel.engine;

import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalEntry;
import dev.semel.run.JournalStepPathFormat;
import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.KeyedSignalStoreWriteCommand;
import dev.semel.store.KeyedSignalStoreWriteCommand.ListenResult;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A signal to the run itself ends the wait too. A keyed signal is stored among the signals of the run, one per wait:
 * after a crash either it or the registration is there.
 */
final class KeyedSignalWaitExecutor {
    private final StepJournalMatcher scope;
    private final InMemoryRunExecutionState execution;
    private final KeyedSignalStoreWriteCommand.SignalAddress to;
    private final KeyedSignalStoreWriteCommand.SignalWaiter registration;
    private final long due;
    private final long since;

    /** @param since earlier keyed signals do not count */
    private KeyedSignalWaitExecutor(
            StepJournalMatcher scope,
            KeyedSignalStoreWriteCommand.SignalAddress to,
            StepJournalMatcher.StepState state,
            long due,
            long since) {
        this.scope = scope;
        this.execution = scope.execution();
        this.to = to;
        this.registration =
                new KeyedSignalStoreWriteCommand.SignalWaiter(execution.run().driver(), state.path());
        this.due = due;
        this.since = since;
    }

    /** Null after the timeout. {@code reply}: only keyed signals since the last wait of the scope count. */
    static @Nullable JsonNode await(
            StepJournalMatcher scope,
            String name,
            KeyedSignalStoreWriteCommand.SignalAddress to,
            @Nullable Duration longest,
            boolean reply) {
        StepJournalMatcher.StepState state = scope.enter(name, JournalEntry.EntryKind.AWAIT);
        JournalEntry.StepResult done = state.done();
        if (done != null) {
            return done.outcome() == JournalEntry.StepOutcome.TIMED_OUT ? null : state.result();
        }
        long due = SignalWaitExecutor.startDeadline(scope, state, longest, JournalEntry.EntryKind.AWAIT);
        long since = reply ? lastWaitEnd(scope.execution(), state.path()) : 0;
        return new KeyedSignalWaitExecutor(scope, to, state, due, since).next();
    }

    /** When the run began, or the last wait of the scope ended, by the clock of the store. */
    private static long lastWaitEnd(InMemoryRunExecutionState execution, String path) {
        RunId id = execution.run().id();
        DatabaseRows.RunRow run = execution.readNullable(reads -> reads.claimedRun(id));
        long since = run == null ? 0 : run.createdAt();
        String scope = JournalStepPathFormat.scopeOf(path);
        for (StoreQueries.JournalChunk chunk : execution.read(reads -> reads.journal(id))) {
            for (JournalEntry entry : JournalCodec.decode(chunk.entries())) {
                boolean over = entry instanceof JournalEntry.StepResult && entry.kind() == JournalEntry.EntryKind.AWAIT;
                if (over && JournalStepPathFormat.scopeOf(entry.path()).equals(scope)) {
                    since = Math.max(since, entry.at());
                }
            }
        }
        return since;
    }

    private @Nullable JsonNode next() {
        boolean registered = false;
        boolean arrived = false;
        SignalInbox.SignalSearch search = execution.searchSignals();
        while (true) {
            scope.checkMayBegin();
            long seen = execution.waits().wakeCount();
            DatabaseRows.UnreadSignal found = arrived
                    ? search.findNew(seen, registration.signalName(), to.name())
                    : search.find(seen, registration.signalName(), to.name());
            arrived = false;
            boolean keyed = found != null && found.name().equals(registration.signalName());
            long now = execution.storeNow();
            SignalWaitExecutor.WaitEnd over =
                    new SignalWaitExecutor.WaitEnd(registration.path(), JournalEntry.EntryKind.AWAIT, now);
            if (found != null || now >= due) {
                if (!keyed
                        && submit(new KeyedSignalStoreWriteCommand.StopListening(registration))
                                == ListenResult.SIGNAL) {
                    arrived = true; // in the last moment, and no other wait will get it
                    continue;
                }
                if (found == null) {
                    return SignalWaitExecutor.recordTimeout(execution, over);
                }
                if (execution.takeSignal(found.id().text())) {
                    return SignalWaitExecutor.recordTaken(execution, over, found);
                }
                registered = false; // another branch took it, and this wait is no longer registered
            } else if (!registered
                    && submit(new KeyedSignalStoreWriteCommand.StartListening(
                                    to, registration, scope.isCompensation(), since))
                            == ListenResult.SIGNAL) {
                arrived = true;
            } else {
                registered = true;
                String what = StoredRunWaitReasonWriter.keyedSignalJson(registration.path(), due, to.name(), to.key());
                scope.await(new WaitingBranchesRunSuspender.BranchWait(due, what, true, false), seen);
            }
        }
    }

    /** Submits a change of the registration, durably. If another worker owns the run now, that one registers. */
    private ListenResult submit(KeyedSignalStoreWriteCommand<ListenResult> request) {
        StoreWrite.ExecuteCommand<ListenResult> change =
                new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.KeyedSignalCommand<>(request));
        execution.counters().diskWaits.increment();
        ListenResult result = execution.awaitWrite(
                execution.engine().committer().submit(execution.run().lane(), change));
        if (result == ListenResult.GONE) {
            throw execution.end(new RunExecutionAbort.OwnershipLost());
        }
        return result;
    }
}
