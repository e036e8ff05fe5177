package dev.semel.server.files.expressions;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.types.CelType;
import dev.cel.runtime.CelRuntime;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A parsed and checked CEL expression, cached by its text and the loop variables in scope.
 *
 * <p>Which names are allowed depends on the place and is checked elsewhere. Files and versions repeat their
 * expressions, so the cache saves most compilations.
 *
 * @param checked null for a plain path, which needs no engine
 */
record CompiledExpression(
        CelAbstractSyntaxTree parsed, @Nullable CheckedProgram checked) {
    record CheckedProgram(CelType type, CelRuntime.Program program) {}

    /** Limit for the characters of all cached texts: a program takes about a hundred times its text. */
    private static final int MOST = 128 << 10;

    private static final int LONGEST = 256;

    private static final Map<CacheKey, CompiledExpression> KNOWN = new ConcurrentHashMap<>();
    private static final AtomicInteger LENGTH = new AtomicInteger();

    private record CacheKey(String code, Set<String> items) {}

    static @Nullable CompiledExpression cached(String code, Set<String> items) {
        return KNOWN.get(new CacheKey(code, items));
    }

    /** Caches this valid expression. A full cache is cleared; expressions in use are added again. */
    CompiledExpression cache(String code, Set<String> items) {
        if (code.length() <= LONGEST && KNOWN.putIfAbsent(new CacheKey(code, items), this) == null) {
            if (LENGTH.addAndGet(code.length()) > MOST) {
                LENGTH.set(0);
                KNOWN.clear();
            }
        }
        return this;
    }
}
