package dev.semel.server.files.expressions;

import com.google.common.primitives.UnsignedLong;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Replaces CEL operators whose cost is unbounded with versions that charge the evaluation budget.
 *
 * <p>Examples: text and lists that double in a chain, trees with shared branches that take exponential time to compare,
 * and substring search.
 */
final class CostLimitedCelOperators {
    private CostLimitedCelOperators() {}

    static String join(String left, String right) {
        ExpressionEvaluationBudget.spend((long) left.length() + right.length());
        return left + right;
    }

    static boolean contains(String text, String part) {
        ExpressionEvaluationBudget.spend(text.length() + (long) text.length() * part.length() / 64);
        return text.contains(part);
    }

    static List<Object> append(List<?> left, List<?> right) {
        ExpressionEvaluationBudget.spend(right.size() + 1L);
        if (left instanceof SharedBufferList grown && grown.buffer.size() == grown.size) {
            grown.buffer.addAll(right);
            return new SharedBufferList(grown.buffer, grown.buffer.size());
        }
        ExpressionEvaluationBudget.spend(left.size());
        List<Object> buffer = new ArrayList<>(left);
        buffer.addAll(right);
        return new SharedBufferList(buffer, buffer.size());
    }

    /**
     * A list that shares its buffer with the shorter list it was appended to, so that building n items takes n steps.
     */
    private static final class SharedBufferList extends AbstractList<Object> {
        private final List<Object> buffer;
        private final int size;

        SharedBufferList(List<Object> buffer, int size) {
            this.buffer = buffer;
            this.size = size;
        }

        @Override
        public Object get(int index) {
            return buffer.get(Objects.checkIndex(index, size));
        }

        @Override
        public int size() {
            return size;
        }
    }

    static boolean in(Object wanted, List<?> list) {
        return list.stream().anyMatch(item -> equal(wanted, item));
    }

    static boolean equal(@Nullable Object left, @Nullable Object right) {
        ExpressionEvaluationBudget.spend(1);
        if (left instanceof String a && right instanceof String b) {
            ExpressionEvaluationBudget.spend(Math.min(a.length(), b.length()) / 16);
            return a.equals(b);
        }
        if (left instanceof Number a && right instanceof Number b) {
            return sameNumber(a, b);
        }
        if (left instanceof List<?> a && right instanceof List<?> b) {
            return sameItems(a, b);
        }
        if (left instanceof Map<?, ?> a && right instanceof Map<?, ?> b) {
            return a.size() == b.size()
                    && a.entrySet().stream()
                            .allMatch(entry ->
                                    b.containsKey(entry.getKey()) && equal(entry.getValue(), b.get(entry.getKey())));
        }
        return Objects.equals(left, right);
    }

    private static boolean sameItems(List<?> a, List<?> b) {
        if (a.size() != b.size()) {
            return false;
        }
        var other = b.iterator();
        for (Object item : a) {
            if (!equal(item, other.next())) {
                return false;
            }
        }
        return true;
    }

    private static boolean sameNumber(Number a, Number b) {
        if (a instanceof Double && b instanceof Double) {
            return a.doubleValue() == b.doubleValue();
        }
        if (a instanceof Double || b instanceof Double) {
            double decimal = a instanceof Double ? a.doubleValue() : b.doubleValue();
            Number whole = a instanceof Double ? b : a;
            return decimal == Math.rint(decimal)
                    && Math.abs(decimal) < 0x1p63
                    && whole instanceof Long number
                    && number == (long) decimal;
        }
        boolean unsigned = a instanceof UnsignedLong || b instanceof UnsignedLong;
        return unsigned ? a.toString().equals(b.toString()) : a.equals(b);
    }
}
