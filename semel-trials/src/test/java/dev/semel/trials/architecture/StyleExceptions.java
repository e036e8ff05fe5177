package dev.semel.trials.architecture;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The exceptions to the style rules, each with its reason. An exception that is no longer needed is a finding itself. */
record StyleExceptions(Map<String, String> reasons) {
    /** By {@link StyleFinding#key}: the name of the rule, a space, and its subject. */
    static final StyleExceptions REPOSITORY = new StyleExceptions(Map.of(
            "product-prefix SemelException",
            "users catch it; beside their own exceptions the name must say that it is Semel's",
            "product-prefix SemelOptions",
            "users import it beside the options of other libraries",
            "product-prefix SemelRuntime",
            "it implements Semel; Runtime alone is a class of java.lang",
            "product-prefix SemelServer",
            "the code also has an HTTP server and fake providers; the name says which server it is",
            "file-size semel-core/src/main/java/dev/semel/store/jdbc/JdbcStoreQueries.java",
            "every query of the store's port, one method each",
            "method-size semel-server/src/test/java/dev/semel/server/files/definition/MistakesTest.java#mistakes",
            "a table: one row per mistake, with its position and message",
            "method-size semel-server/src/test/java/dev/semel/server/http/transport/SmugglingTest.java#attacks",
            "a table: one row per malformed request"));

    List<StyleFinding> apply(List<StyleFinding> findings) {
        List<StyleFinding> left = new ArrayList<>(findings);
        left.removeIf(finding -> reasons.containsKey(finding.key()));
        Set<String> found = findings.stream().map(StyleFinding::key).collect(Collectors.toSet());
        reasons.keySet().stream()
                .filter(key -> !found.contains(key))
                .sorted()
                .map(key -> new StyleFinding(
                        "stale-exception",
                        key,
                        "StyleExceptions.java",
                        "\"" + key + "\" is no longer needed. Remove it."))
                .forEach(left::add);
        return left;
    }
}
