package dev.semel.store.jdbc.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.store.StoreWrite;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Shares of a claim. */
final class FairRunClaimerTest {
    private static final FairRunClaimer.DueWorkflow A1 = new FairRunClaimer.DueWorkflow(1, "a1");
    private static final FairRunClaimer.DueWorkflow A2 = new FairRunClaimer.DueWorkflow(1, "a2");
    private static final FairRunClaimer.DueWorkflow A3 = new FairRunClaimer.DueWorkflow(1, "a3");
    private static final FairRunClaimer.DueWorkflow B1 = new FairRunClaimer.DueWorkflow(2, "b1");

    private static Map<String, Integer> shares(int limit, long turn, FairRunClaimer.DueWorkflow... groups) {
        Map<String, Integer> shares = new HashMap<>();
        FairRunClaimer.divide(limit, List.of(groups), turn)
                .forEach(claimQuota -> shares.put(claimQuota.workflow().workflowId(), claimQuota.limit()));
        return shares;
    }

    @Test
    void a_workspace_with_many_workflows_gets_no_more_than_one_with_a_single_one() {
        assertEquals(Map.of("a1", 10, "a2", 10, "a3", 10, "b1", 30), shares(60, 0, A1, A2, A3, B1));
    }

    @Test
    void claim_quotas_add_up_to_the_limit() {
        for (int limit = 1; limit < 50; limit++) {
            for (long turn = 0; turn < 5; turn++) {
                int sum = shares(limit, turn, A1, A2, A3, B1).values().stream()
                        .mapToInt(share -> share)
                        .sum();
                assertEquals(limit, sum);
            }
        }
    }

    @Test
    void if_capacity_is_short_every_workflow_gets_a_turn() {
        Set<String> served = new HashSet<>();
        for (long turn = 0; turn < 4; turn++) {
            served.addAll(shares(1, turn, A1, A2, A3, B1).keySet());
        }
        assertEquals(Set.of("a1", "a2", "a3", "b1"), served);
    }

    @Test
    void spare_capacity_goes_to_those_who_need_more() {
        Map<String, Integer> due = new HashMap<>(Map.of("a1", 100, "a2", 1, "b1", 3));
        List<Integer> asked = new ArrayList<>();
        List<StoreWrite.RunExecution> claimed =
                FairRunClaimer.<RuntimeException>claim(20, List.of(A1, A2, B1), 0, claimQuotas -> {
                    asked.add(claimQuotas.size());
                    List<FairRunClaimer.ClaimedRun> claimedRuns = new ArrayList<>();
                    for (FairRunClaimer.ClaimQuota claimQuota : claimQuotas) {
                        String workflow = claimQuota.workflow().workflowId();
                        int some = Math.min(claimQuota.limit(), due.getOrDefault(workflow, 0));
                        due.merge(workflow, -some, Integer::sum);
                        for (int i = 0; i < some; i++) {
                            claimedRuns.add(new FairRunClaimer.ClaimedRun(
                                    workflow, new StoreWrite.RunExecution(new RunId(1, claimedRuns.size()), 1)));
                        }
                    }
                    return claimedRuns;
                });
        assertEquals(20, claimed.size());
        assertEquals(Map.of("a1", 84, "a2", 0, "b1", 0), due);
        assertTrue(asked.size() <= 3, "in few statements");
    }
}
