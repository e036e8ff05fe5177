package dev.semel.store;

import dev.semel.json.SizeLimits;
import dev.semel.run.RunId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Divides between workspaces, then between the workflows of each. Unused quota goes to those with more due runs. */
public final class FairRunClaimer {
    private FairRunClaimer() {}

    /** A workflow with due runs that no worker executes. */
    public record DueWorkflow(int workspace, String workflowId) {}

    /** How many runs of one workflow to claim, longest due first. */
    public record ClaimQuota(DueWorkflow workflow, int limit) {}

    public record ClaimedRun(String workflowId, StoreWrite.RunExecution execution) {}

    /** A run that could be claimed, with the bytes of its input and journal. */
    public record DueRun(String workflowId, RunId run, long input, long journal) {
        /** One signal is read at a time, and becomes a parsed tree like the input. */
        public DueRun(String workflowId, RunId run, long input, long journal, long unreadSignals, long unreadBytes) {
            this(
                    workflowId,
                    run,
                    input + Math.min(unreadBytes, SizeLimits.DEFAULT.requestBody()),
                    journal + UNREAD_SIGNAL_BYTES * unreadSignals);
        }

        private static final long UNREAD_SIGNAL_BYTES = 100;
    }

    /** Removes runs that do not fit into the memory. A later run of the same workflow does not overtake them. */
    public static final class MemoryFilter {
        private final Set<String> full = new HashSet<>();
        private ClaimMemory memory;

        public MemoryFilter(ClaimMemory memory) {
            this.memory = memory;
        }

        /** @param due in the order in which they are due */
        public List<DueRun> fitting(List<DueRun> due) {
            List<DueRun> fitting = new ArrayList<>();
            for (DueRun one : due) {
                long bytes = memory.estimate(one.input(), one.journal());
                if (bytes > memory.free()) {
                    full.add(one.workflowId());
                }
                if (!full.contains(one.workflowId())) {
                    memory = memory.without(bytes);
                    fitting.add(one);
                }
            }
            return fitting;
        }
    }

    @FunctionalInterface
    public interface ClaimQuery<E extends Exception> {
        List<ClaimedRun> claim(List<ClaimQuota> claimQuotas) throws E;
    }

    /** @param turn changes with time, so that other workflows come first when the limit is too small for all */
    public static <E extends Exception> List<StoreWrite.RunExecution> claim(
            int limit, List<DueWorkflow> groups, long turn, ClaimQuery<E> taking) throws E {
        List<StoreWrite.RunExecution> claimed = new ArrayList<>();
        List<DueWorkflow> hungry = groups;
        while (claimed.size() < limit && !hungry.isEmpty()) {
            List<ClaimQuota> claimQuotas = divide(limit - claimed.size(), hungry, turn);
            Map<String, Integer> got = new LinkedHashMap<>();
            for (ClaimedRun claimedRun : taking.claim(claimQuotas)) {
                claimed.add(claimedRun.execution());
                got.merge(claimedRun.workflowId(), 1, Integer::sum);
            }
            hungry = claimQuotas.stream()
                    .filter(claimQuota -> got.getOrDefault(claimQuota.workflow().workflowId(), 0) == claimQuota.limit())
                    .map(ClaimQuota::workflow)
                    .toList();
        }
        return claimed;
    }

    static List<ClaimQuota> divide(int limit, List<DueWorkflow> groups, long turn) {
        Map<Integer, List<DueWorkflow>> workspaces = new LinkedHashMap<>();
        for (DueWorkflow group : rotated(groups, turn)) {
            workspaces
                    .computeIfAbsent(group.workspace(), _ -> new ArrayList<>())
                    .add(group);
        }
        List<ClaimQuota> claimQuotas = new ArrayList<>();
        int left = limit;
        int waiting = workspaces.size();
        for (List<DueWorkflow> own : workspaces.values()) {
            int share = (left + waiting - 1) / waiting--;
            left -= share;
            int open = own.size();
            for (DueWorkflow group : own) {
                int most = (share + open - 1) / open--;
                share -= most;
                if (most > 0) {
                    claimQuotas.add(new ClaimQuota(group, most));
                }
            }
        }
        return claimQuotas;
    }

    private static List<DueWorkflow> rotated(List<DueWorkflow> groups, long turn) {
        List<DueWorkflow> all = new ArrayList<>(groups);
        Collections.rotate(all, (int) Math.floorMod(turn, (long) all.size()));
        return all;
    }
}
