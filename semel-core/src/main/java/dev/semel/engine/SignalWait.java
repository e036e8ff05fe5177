package dev.semel.engine;

import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalEntry;
import dev.semel.run.RunId;
import dev.semel.run.StepPathFormat;
import dev.semel.store.KeyedSignalOperation;
import dev.semel.store.KeyedSignalOperation.ListenResult;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoredRows;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Waits for a signal addressed by key instead of by run id.
 * The wait is registered in the store until a keyed signal arrives; a signal to the run itself ends it too. A keyed
 * signal is stored among the signals of the run, one per wait: after a crash either it or the registration is there.
 */
final class SignalWait {
    private final ExecutionScope scope;
    private final Execution execution;
    private final KeyedSignalOperation.SignalAddress to;
    private final KeyedSignalOperation.SignalWaiter registration;
    private final long due;
    private final long since;

    private SignalWait(ExecutionScope scope, KeyedSignalOperation.SignalAddress to, Term term) {
        this.scope = scope;
        this.execution = scope.execution();
        this.to = to;
        this.registration = new KeyedSignalOperation.SignalWaiter(
                execution.run().driver(), term.place().path());
        this.due = term.due();
        this.since = term.since();
    }

    /** @param since earlier keyed signals do not count */
    private record Term(ExecutionScope.StepState place, long due, long since) {}

    /** Returns the next signal and records it; null after the timeout. */
    static @Nullable JsonNode await(
            ExecutionScope scope, String name, KeyedSignalOperation.SignalAddress to, @Nullable Duration longest) {
        ExecutionScope.StepState place = scope.enter(name, JournalEntry.EntryKind.AWAIT);
        JournalEntry.StepResult done = place.done();
        if (done != null) {
            return done.outcome() == JournalEntry.StepOutcome.TIMED_OUT ? null : place.result();
        }
        long due = SignalSteps.startDeadline(scope, place, longest, JournalEntry.EntryKind.AWAIT);
        return new SignalWait(scope, to, new Term(place, due, 0)).next();
    }

    /** The same for a reply to a question: only signals since the last wait of the scope count. */
    static @Nullable JsonNode awaitReply(
            ExecutionScope scope, String name, KeyedSignalOperation.SignalAddress to, @Nullable Duration longest) {
        ExecutionScope.StepState place = scope.enter(name, JournalEntry.EntryKind.AWAIT);
        JournalEntry.StepResult done = place.done();
        if (done != null) {
            return done.outcome() == JournalEntry.StepOutcome.TIMED_OUT ? null : place.result();
        }
        long due = SignalSteps.startDeadline(scope, place, longest, JournalEntry.EntryKind.AWAIT);
        return new SignalWait(scope, to, new Term(place, due, lastWaitEnd(scope.execution(), place.path()))).next();
    }

    /** When the run began, or the last wait of the scope ended, by the clock of the store. */
    private static long lastWaitEnd(Execution execution, String path) {
        RunId id = execution.run().id();
        StoredRows.RunRow run = execution.readNullable(reads -> reads.claimedRun(id));
        long since = run == null ? 0 : run.createdAt();
        String scope = StepPathFormat.scopeOf(path);
        for (StoreQueries.JournalChunk chunk : execution.read(reads -> reads.journal(id))) {
            for (JournalEntry entry : JournalCodec.decode(chunk.entries())) {
                boolean over = entry instanceof JournalEntry.StepResult && entry.kind() == JournalEntry.EntryKind.AWAIT;
                if (over && StepPathFormat.scopeOf(entry.path()).equals(scope)) {
                    since = Math.max(since, entry.at());
                }
            }
        }
        return since;
    }

    private @Nullable JsonNode next() {
        boolean registered = false;
        while (true) {
            scope.checkMayBegin();
            long seen = execution.waits().wakeCount();
            StoredRows.SignalRow found = SignalSteps.findSignal(execution, registration.signalName(), to.name());
            boolean keyed = found != null && found.name().equals(registration.signalName());
            long now = execution.storeNow();
            SignalSteps.WaitEnd over = new SignalSteps.WaitEnd(registration.path(), JournalEntry.EntryKind.AWAIT, now);
            if (found != null || now >= due) {
                if (!keyed && submit(new KeyedSignalOperation.StopListening(registration)) == ListenResult.LETTER) {
                    continue; // it arrived in the last moment, and no other wait will get it
                }
                if (found == null) {
                    return SignalSteps.recordTimeout(execution, over);
                }
                if (execution.takeSignal(found.id().text())) {
                    return SignalSteps.recordTaken(execution, over, found);
                }
                registered = false; // another branch took it, and this wait is no longer registered
            } else if (registered
                    || submit(new KeyedSignalOperation.StartListening(to, registration, scope.isCompensation(), since))
                            == ListenResult.NOTHING) {
                registered = true;
                String what = WaitReasonJson.keyedSignalJson(registration.path(), due, to.name(), to.key());
                scope.await(new BranchWaitTracker.BranchWait(due, what, true, false), seen);
            }
        }
    }

    /** Submits a change of the registration, durably. If another worker owns the run now, that one registers. */
    private ListenResult submit(KeyedSignalOperation<ListenResult> request) {
        StoreWrite.ExecuteCommand<ListenResult> change =
                new StoreWrite.ExecuteCommand<>(new StoreCommand.KeyedSignalCommand<>(request));
        execution.counters().diskWaits.increment();
        ListenResult result = execution.awaitWrite(
                execution.engine().committer().submit(execution.run().lane(), change));
        if (result == ListenResult.GONE) {
            throw execution.end(new ExecutionAbort.OwnershipLost());
        }
        return result;
    }
}
