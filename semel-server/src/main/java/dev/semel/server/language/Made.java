package dev.semel.server.language;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.types.CelType;
import dev.cel.runtime.CelRuntime;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What the expression engine makes of a text. It hangs on the text and on the names of the loops around it, and on nothing
 * else: what may be read where is asked of each place. So it is made once. Files repeat themselves, versions repeat their
 * predecessors, and a server that starts reads again what it has read.
 *
 * @param done null for a plain path, which needs no engine
 */
record Made(CelAbstractSyntaxTree parsed, @Nullable Done done) {
    /** Checked and planned. */
    record Done(CelType type, CelRuntime.Program program) {}

    /** Characters of all texts that are remembered: a program takes about a hundred times its text. */
    private static final int MOST = 128 << 10;

    private static final int LONGEST = 256;

    private static final Map<Text, Made> KNOWN = new ConcurrentHashMap<>();
    private static final AtomicInteger LENGTH = new AtomicInteger();

    private record Text(String code, Set<String> items) {}

    static @Nullable Made find(String code, Set<String> items) {
        return KNOWN.get(new Text(code, items));
    }

    /** Only what is right is remembered. When there is no room all of it is forgotten, and what is in use comes again. */
    Made remembered(String code, Set<String> items) {
        if (code.length() <= LONGEST && KNOWN.putIfAbsent(new Text(code, items), this) == null) {
            if (LENGTH.addAndGet(code.length()) > MOST) {
                LENGTH.set(0);
                KNOWN.clear();
            }
        }
        return this;
    }
}
