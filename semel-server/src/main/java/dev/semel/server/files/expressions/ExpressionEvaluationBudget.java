package dev.semel.server.files.expressions;

/**
 * Limits the total work of one expression evaluation: joining text, comparing values, hashing.
 *
 * <p>The iteration limit of CEL bounds loops; this bounds the single operations inside them. A used-up budget stays
 * used up, so that an error hidden by `||` cannot continue the evaluation.
 */
final class ExpressionEvaluationBudget {
    static final ScopedValue<ExpressionEvaluationBudget> CURRENT = ScopedValue.newInstance();
    static final long UNITS = 4L * 1024 * 1024;

    private long left = UNITS;

    static void spend(long units) {
        CURRENT.get().subtract(units);
    }

    private void subtract(long units) {
        left -= Math.min(left + 1, units);
        if (left < 0) {
            left = -1;
            throw new ExpressionEvaluationException("it needs more computation steps than allowed");
        }
    }
}
