package dev.semel.server.files.expressions;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Implements {@code in_cohort(steps.profile.id, "vip")} from recorded results, so that a replay gets the same answer.
 *
 * <p>The result of the profile step lists the cohorts at its time. Results of later `cohort` steps of this run for the
 * same profile and cohort are newer, also inside loops; the last one decides.
 */
final class CohortMembershipFunction {
    private CohortMembershipFunction() {}

    /**
     * @param arguments id and cohorts of the profile, name of the cohort, and the step that recorded the profile; the
     *     step is empty if the profile does not come from a step directly
     */
    static boolean isMember(List<?> arguments, Map<?, ?> results) {
        Object profile = arguments.get(0);
        Object cohort = arguments.get(2);
        Object step = arguments.get(3);
        boolean member = arguments.get(1) instanceof List<?> cohorts && CostLimitedCelOperators.in(cohort, cohorts);
        boolean later = !results.containsKey(step);
        if (!(results instanceof CelJsonConverter.MemberView view)) {
            return member;
        }
        for (String name : view.names()) {
            ExpressionEvaluationBudget.spend(1);
            for (JsonNode result : later ? view.cohortResults(name) : List.<JsonNode>of()) {
                ExpressionEvaluationBudget.spend(1);
                Boolean seen = membership(result, profile, cohort);
                member = seen == null ? member : seen;
            }
            later |= name.equals(step);
        }
        return member;
    }

    /** Null for another profile or cohort, or if the step failed. */
    private static @Nullable Boolean membership(JsonNode result, Object profile, Object cohort) {
        return result.path("member").isBoolean()
                        && profile.equals(result.path("profile").asString(""))
                        && cohort.equals(result.path("cohort").asString(""))
                ? result.path("member").booleanValue()
                : null;
    }
}
