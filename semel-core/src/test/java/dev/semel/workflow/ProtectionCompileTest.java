package dev.semel.workflow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** An effect whose author forgot its protection is a compile error, shown by the compiler itself. */
class ProtectionCompileTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "ctx.effect(\"x\").call(String.class, e -> e.key())",
                "ctx.effect(\"x\").call(e -> {})",
                "ctx.effect(\"x\").key(\"a\", in).oncePer(java.time.Duration.ofDays(1)).call(e -> {})",
                "ctx.effect(\"x\").retry(Retry.none()).alreadyDone(409).to(in).call(String.class, e -> e.key())",
            })
    void an_effect_without_a_protection_does_not_compile(String code) throws Exception {
        List<String> errors = compile(code);
        assertEquals(1, errors.size(), errors::toString);
        assertTrue(errors.getFirst().contains("cannot find symbol"), errors::toString);
        assertTrue(errors.getFirst().contains("method call"), errors::toString);
        assertTrue(errors.getFirst().contains("location: class dev.semel.workflow.EffectBuilder"), errors::toString);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ctx.effect(\"x\").repeatable(\"it only reads\").call(String.class, e -> e.key())",
                "ctx.effect(\"x\").providerHonoursKey(java.time.Duration.ofDays(1)).call(e -> {})",
                "ctx.effect(\"x\").lookup(String.class, e -> null).call(e -> e.key())",
                "ctx.effect(\"x\").atMostOnce().call(String.class, e -> e.key())",
                "ctx.effect(\"x\").askOnDoubt(\"role:ops\").call(e -> { throw new java.io.IOException(); })",
            })
    void an_effect_with_a_protection_compiles(String code) throws Exception {
        assertEquals(List.of(), compile(code));
    }

    @Test
    void an_at_most_once_effect_returns_an_outcome_and_no_value() throws Exception {
        String code = "String s = ctx.effect(\"x\").atMostOnce().call(String.class, e -> e.key())";
        assertFalse(compile(code).isEmpty());
    }

    @Test
    void a_decision_must_be_handled_exhaustively() throws Exception {
        String start = "String s = switch (ctx.approval(\"a\", a -> a)) { case ApprovalDecision.Approved a -> a.by(); ";
        assertFalse(compile(start + "case ApprovalDecision.Rejected r -> r.note(); }")
                .isEmpty());
        assertEquals(
                List.of(),
                compile(start
                        + "case ApprovalDecision.Rejected r -> r.note(); case ApprovalDecision.TimedOut t -> \"\"; }"));
    }

    private static List<String> compile(String statement) throws Exception {
        String source = """
            import dev.semel.workflow.*;
            class Sample {
                static final Workflow<String, String> FLOW =
                    Workflow.define("sample", String.class, String.class).body((ctx, in) -> {
                        %s;
                        return in;
                    });
            }
            """.formatted(statement);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        String path = Stream.of(Workflow.class, JsonNode.class, Nullable.class)
                .map(ProtectionCompileTest::place)
                .collect(Collectors.joining(File.pathSeparator));
        List<String> options = List.of("-proc:none", "-implicit:none", "-classpath", path);
        JavaFileObject file =
                new SimpleJavaFileObject(URI.create("string:///Sample.java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return source;
                    }
                };
        // Analysed and not written: nothing is left behind.
        ((com.sun.source.util.JavacTask)
                        compiler.getTask(new StringWriter(), null, found, options, null, List.of(file)))
                .analyze();
        return found.getDiagnostics().stream()
                .filter(one -> one.getKind() == javax.tools.Diagnostic.Kind.ERROR)
                .map(one -> one.getMessage(Locale.ROOT))
                .toList();
    }

    private static String place(Class<?> type) {
        try {
            return Path.of(type.getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .toString();
        } catch (java.net.URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
