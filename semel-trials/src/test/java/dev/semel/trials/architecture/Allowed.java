package dev.semel.trials.architecture;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The exceptions to Tidy, each with its reason. An exception that is no longer needed is a finding itself. */
record Allowed(Map<String, String> reasons) {
    /** Keys are {@link Finding#key}: the name of the check, a space, and what it is about. */
    static final Allowed REAL = new Allowed(Map.of(
            "product-prefix SemelException",
            "what users catch; next to their own exceptions it has to say whose it is",
            "method-size semel-server/src/test/java/dev/semel/server/definition/MistakesTest.java#mistakes",
            "a table: one row for each mistake, with its place and its text",
            "method-size semel-server/src/test/java/dev/semel/server/http/SmugglingTest.java#attacks",
            "a table: one row for each malformed request",
            "file-size semel-core/src/main/java/dev/semel/store/jdbc/JdbcStoreQueries.java",
            "one question after another, each a statement and a line; nothing to understand between them",
            "file-size semel-core/src/main/java/dev/semel/effect/Ledger.java",
            "one rule for all stores: every question to the ledger and every answer, to be read together",
            "file-size semel-core/src/main/java/dev/semel/store/Edit.java",
            "one change after another, a few lines each; sealed, so that a new one breaks every store until it is done",
            "file-size semel-trials/src/test/java/dev/semel/trials/simulation/Simulation.java",
            "one simulation from its first tick to its last; its parts share all of its state"));

    List<Finding> apply(List<Finding> findings) {
        List<Finding> left = new ArrayList<>(findings);
        left.removeIf(finding -> reasons.containsKey(finding.key()));
        Set<String> found = findings.stream().map(Finding::key).collect(Collectors.toSet());
        reasons.keySet().stream()
                .filter(key -> !found.contains(key))
                .sorted()
                .map(key -> new Finding(
                        "stale-exception", key, "Allowed.java", "\"" + key + "\" is no longer found. Take it off."))
                .forEach(left::add);
        return left;
    }
}
