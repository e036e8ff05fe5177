package dev.semel.server.settings;

import dev.semel.runtime.SemelRuntime;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Runs before Semel records, logs or shows a text. Finds values plain, escaped, in hex, and inside base64. */
public final class SecretRedactor {
    public static final String MARK = "•••";

    /** Shortest base64 fragment to search for; shorter ones would match ordinary words. */
    private static final int SHORTEST_NEEDLE = 5;

    private static final int MOST_VALUES = 2_000;

    /** How often a text may be escaped: a URL in JSON in an HTML page. */
    private static final int MOST_ESCAPED = 3;

    private final SemelRuntime semel;
    private final SecretStore secrets;
    private final ConcurrentHashMap<Integer, SearchTexts> cache = new ConcurrentHashMap<>();

    /** @param needles search texts, longest first, so that no remainder of a longer one stays */
    private record SearchTexts(List<String> needles, Set<String> values, long change) {
        String removeFrom(String text) {
            String clean = removeFrom(EscapedTextDecoder.of(text), text);
            clean = removeEscaped(clean, false);
            return removeEscaped(clean, true);
        }

        private String removeEscaped(String text, boolean plusIsSpace) {
            String clean = text;
            EscapedTextDecoder decoded = EscapedTextDecoder.of(text);
            for (int times = 0; times < MOST_ESCAPED; times++) {
                EscapedTextDecoder next = decoded.decode(plusIsSpace);
                if (next.text().equals(decoded.text())) {
                    return clean;
                }
                String found = removeFrom(next, clean);
                decoded = found.equals(clean) ? next : EscapedTextDecoder.of(found);
                clean = found;
            }
            return clean;
        }

        /** Marks in the original what the decoded text contains. */
        private String removeFrom(EscapedTextDecoder decoded, String original) {
            BitSet secret = new BitSet();
            for (String needle : needles) {
                for (int at = decoded.text().indexOf(needle);
                        at >= 0;
                        at = decoded.text().indexOf(needle, at + 1)) {
                    secret.set(decoded.starts()[at], decoded.starts()[at + needle.length()]);
                }
            }
            StringBuilder clean = new StringBuilder();
            int from = 0;
            for (int at = secret.nextSetBit(0); at >= 0; at = secret.nextSetBit(from)) {
                clean.append(original, from, at).append(MARK);
                from = secret.nextClearBit(at);
            }
            return from == 0
                    ? original
                    : clean.append(original, from, original.length()).toString();
        }
    }

    SecretRedactor(SemelRuntime semel, SecretStore secrets) {
        this.semel = semel;
        this.secrets = secrets;
    }

    public String redact(int workspace, String text) {
        return searchTexts(workspace).removeFrom(text);
    }

    /** Removes the secrets of all workspaces used by this process, for texts such as logs. */
    public String redact(String text) {
        String clean = text;
        for (SearchTexts one : cache.values()) {
            clean = one.removeFrom(clean);
        }
        return clean;
    }

    private SearchTexts searchTexts(int workspace) {
        long change = semel.catalogVersion();
        SearchTexts before = cache.get(workspace);
        if (before != null && before.change() == change) {
            return before;
        }
        Set<String> values = new LinkedHashSet<>(secrets.values(workspace));
        // A response to an earlier request may still contain a replaced value.
        if (before != null && values.size() + before.values().size() <= MOST_VALUES) {
            values.addAll(before.values());
        }
        Set<String> needles = new HashSet<>();
        values.forEach(value -> add(needles, value));
        Comparator<String> longestFirst =
                Comparator.comparingInt(String::length).reversed().thenComparing(Comparator.naturalOrder());
        SearchTexts found =
                new SearchTexts(needles.stream().sorted(longestFirst).toList(), values, change);
        cache.put(workspace, found);
        return found;
    }

    private static void add(Set<String> needles, String value) {
        needles.add(value);
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        needles.add(HexFormat.of().formatHex(bytes));
        needles.add(HexFormat.of().withUpperCase().formatHex(bytes));
        for (int shift = 0; shift < 3; shift++) {
            String inside = base64Core(bytes, shift);
            if (inside.length() >= SHORTEST_NEEDLE) {
                needles.add(inside);
                needles.add(inside.replace('+', '-').replace('/', '_'));
            }
        }
    }

    /** The base64 digits that depend only on the value, if its offset modulo three is `shift`. */
    private static String base64Core(byte[] value, int shift) {
        byte[] shifted = new byte[shift + value.length];
        System.arraycopy(value, 0, shifted, shift, value.length);
        String digits = Base64.getEncoder().withoutPadding().encodeToString(shifted);
        int from = shift == 0 ? 0 : shift + 1;
        int whole = shifted.length * 8 / 6;
        return digits.substring(Math.min(from, whole), whole);
    }
}
