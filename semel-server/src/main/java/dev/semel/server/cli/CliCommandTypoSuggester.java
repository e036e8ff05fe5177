package dev.semel.server.cli;

import java.util.Comparator;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.UnmatchedArgumentException;

/** Picocli's own search misses swapped letters, the commonest slip. */
final class CliCommandTypoSuggester {
    private CliCommandTypoSuggester() {}

    static Optional<String> find(UnmatchedArgumentException unmatched) {
        String word = unmatched.getUnmatched().getFirst();
        CommandSpec spec = unmatched.getCommandLine().getCommandSpec();
        Stream<String> known = word.startsWith("-")
                ? spec.options().stream().filter(option -> !option.hidden()).map(OptionSpec::longestName)
                : spec.subcommands().keySet().stream();
        String typed = word.split("=", 2)[0];
        return known.filter(name -> distance(typed, name) <= Math.max(1, name.length() / 3))
                .min(Comparator.comparingInt(name -> distance(typed, name)));
    }

    /** Damerau's distance: inserted, missing, wrong and swapped letters count one each. */
    static int distance(String a, String b) {
        int[][] cost = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    cost[i][j] = i + j;
                    continue;
                }
                int other = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
                cost[i][j] = Math.min(Math.min(cost[i - 1][j] + 1, cost[i][j - 1] + 1), cost[i - 1][j - 1] + other);
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    cost[i][j] = Math.min(cost[i][j], cost[i - 2][j - 2] + 1);
                }
            }
        }
        return cost[a.length()][b.length()];
    }
}
