package dev.semel.trials.attacks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** The attacks of `attacks.txt`, each with the tests that try it. */
record AttackCatalog(List<Attack> attacks) {
    /** @param tests at least one; each must run for the attack to count as tried */
    record Attack(String id, String area, String sent, String expected, List<TestPattern> tests) {}

    /** A test class by its simple name, and a method name; a trailing `*` stands for the rest. */
    record TestPattern(String type, String method) {
        static TestPattern parse(String text) {
            String[] parts = text.strip().split("#", -1);
            if (parts.length != 2) {
                throw new IllegalArgumentException(text + " is not Class#method");
            }
            return new TestPattern(parts[0], parts[1]);
        }

        boolean matches(String simpleName, String name) {
            return simpleName.equals(type)
                    && (method.endsWith("*")
                            ? name.startsWith(method.substring(0, method.length() - 1))
                            : name.equals(method));
        }

        @Override
        public String toString() {
            return type + "#" + method;
        }
    }

    static AttackCatalog load() {
        try (InputStream in = Objects.requireNonNull(AttackCatalog.class.getResourceAsStream("attacks.txt"));
                BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            return parse(lines.lines());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static AttackCatalog parse(Stream<String> lines) {
        return new AttackCatalog(lines.filter(line -> !line.isBlank() && !line.startsWith("#"))
                .map(AttackCatalog::attack)
                .toList());
    }

    private static Attack attack(String line) {
        String[] cells = line.split(" \\| ", -1);
        if (cells.length != 5) {
            throw new IllegalArgumentException("not five cells: " + line);
        }
        List<TestPattern> tests =
                Stream.of(cells[4].split(",")).map(TestPattern::parse).toList();
        return new Attack(cells[0].strip(), cells[1].strip(), cells[2].strip(), cells[3].strip(), tests);
    }

    /** The tests for the option `-Dtest` of Maven. */
    String mavenTests() {
        return String.join(
                ",",
                attacks.stream()
                        .flatMap(attack -> attack.tests().stream())
                        .map(TestPattern::toString)
                        .distinct()
                        .sorted()
                        .toList());
    }
}
