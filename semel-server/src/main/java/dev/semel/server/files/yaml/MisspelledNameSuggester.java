package dev.semel.server.files.yaml;

import java.util.Collection;
import java.util.Locale;
import java.util.Optional;

/** Shortens names for messages and suggests the known name nearest to a misspelt one. */
public final class MisspelledNameSuggester {
    private static final int SHOWN = 40;

    private MisspelledNameSuggester() {}

    public static String shorten(String name) {
        String visible = name.codePoints()
                .limit(SHOWN + 1L)
                .map(point -> Character.isISOControl(point) ? '?' : point)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
        return visible.codePointCount(0, visible.length()) > SHOWN
                ? visible.substring(0, visible.offsetByCodePoints(0, SHOWN)) + "…"
                : visible;
    }

    /** Returns " Did you mean 'x'?", or an empty text if no known name is similar. */
    public static String didYouMean(String name, Collection<String> known) {
        return nearest(name, known).map(" Did you mean '%s'?"::formatted).orElse("");
    }

    public static Optional<String> nearest(String name, Collection<String> known) {
        String wanted = shorten(name).toLowerCase(Locale.ROOT).replace('-', '_');
        int allowed = Math.max(1, wanted.length() / 3);
        String best = null;
        int bestDistance = allowed + 1;
        for (String candidate : known) {
            int distance = distance(wanted, candidate.toLowerCase(Locale.ROOT).replace('-', '_'));
            if (distance < bestDistance) {
                best = candidate;
                bestDistance = distance;
            }
        }
        return Optional.ofNullable(best);
    }

    /** Edit distance (insert, delete, replace, swap of neighbours); both words are short. */
    private static int distance(String a, String b) {
        int[][] cost = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    cost[i][j] = i + j;
                    continue;
                }
                int replaced = cost[i - 1][j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                cost[i][j] = Math.min(replaced, Math.min(cost[i - 1][j], cost[i][j - 1]) + 1);
                boolean swapped =
                        i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1);
                if (swapped) {
                    cost[i][j] = Math.min(cost[i][j], cost[i - 2][j - 2] + 1);
                }
            }
        }
        return cost[a.length()][b.length()];
    }
}
