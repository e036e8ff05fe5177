package dev.semel.trials.documents;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The ids that a document shows, and the real ones that they stand for. {@code run_9kXmP2vQwL} is bound where it first
 * stands in an expected output; from there on it is that run, in outputs and in commands, and no other id is.
 */
record DocumentIds(Map<String, String> real) {
    /** An id as a document shows it: one of our prefixes and some letters with a digit among them. */
    static final Pattern SHOWN = Pattern.compile("\\b(run|wf|tok|step)_(?=[A-Za-z]*[0-9])[A-Za-z0-9]{4,22}\\b");

    DocumentIds() {
        this(Map.of());
    }

    DocumentIds {
        real = Map.copyOf(real);
    }

    /** The text with every bound id replaced by the real one. */
    String spoken(String text) {
        return SHOWN.matcher(text)
                .replaceAll(id -> Matcher.quoteReplacement(real.getOrDefault(id.group(), id.group())));
    }

    /** These names with one more; nothing where the shown id stands for another one, or another one for this. */
    Optional<DocumentIds> bound(String shown, String found) {
        String known = real.get(shown);
        if (known != null) {
            return known.equals(found) ? Optional.of(this) : Optional.empty();
        }
        if (real.containsValue(found)) {
            return Optional.empty();
        }
        Map<String, String> more = new HashMap<>(real);
        more.put(shown, found);
        return Optional.of(new DocumentIds(more));
    }
}
