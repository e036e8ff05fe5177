package dev.semel.server.files.expressions;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Implements {@code in_cohort(steps.profile.id, "vip")} from recorded results, so that a replay gets the same answer.
 *
 * <p>The result of the profile step lists the cohorts at its time. Results of later `cohort` steps of this run for the
 * same profile and cohort are newer; the last one decides.
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
            Boolean seen = later ? membership(view.smallObject(name), profile, cohort) : null;
            member = seen == null ? member : seen;
            later |= name.equals(step);
        }
        return member;
    }

    /** The membership that the result of a `cohort` step states; null for another profile, cohort or kind of step. */
    private static @Nullable Boolean membership(@Nullable Object result, Object profile, Object cohort) {
        return result instanceof Map<?, ?> map
                        && map.get("member") instanceof Boolean member
                        && profile.equals(map.get("profile"))
                        && cohort.equals(map.get("cohort"))
                ? member
                : null;
    }
}
