package dev.semel.store;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Divides between workspaces, then between the workflows of each. Unused quota goes to those with more due runs. */
public final class FairRunClaimer {
    private FairRunClaimer() {}

    /** A workflow with due runs that no worker executes. */
    public record DueWorkflow(int workspace, String workflowId) {}

    /** How many runs of one workflow to claim, longest due first. */
    public record ClaimQuota(DueWorkflow workflow, int limit) {}

    public record ClaimedRun(String workflowId, StoreWrite.RunExecution execution) {}

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
