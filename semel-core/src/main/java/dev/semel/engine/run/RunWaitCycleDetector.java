package dev.semel.engine.run;

import dev.semel.admission.StartConditions;
import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.engine.commit.StoreQueryThreadPool;
import dev.semel.engine.step.ActiveRun;
import dev.semel.engine.step.InMemoryRunExecutionState;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.NewRun;
import dev.semel.store.StoreQueries;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Rejects calls and starts of child runs that would make a run wait for itself, directly or through its callers. */
public final class RunWaitCycleDetector {
    /** Bound on the number of callers that are checked. Nested calls that wait do not get this deep. */
    private static final int DEEPEST = 1_000;

    private RunWaitCycleDetector() {}

    /**
     * Rejects a child that would wait for a run which waits for a caller of the child, directly or through calls and
     * queues of other runs. Also rejects with free slots: once as many parents as slots wait for children, none of them
     * ever ends.
     */
    public static void rejectQueueCycle(StoreQueryThreadPool readers, NewRun child, String workflow) {
        RunId parent = child.links().parent();
        StartConditions conditions = child.startConditions();
        if (parent == null || conditions == null || conditions.queueLimits().isEmpty()) {
            return;
        }
        List<String> wanted = conditions.queueLimits().stream()
                .map(StartConditions.QueueLimit::queue)
                .toList();
        String holder = readers.readNullable(reads -> {
            String caller =
                    find(reads, parent, run -> reads.queuesOf(run.id()).stream().anyMatch(wanted::contains));
            return caller != null ? caller : findDeadlock(reads, parent, wanted);
        });
        if (holder != null) {
            throw new SemelException(
                    ErrorCode.WAITS_FOR_ITSELF,
                    "A new run of workflow \"" + workflow + "\" would wait for run " + holder
                            + " to end (serialBy or maxConcurrent), but run " + holder
                            + " waits for the new run. No run was started.",
                    "Call a workflow without this limit or with another serialBy key, or start the workflow without"
                            + " waiting for it.");
        }
    }

    /**
     * Returns a run with a place in a wanted queue that would never become free; null if each becomes free. A place
     * becomes free if its run can end: it waits for no call, or all queues in which its calls wait become free. The
     * callers of the child can end only if the child can start. Two calls that are admitted at the same moment do not
     * see each other.
     */
    private static @Nullable String findDeadlock(StoreQueries reads, RunId parent, List<String> wanted) {
        Set<RunId> callers = new HashSet<>();
        find(reads, parent, run -> {
            callers.add(run.id());
            return false;
        });
        Map<String, List<StoreQueries.QueueHolder>> queues = readHolders(reads, callers, wanted);
        Set<String> free = new HashSet<>();
        boolean changed = true;
        while (changed) {
            changed = false;
            for (Map.Entry<String, List<StoreQueries.QueueHolder>> queue : queues.entrySet()) {
                boolean childStarts = free.containsAll(wanted);
                boolean becomesFree = queue.getValue().stream()
                        .anyMatch(holder -> callers.contains(holder.run())
                                ? childStarts
                                : free.containsAll(holder.waitingQueues()));
                if (becomesFree || hasFreePlace(queue.getValue())) {
                    changed |= free.add(queue.getKey());
                }
            }
        }
        for (String queue : wanted) {
            if (!free.contains(queue)) {
                return Objects.requireNonNull(queues.get(queue))
                        .getFirst()
                        .run()
                        .text();
            }
        }
        return null;
    }

    /** Reads who has places in the wanted queues, and in the queues in which calls of these runs wait. */
    private static Map<String, List<StoreQueries.QueueHolder>> readHolders(
            StoreQueries reads, Set<RunId> callers, List<String> wanted) {
        Map<String, List<StoreQueries.QueueHolder>> queues = new LinkedHashMap<>();
        Deque<String> open = new ArrayDeque<>(wanted);
        while (!open.isEmpty()) {
            String queue = open.remove();
            if (queues.containsKey(queue)) {
                continue;
            }
            // With so many queues or places, one is assumed to become free.
            List<StoreQueries.QueueHolder> holders =
                    queues.size() < DEEPEST ? reads.queueHolders(queue, DEEPEST) : List.of();
            queues.put(queue, holders.size() < DEEPEST ? holders : List.of());
            holders.stream()
                    .filter(holder -> !callers.contains(holder.run()))
                    .forEach(holder -> open.addAll(holder.waitingQueues()));
        }
        return queues;
    }

    private static boolean hasFreePlace(List<StoreQueries.QueueHolder> holders) {
        return holders.isEmpty() || holders.size() < holders.getFirst().limit();
    }

    /** A cycle in YAML never ends. Publishing rejects it, but two concurrent publishes or a rollback can create one. */
    static void rejectCallCycle(
            InMemoryRunExecutionState execution, DurableWorkflowOperations.ChildWorkflowCall child) {
        ActiveRun caller = execution.run();
        String called = execution.engine().childStarter().workflowId(caller, child);
        boolean own = caller.workflow().workflowId().equals(called);
        RunId parent = caller.parent();
        String above = own || parent == null
                ? null
                : execution.readNullable(
                        reads -> find(reads, parent, run -> run.workflowId().equals(called)));
        if (own || above != null) {
            throw new SemelException(
                    ErrorCode.WAITS_FOR_ITSELF,
                    "Run " + caller.runId() + " called workflow \"" + child.workflow() + "\", but run "
                            + (own ? caller.runId() : above)
                            + " of that workflow waits for the caller: the calls form a cycle. No run was started.",
                    "Remove one of the calls from the cycle and publish that workflow again.");
        }
    }

    /** Returns the run that a call found by key or id. Rejects a run that waits for the call itself. */
    static RunId rejectSelfWait(InMemoryRunExecutionState execution, RunId called) {
        RunId caller = execution.run().id();
        String waits = execution.readNullable(
                reads -> find(reads, caller, run -> run.id().equals(called)));
        if (waits != null) {
            throw new SemelException(
                    ErrorCode.WAITS_FOR_ITSELF,
                    "The key of this call belongs to run " + waits + ", which waits for this call. No run was started.",
                    "Call the workflow with a different key or without a key.");
        }
        return called;
    }

    /** Returns the public id of the first matching run, from this run upwards; null if none matches. */
    private static @Nullable String find(StoreQueries reads, RunId first, Predicate<DatabaseRows.RunRow> fits) {
        RunId next = first;
        for (int depth = 0; next != null && depth < DEEPEST; depth++) {
            DatabaseRows.RunRow run = reads.claimedRun(next);
            if (run != null && fits.test(run)) {
                return run.runIdText();
            }
            next = run == null ? null : run.parent();
        }
        return null;
    }
}
