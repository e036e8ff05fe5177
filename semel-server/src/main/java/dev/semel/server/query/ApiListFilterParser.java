package dev.semel.server.query;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Parses a filter such as `kind:conflict since:2h`. The last of two equal names wins. */
public final class ApiListFilterParser {
    private ApiListFilterParser() {}

    /** @param rejection the error text for an unknown name or an empty value */
    public static Map<String, String> parse(@Nullable String text, Set<String> known, String rejection) {
        Map<String, String> words = new HashMap<>();
        for (String word :
                text == null || text.isBlank() ? new String[0] : text.strip().split("\\s+")) {
            int colon = word.indexOf(':');
            String name = colon < 1 ? "" : word.substring(0, colon);
            String value = word.substring(colon + 1);
            if (value.isEmpty() || !known.contains(name)) {
                throw ApiErrors.invalidQuery(rejection);
            }
            words.put(name, value);
        }
        return words;
    }
}
