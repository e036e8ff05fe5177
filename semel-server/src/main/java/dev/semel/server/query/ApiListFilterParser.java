package dev.semel.server.query;

import dev.semel.server.http.ServerHttpRequest;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Parses a filter such as `kind:conflict since:2h`. The last of two equal names wins. */
public final class ApiListFilterParser {
    private ApiListFilterParser() {}

    /**
     * The filter `q` of a list; null if there is none. Throws if the request has a parameter that the list ignores: the
     * caller may take the whole list for a filtered one.
     *
     * @param more the parameters of this list besides `q` and paging
     */
    public static @Nullable String read(ServerHttpRequest request, String... more) {
        Set<String> known = new HashSet<>(List.of(more));
        known.addAll(List.of("q", "limit", "after"));
        if (!known.containsAll(request.queryNames())) {
            throw ApiErrors.invalidQuery("this list has no such query parameter; write filters as terms in `q`, such as"
                    + " ?q=workflow:NAME");
        }
        return request.query("q");
    }

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
