package dev.semel.trials.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Attack S41: a regex that backtracks without bound, such as {@code (a+)+$}, blocks a thread. No user text is used as a
 * regex, and none of Semel's own regexes backtracks without bound. Counted in characters read, not in time.
 */
class RegexSafetyTest {
    private static final int LENGTH = 400;

    /** A search that restarts at each position reads LENGTH² / 2 characters; a few of those are fine. */
    private static final long MAX_READS = 20L * LENGTH * LENGTH;

    private static final Pattern CALL = Pattern.compile(
            "(?:Pattern\\.compile|\\.(?:matches|replaceAll|replaceFirst|split))\\(\\s*(?<first>[^\\s,;]++)");

    private static final Set<String> REGEX_METHODS = Set.of(
            "java.util.regex.Pattern.compile",
            "java.util.regex.Pattern.matches",
            "java.lang.String.matches",
            "java.lang.String.replaceAll",
            "java.lang.String.replaceFirst",
            "java.lang.String.split");

    private static final Set<String> PIECES = Set.of(
            "a", "1", "0", " ", ".", "-", "_", "/", "%", "$", "\"", "'", "\\", ":", "@", "a.", "a:", "a ", "a-", "{",
            "[", "#", "ä", "1.", "a=", "x,");

    /** Quoted parts of the author's own file, in the author's own process. */
    private static final Set<String> EXEMPT =
            Set.of("semel-server/src/main/java/dev/semel/server/cli/acceptance/WorkflowAcceptanceTestStubBuilder.java");

    @Test
    void s41_no_user_text_is_used_as_a_regex() throws IOException {
        Map<String, Set<Integer>> calls = regexCalls();
        List<String> wrong = new ArrayList<>();
        for (SourceFile file : SourceTree.find().files()) {
            if (file.isJava() && file.isMain()) {
                String path = file.path().replaceFirst(".*/java/", "");
                List<String> found = nonConstant(file, calls.getOrDefault(path, Set.of()));
                boolean exempt = EXEMPT.contains(file.path());
                wrong.addAll(
                        !exempt ? found : found.isEmpty() ? List.of(file.path() + " needs no exception") : List.of());
            }
        }
        assertEquals("", String.join("\n", wrong), "write the regex as a literal or a constant");
        var planted = new SourceFile("x/src/main/X.java", "Pattern.compile(rule.text());\nname.matches(input);");
        assertEquals(2, nonConstant(planted, Set.of(1, 2)).size(), "the check detects a planted case");
        assertEquals(1, nonConstant(planted, Set.of(3)).size(), "a call that is not in the source is reported");
    }

    /** Lines that compile a regex, by source file. Bytecode tells {@code String.matches} from other methods. */
    private static Map<String, Set<Integer>> regexCalls() {
        Map<String, Set<Integer>> lines = new HashMap<>();
        for (JavaClass type : new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages(PackageLayout.REAL.base())) {
            for (JavaMethodCall call : type.getMethodCallsFromSelf()) {
                String target = call.getTargetOwner().getName() + "." + call.getName();
                if (REGEX_METHODS.contains(target)) {
                    String folder = type.getPackageName().replace('.', '/') + "/";
                    String file = type.getSource().orElseThrow().getFileName().orElseThrow();
                    lines.computeIfAbsent(folder + file, _ -> new TreeSet<>()).add(call.getLineNumber());
                }
            }
        }
        return lines;
    }

    /** Calls whose regex is neither a literal nor a constant, and calls that are not in the source. */
    private static List<String> nonConstant(SourceFile file, Set<Integer> lines) {
        List<String> found = new ArrayList<>();
        Set<Integer> missing = new TreeSet<>(lines);
        Matcher call = CALL.matcher(file.text());
        while (call.find()) {
            int line = 1
                    + (int) file.text()
                            .substring(0, call.start())
                            .chars()
                            .filter(c -> c == '\n')
                            .count();
            missing.remove(line);
            String first = call.group("first");
            boolean ours = first.startsWith("\"")
                    || first.startsWith("Pattern.quote(") // a literal text
                    || first.matches("[A-Z_]+(\\.pattern\\(\\))?\\)*");
            if (lines.contains(line) && !ours) {
                found.add(file.path() + ":" + line + ": "
                        + call.group().lines().findFirst().orElse(""));
            }
        }
        missing.forEach(line -> found.add(file.path() + ":" + line + ": the call was not found in the source"));
        return found;
    }

    @Test
    void s41_none_of_our_regexes_backtracks() throws Exception {
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
        assertThrows(AssertionError.class, () -> checkBacktracking("(?:a+){2,}b"), "the check detects a planted case");
        for (String pattern : patterns) {
            checkBacktracking(pattern);
        }
    }

    private static void checkBacktracking(String pattern) {
        Pattern compiled = Pattern.compile(pattern);
        for (String piece : PIECES) {
            String text = piece.repeat(LENGTH / piece.length());
            for (String hostile : List.of(text, text + "!", "a" + text + "\n", "\"" + text)) {
                var counted = new CountingCharSequence(hostile, new long[1], pattern);
                var unused = compiled.matcher(counted).matches();
                unused = compiled.matcher(new CountingCharSequence(hostile, new long[1], pattern))
                        .find();
            }
        }
    }

    /** A text that counts how many characters are read. */
    private record CountingCharSequence(CharSequence text, long[] reads, String by) implements CharSequence {
        @Override
        public char charAt(int index) {
            if (++reads[0] > MAX_READS) {
                throw new AssertionError("The pattern " + by + " read " + reads[0] + " characters of a text of "
                        + text.length() + "; it backtracks.");
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
            found.add(Class.forName(name, false, RegexSafetyTest.class.getClassLoader()));
        }
        return found;
    }
}
