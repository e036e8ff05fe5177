package dev.semel.trials.architecture;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/**
 * The shape of one Java file as javac's parser sees it: names, sizes, and strings joined with {@code +}.
 *
 * @param monitors the lines of {@code synchronized} blocks
 */
record JavaShape(
        SourceFile file,
        String packageName,
        List<Named> types,
        List<Method> methods,
        List<Glued> glued,
        List<Integer> monitors) {

    record Named(String name, int line) {}

    /**
     * A method or constructor with a body.
     *
     * @param bound its parameters are not its own choice: a record's fields, a supertype's method, a table's columns
     */
    record Method(String name, int line, int bodyLines, int parameters, boolean bound) {}

    /** Literals joined with {@code +} or filled by {@code formatted}; what is not a literal shows as {@code ?}. */
    record Glued(String text, int line) {}

    static List<JavaShape> parse(List<SourceFile> files) throws IOException {
        List<SourceFile> java = files.stream().filter(SourceFile::isJava).toList();
        if (java.isEmpty()) {
            return List.of();
        }
        var compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler(), "Tests need a JDK, not a JRE.");
        var problems = new DiagnosticCollector<JavaFileObject>();
        var units = java.stream().map(JavaShape::inMemory).toList();
        // Left to itself the parser joins "a" + "b" before anybody can see that they were two.
        var options = List.of("-proc:none", "-XDallowStringFolding=false");
        var task = (JavacTask) compiler.getTask(null, null, problems, options, null, units);
        List<JavaShape> shapes = new ArrayList<>();
        Iterator<SourceFile> sources = java.iterator();
        for (CompilationUnitTree unit : task.parse()) {
            shapes.add(new ShapeScanner(sources.next(), unit, Trees.instance(task)).shape());
        }
        if (!problems.getDiagnostics().isEmpty()) {
            throw new IllegalStateException("javac cannot parse: " + problems.getDiagnostics());
        }
        return shapes;
    }

    private static JavaFileObject inMemory(SourceFile file) {
        return new SimpleJavaFileObject(URI.create("memory:///" + file.path()), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return file.text();
            }
        };
    }
}
