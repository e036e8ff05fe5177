package dev.semel.engine.run;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.engine.step.InMemoryRunExecutionState;
import dev.semel.engine.step.RunExecutionAbort;
import dev.semel.engine.step.StepAttemptRunner;
import dev.semel.engine.step.StepJournalMatcher;
import dev.semel.engine.step.StepNameValidator;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.JournalStepPathFormat;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Recorded items run first, also after a failure: they may register compensations. Keys let the order change. */
final class ForEachRunner<I, R> {
    private final StepJournalMatcher parent;
    private final String name;
    private final DurableWorkflowOperations.KeyedItems<I> items;
    private final DurableWorkflowOperations.Branch<I, R> work;
    private final List<@Nullable R> results;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    ForEachRunner(
            StepJournalMatcher parent,
            String name,
            DurableWorkflowOperations.KeyedItems<I> items,
            DurableWorkflowOperations.Branch<I, R> work) {
        this.parent = parent;
        this.name = name;
        this.items = items;
        this.work = work;
        this.results = new ArrayList<>(Collections.nCopies(items.values().size(), null));
    }

    @SuppressWarnings("NullAway") // a branch may answer with null, if its type allows it
    List<R> run() {
        boolean past = parent.enterBranches(name);
        rejectInvalidKeys();
        List<Integer> begun = which(true);
        List<Integer> fresh = which(false);
        if (past) {
            // The journal continues after this forEach. Items that were skipped after a failure are skipped again.
            go(begun);
            go(fresh);
        } else {
            List<Integer> all = new ArrayList<>(begun);
            all.addAll(fresh);
            go(all);
        }
        Throwable failed = failure.get();
        if (failed != null) {
            throw StepAttemptRunner.<RuntimeException>rethrow(failed);
        }
        return Collections.unmodifiableList(results);
    }

    private void rejectInvalidKeys() {
        for (int i = 0; i < items.keys().size(); i++) {
            StepNameValidator.rejectUnstorableKey(name, items.keys().get(i), i + 1);
        }
        if (items.keys().stream().distinct().count() < items.keys().size()) {
            throw new SemelException(
                    ErrorCode.INVALID_DEFINITION,
                    "Two items of forEach \"" + name + "\" have the same key. No item was started.",
                    "Give each item a unique key; the ids of its steps depend on the key.");
        }
    }

    private List<Integer> which(boolean onRecord) {
        return IntStream.range(0, items.values().size())
                .filter(i -> onRecord(i) == onRecord)
                .boxed()
                .toList();
    }

    private boolean onRecord(int item) {
        return parent.execution().journal().hasRecordsIn(prefix(item));
    }

    private String prefix(int item) {
        return JournalStepPathFormat.branch(parent.prefix(), name, items.keys().get(item));
    }

    private void go(List<Integer> which) {
        int threads = Math.min(Math.max(1, items.concurrency()), which.size());
        if (threads == 0) {
            return;
        }
        InMemoryRunExecutionState execution = parent.execution();
        Round round = new Round(which, new CountDownLatch(threads), new AtomicInteger());
        execution.waits().fork(threads);
        for (int i = 0; i < threads; i++) {
            execution.ambient().startThread("branch", () -> work(round));
        }
        join(round.ended());
        execution.throwIfEnded();
        execution.waits().branchesJoined();
    }

    private record Round(List<Integer> which, CountDownLatch ended, AtomicInteger next) {}

    private static void join(CountDownLatch ended) {
        while (true) {
            try {
                ended.await();
                return;
            } catch (InterruptedException _) {
                // User code interrupted the thread. It must not decide how long a run waits.
            }
        }
    }

    /** Body of one thread: takes items until none is left, one has failed, or the run is parked. */
    private void work(Round round) {
        InMemoryRunExecutionState execution = parent.execution();
        for (int n = round.next().getAndIncrement();
                n < round.which().size() && execution.endReason() == null;
                n = round.next().getAndIncrement()) {
            int item = round.which().get(n);
            if (failure.get() == null || onRecord(item)) {
                one(item, round);
            }
        }
        // A parked branch counts as waiting. One that was stopped while working makes the run due at once.
        if (execution.endReason() == null) {
            execution.waits().branchEnded();
        }
        round.ended().countDown();
    }

    /** Runs one item. The first failure is rethrown after all started items have ended. */
    private void one(int item, Round round) {
        StepJournalMatcher scope =
                parent.branch(prefix(item), () -> round.ended().countDown());
        try {
            parent.execution().size().beginItem(parent.isCompensation());
            results.set(
                    item,
                    work.run(new DurableWorkflowContext(scope), items.values().get(item)));
        } catch (RunExecutionAbort unwind) {
            parent.execution().end(unwind);
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
        } finally {
            scope.close();
        }
    }
}
