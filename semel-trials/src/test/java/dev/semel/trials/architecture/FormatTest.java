package dev.semel.trials.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.palantir.javaformat.java.FormatterException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checks that all Java is formatted. It is a test because the formatter needs the JDK that can parse the code, and Maven
 * may run on an older one. With {@code -Dformat.write=true}, which {@code .ci/format} sets, it formats the files.
 */
@Tag("trial")
class FormatTest {
    private static final SourceTree TREE = SourceTree.find();
    private static final Path CACHE = TREE.root().resolve("semel-trials/target/formatted-files.txt");

    @Test
    void every_java_file_is_formatted() throws Exception {
        String only = System.getProperty("format.only", "");
        List<SourceFile> files = TREE.files().stream()
                .filter(file -> file.isJava() && file.path().startsWith(only))
                .toList();
        assertFalse(files.isEmpty(), "No Java file was found below \"" + only + "\".");
        FormatCache cache = FormatCache.open(CACHE, FormatCache.formatterOf(TREE));
        Queue<String> wrong = new ConcurrentLinkedQueue<>();
        // Each file by itself, so all cores share the work.
        try (var cores = Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors())) {
            List<Callable<Void>> each = files.stream()
                    .filter(file -> !cache.isFormatted(file.text()))
                    .<Callable<Void>>map(file -> () -> {
                        check(file, cache, wrong);
                        return null;
                    })
                    .toList();
            for (Future<Void> one : cores.invokeAll(each)) {
                one.get();
            }
        }
        if (only.isEmpty()) {
            cache.save();
        }
        assertEquals("", wrong.stream().sorted().collect(Collectors.joining("\n")));
    }

    private static void check(SourceFile file, FormatCache cache, Queue<String> wrong) throws IOException {
        String formatted;
        try {
            formatted = JavaFormatter.format(file);
        } catch (FormatterException failure) {
            wrong.add(file.path() + " cannot be formatted: " + failure.getMessage());
            return;
        }
        cache.add(formatted);
        if (formatted.equals(file.text())) {
            return;
        }
        if (Boolean.getBoolean("format.write")) {
            Files.writeString(TREE.root().resolve(file.path()), formatted);
        } else {
            wrong.add(file.path() + " differs; run .ci/format");
        }
    }

    @Test
    void the_cache_accepts_only_the_same_text_and_the_same_formatter(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("cache");
        FormatCache first = FormatCache.open(file, "1");
        assertFalse(first.isFormatted("class A {}"), "an empty cache");
        first.add("class A {}");
        first.save();
        assertTrue(FormatCache.open(file, "1").isFormatted("class A {}"), "the same text");
        assertFalse(FormatCache.open(file, "1").isFormatted("class A  {}"), "another text");
        assertFalse(FormatCache.open(file, "2").isFormatted("class A {}"), "another formatter");
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
}
