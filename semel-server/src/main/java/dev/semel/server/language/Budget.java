package dev.semel.server.language;

/**
 * What one evaluation may still spend. The iteration limit of the expression language bounds loops; this bounds what a
 * single operation can do inside them: joining text, comparing trees, hashing. Once spent it stays spent, so that an
 * error swallowed by `||` cannot go on.
 */
final class Budget {
    static final ScopedValue<Budget> CURRENT = ScopedValue.newInstance();
    static final long UNITS = 4L * 1024 * 1024;

    private long left = UNITS;

    static void spend(long units) {
        CURRENT.get().take(units);
    }

    private void take(long units) {
        left -= Math.min(left + 1, units);
        if (left < 0) {
            left = -1;
            throw new Failure("it takes too much work");
        }
    }
}
