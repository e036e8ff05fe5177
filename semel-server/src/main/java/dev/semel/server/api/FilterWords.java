package dev.semel.server.api;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The words of a filter, such as `kind:conflict since:2h`, by what stands before their colon; of two alike the last counts. */
final class FilterWords {
    private FilterWords() {}

    /** @param refusal what is said where a word is none of these, or has nothing behind its colon */
    static Map<String, String> in(@Nullable String text, Set<String> known, String refusal) {
        Map<String, String> said = new HashMap<>();
        for (String word :
                text == null || text.isBlank() ? new String[0] : text.strip().split("\\s+")) {
            int colon = word.indexOf(':');
            String name = colon < 1 ? "" : word.substring(0, colon);
            String value = word.substring(colon + 1);
            if (value.isEmpty() || !known.contains(name)) {
                throw Paging.refused(refusal);
            }
            said.put(name, value);
        }
        return said;
    }
}
