package dev.semel.store;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Divides a claim of due runs fairly between workspaces, then between the workflows of each. A workflow with one due
 * run does not wait behind one with ten thousand. Unused quota goes to those that have more due runs.
 */
public final class FairClaim {
    private FairClaim() {}

    /** A workflow with due runs that no worker executes. */
    public record DueWorkflow(int workspace, String workflowId) {}

    /** How many runs of one workflow to claim, longest due first. */
    public record ClaimQuota(DueWorkflow workflow, int limit) {}

    /** A claimed run and its workflow. */
    public record ClaimedRun(String workflowId, StoreWrite.RunExecution execution) {}

    /** The store statement that claims runs within these quotas. */
    @FunctionalInterface
    public interface ClaimQuery<E extends Exception> {
        List<ClaimedRun> claim(List<ClaimQuota> shares) throws E;
    }

    /**
     * Claims up to {@code limit} runs.
     *
     * @param turn changes with time, so that other workflows come first when the limit is too small for all
     */
    public static <E extends Exception> List<StoreWrite.RunExecution> claim(
            int limit, List<DueWorkflow> groups, long turn, ClaimQuery<E> taking) throws E {
        List<StoreWrite.RunExecution> claimed = new ArrayList<>();
        List<DueWorkflow> hungry = groups;
        while (claimed.size() < limit && !hungry.isEmpty()) {
            List<ClaimQuota> shares = divide(limit - claimed.size(), hungry, turn);
            Map<String, Integer> got = new LinkedHashMap<>();
            for (ClaimedRun taken : taking.claim(shares)) {
                claimed.add(taken.execution());
                got.merge(taken.workflowId(), 1, Integer::sum);
            }
            hungry = shares.stream()
                    .filter(share -> got.getOrDefault(share.workflow().workflowId(), 0) == share.limit())
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
        List<ClaimQuota> shares = new ArrayList<>();
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
                    shares.add(new ClaimQuota(group, most));
                }
            }
        }
        return shares;
    }

    private static List<DueWorkflow> rotated(List<DueWorkflow> groups, long turn) {
        List<DueWorkflow> all = new ArrayList<>(groups);
        Collections.rotate(all, (int) Math.floorMod(turn, (long) all.size()));
        return all;
    }
}
