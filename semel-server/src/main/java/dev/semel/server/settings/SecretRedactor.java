package dev.semel.server.settings;

import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;

/** Runs before Semel records, logs or shows a text. Finds values plain, URL- or JSON-escaped, in hex, inside base64. */
public final class SecretRedactor {
    public static final String MARK = "•••";

    /** Shortest base64 fragment to search for; shorter ones would match ordinary words. */
    private static final int SHORTEST_NEEDLE = 5;

    private static final int MOST_NEEDLES = 20_000;

    private final SemelRuntime semel;
    private final SecretStore secrets;
    private final ConcurrentHashMap<Integer, CachedSearchTexts> cache = new ConcurrentHashMap<>();

    /** @param needles search texts, longest first, so that no remainder of a longer one stays */
    private record CachedSearchTexts(List<String> needles, long change) {}

    SecretRedactor(SemelRuntime semel, SecretStore secrets) {
        this.semel = semel;
        this.secrets = secrets;
    }

    public String redact(int workspace, String text) {
        return replaceAll(text, searchTexts(workspace));
    }

    /** Removes the secrets of all workspaces used by this process, for texts such as logs. */
    public String redact(String text) {
        String clean = text;
        for (CachedSearchTexts one : cache.values()) {
            clean = replaceAll(clean, one.needles());
        }
        return clean;
    }

    private static String replaceAll(String text, List<String> needles) {
        String clean = text;
        for (String needle : needles) {
            clean = clean.contains(needle) ? clean.replace(needle, MARK) : clean;
        }
        return clean;
    }

    private List<String> searchTexts(int workspace) {
        long change = semel.catalogVersion();
        CachedSearchTexts before = cache.get(workspace);
        if (before != null && before.change() == change) {
            return before.needles();
        }
        Set<String> needles = new LinkedHashSet<>();
        secrets.values(workspace).forEach(value -> add(needles, value));
        keepReplacedValues(needles, before);
        List<String> sorted = needles.stream()
                .sorted(Comparator.comparingInt(String::length).reversed().thenComparing(Comparator.naturalOrder()))
                .toList();
        cache.put(workspace, new CachedSearchTexts(sorted, change));
        return sorted;
    }

    /** Keeps replaced values, because a response to an earlier request may still contain them. */
    private static void keepReplacedValues(Set<String> needles, @Nullable CachedSearchTexts before) {
        if (before != null && needles.size() + before.needles().size() <= MOST_NEEDLES) {
            needles.addAll(before.needles());
        }
    }

    private static void add(Set<String> needles, String value) {
        needles.add(value);
        String form = URLEncoder.encode(value, StandardCharsets.UTF_8);
        needles.add(form);
        needles.add(form.replace("+", "%20"));
        needles.add(lowerEscapes(form.replace("+", "%20")));
        String quoted = StrictJsonCodec.write(JsonNodeFactory.instance.stringNode(value));
        needles.add(quoted.substring(1, quoted.length() - 1));
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

    private static String lowerEscapes(String encoded) {
        StringBuilder out = new StringBuilder(encoded);
        for (int i = out.indexOf("%"); i >= 0 && i + 2 < out.length(); i = out.indexOf("%", i + 1)) {
            out.setCharAt(i + 1, Character.toLowerCase(out.charAt(i + 1)));
            out.setCharAt(i + 2, Character.toLowerCase(out.charAt(i + 2)));
        }
        return out.toString();
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
