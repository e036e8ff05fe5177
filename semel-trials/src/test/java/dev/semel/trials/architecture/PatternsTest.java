package dev.semel.trials.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.SemelServer;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Attack S41: a pattern that goes back and forth over a text, such as `(a+)+$`, takes longer than anybody waits. No text of a
 * user ever is a pattern, and none of our own patterns does it, whatever it is held against. Counted in characters
 * looked at, not in time.
 */
class PatternsTest {
    private static final int LENGTH = 400;

    /** A search that starts anew at each place looks at LENGTH² / 2 characters; a few of those are no attack. */
    private static final long MOST_LOOKS = 20L * LENGTH * LENGTH;

    private static final Pattern CALL = Pattern.compile(
            "(?:Pattern\\.compile|\\.(?:matches|replaceAll|replaceFirst|split))\\(\\s*(?<first>[^\\s,;]++)(?<rest>[^;]*+)");

    private static final Set<String> PIECES = Set.of(
            "a", "1", "0", " ", ".", "-", "_", "/", "%", "$", "\"", "'", "\\", ":", "@", "a.", "a:", "a ", "a-", "{",
            "[", "#", "ä", "1.", "a=", "x,");

    /** Quoted parts of an author's own file, in the author's own process. */
    private static final Set<String> EXCUSED = Set.of("semel-server/src/main/java/dev/semel/server/cli/QaProviderStubs.java");

    @Test
    void s41_no_text_of_a_user_is_a_pattern() throws IOException {
        List<String> wrong = new ArrayList<>();
        for (SourceFile file : SourceTree.find().files()) {
            if (file.isJava() && file.isMain()) {
                List<String> found = foreign(file);
                boolean excused = EXCUSED.contains(file.path());
                wrong.addAll(
                        !excused ? found : found.isEmpty() ? List.of(file.path() + " needs no excuse") : List.of());
            }
        }
        assertEquals("", String.join("\n", wrong), "write the pattern out, as a text or a constant");
        var planted = new SourceFile("x/src/main/X.java", "Pattern.compile(rule.text()); name.matches(wish);");
        assertEquals(2, foreign(planted).size(), "the check sees what it looks for");
    }

    /** Calls whose pattern is neither a literal nor a constant. */
    private static List<String> foreign(SourceFile file) {
        List<String> found = new ArrayList<>();
        Matcher call = CALL.matcher(file.text());
        while (call.find()) {
            String first = call.group("first");
            boolean ours = first.startsWith("\"")
                    || first.startsWith(")") // of a Matcher, which takes none
                    || first.startsWith("Pattern.quote(") // a text and no pattern
                    || first.startsWith("Matcher.quoteReplacement(") // of a Matcher, which takes only what is put in
                    || first.matches("[A-Z_]+(\\.pattern\\(\\))?\\)*")
                    || call.group("rest").stripLeading().startsWith("->"); // of a list
            if (!ours) {
                found.add(file.path() + ": " + call.group().lines().findFirst().orElse(""));
            }
        }
        return found;
    }

    @Test
    void s41_none_of_our_patterns_goes_back_and_forth() throws Exception {
        Set<String> patterns = new TreeSet<>();
        for (Class<?> one : classes()) {
            for (Field field : one.getDeclaredFields()) {
                if (field.getType() == Pattern.class && Modifier.isStatic(field.getModifiers())) {
                    field.setAccessible(true);
                    patterns.add(((Pattern) field.get(null)).pattern());
                }
            }
        }
        assertTrue(patterns.size() > 40, "Only " + patterns.size() + " patterns were found.");
        assertThrows(AssertionError.class, () -> hold("(?:a+){2,}b"), "the check sees what it looks for");
        for (String pattern : patterns) {
            hold(pattern);
        }
    }

    private static void hold(String pattern) {
        Pattern compiled = Pattern.compile(pattern);
        for (String piece : PIECES) {
            String text = piece.repeat(LENGTH / piece.length());
            for (String hostile : List.of(text, text + "!", "a" + text + "\n", "\"" + text)) {
                var counted = new Counted(hostile, new long[1], pattern);
                var unused = compiled.matcher(counted).matches();
                unused = compiled.matcher(new Counted(hostile, new long[1], pattern))
                        .find();
            }
        }
    }

    /** A text that knows how often it was looked at. */
    private record Counted(CharSequence text, long[] looks, String by) implements CharSequence {
        @Override
        public char charAt(int index) {
            if (++looks[0] > MOST_LOOKS) {
                throw new AssertionError("The pattern " + by + " looked " + looks[0] + " times at " + text.length()
                        + " characters; it goes back and forth.");
            }
            return text.charAt(index);
        }

        @Override
        public int length() {
            return text.length();
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return text.subSequence(start, end);
        }

        @Override
        public String toString() {
            return text.toString();
        }
    }

    private static List<Class<?>> classes() throws IOException, URISyntaxException, ClassNotFoundException {
        List<Class<?>> all = new ArrayList<>();
        for (Class<?> one : List.of(SemelRuntime.class, SemelServer.class)) {
            Path place = Path.of(
                    one.getProtectionDomain().getCodeSource().getLocation().toURI());
            if (Files.isDirectory(place)) {
                all.addAll(classes(place));
            } else {
                try (FileSystem jar = FileSystems.newFileSystem(place)) {
                    all.addAll(classes(jar.getPath("/")));
                }
            }
        }
        return all;
    }

    private static List<Class<?>> classes(Path root) throws IOException, ClassNotFoundException {
        List<String> names;
        try (Stream<Path> files = Files.walk(root)) {
            names = files.map(file -> root.relativize(file).toString().replace('\\', '/'))
                    .filter(name -> name.startsWith("dev/semel/") && name.endsWith(".class"))
                    .filter(name -> !name.endsWith("-info.class"))
                    .map(name ->
                            name.substring(0, name.length() - ".class".length()).replace('/', '.'))
                    .sorted()
                    .toList();
        }
        List<Class<?>> found = new ArrayList<>();
        for (String name : names) {
            found.add(Class.forName(name, false, PatternsTest.class.getClassLoader()));
        }
        return found;
    }
}
