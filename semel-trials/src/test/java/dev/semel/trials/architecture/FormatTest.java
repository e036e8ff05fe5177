package dev.semel.trials.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import com.palantir.javaformat.java.FormatterException;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * One formatter for all Java. It runs here, as a test, because it has to run on the JDK that can parse the code, and
 * Maven may run on an older one. With {@code -Dformat.write=true}, which {@code .ci/format} sets, it repairs the files.
 */
class FormatTest {
    private static final SourceTree TREE = SourceTree.find();

    @Test
    void every_java_file_is_formatted() throws Exception {
        String only = System.getProperty("format.only", "");
        List<SourceFile> files = TREE.files().stream()
                .filter(file -> file.isJava() && file.path().startsWith(only))
                .toList();
        assertFalse(files.isEmpty(), "No Java file was found below \"" + only + "\".");
        Queue<String> wrong = new ConcurrentLinkedQueue<>();
        // Each file by itself, so all cores share the work.
        try (var cores = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors())) {
            List<Callable<Void>> each = files.stream()
                    .<Callable<Void>>map(file -> () -> {
                        check(file, wrong);
                        return null;
                    })
                    .toList();
            for (Future<Void> one : cores.invokeAll(each)) {
                one.get();
            }
        }
        assertEquals("", wrong.stream().sorted().collect(Collectors.joining("\n")));
    }

    private static void check(SourceFile file, Queue<String> wrong) throws IOException {
        boolean write = Boolean.getBoolean("format.write");
        String formatted = formatted(file, wrong);
        boolean differs = !formatted.equals(file.text());
        boolean excused = NotBuiltYet.UNFORMATTED.containsKey(file.path());
        if (write && differs) {
            Files.writeString(TREE.root().resolve(file.path()), formatted);
        } else if (differs && !excused) {
            wrong.add(file.path() + " differs; run .ci/format");
        } else if (!write && !differs && excused) {
            wrong.add(file.path() + " is formatted; take it off NotBuiltYet.UNFORMATTED");
        }
    }

    @Test
    void an_unformatted_file_is_detected_and_a_formatted_one_is_left_alone() throws IOException, FormatterException {
        SourceFile crooked = new SourceFile("A.java", "import java.util.List;\nclass A{int  a=1;}\n");
        String straight = JavaFormatter.format(crooked);
        assertNotEquals(crooked.text(), straight);
        assertEquals("class A {\n    int a = 1;\n}\n", straight);
        assertEquals(straight, JavaFormatter.format(new SourceFile("A.java", straight)));
    }

    @Test
    void the_unnamed_pattern_survives_the_formatter() throws IOException, FormatterException {
        String code = """
            class A {
                boolean a(Object o) {
                    return o instanceof B(_, B(_, var c)) && c > 0 && "_".length() == 1;
                }

                record B(Object b, int c) {}
            }
            """;
        assertEquals(code, JavaFormatter.format(new SourceFile("A.java", code)));
        assertEquals(code, JavaFormatter.format(new SourceFile("A.java", code.replace("(_, ", "( _ ,  "))));
    }

    /** A file that the formatter refuses is named, and left as it is. */
    private static String formatted(SourceFile file, Queue<String> wrong) throws IOException {
        try {
            return JavaFormatter.format(file);
        } catch (FormatterException refused) {
            wrong.add(file.path() + " cannot be formatted: " + refused.getMessage());
            return file.text();
        }
    }
}
