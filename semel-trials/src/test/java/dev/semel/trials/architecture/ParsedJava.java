package dev.semel.trials.architecture;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
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

/** Java files as javac's parser sees them, before any name is resolved. */
public record ParsedJava(SourceFile file, CompilationUnitTree unit, SourcePositions positions) {

    public static List<ParsedJava> of(List<SourceFile> files) throws IOException {
        List<SourceFile> java = files.stream().filter(SourceFile::isJava).toList();
        if (java.isEmpty()) {
            return List.of();
        }
        var compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler(), "Tests need a JDK, not a JRE.");
        var problems = new DiagnosticCollector<JavaFileObject>();
        var units = java.stream().map(ParsedJava::inMemory).toList();
        // Left to itself the parser joins "a" + "b" before anybody can see that they were two.
        var options = List.of("-proc:none", "-XDallowStringFolding=false");
        var task = (JavacTask) compiler.getTask(null, null, problems, options, null, units);
        SourcePositions positions = Trees.instance(task).getSourcePositions();
        List<ParsedJava> parsed = new ArrayList<>();
        Iterator<SourceFile> sources = java.iterator();
        for (CompilationUnitTree unit : task.parse()) {
            parsed.add(new ParsedJava(sources.next(), unit, positions));
        }
        if (!problems.getDiagnostics().isEmpty()) {
            throw new IllegalStateException("javac cannot parse: " + problems.getDiagnostics());
        }
        return parsed;
    }

    int start(Tree tree) {
        return (int) positions.getStartPosition(unit, tree);
    }

    int startLine(Tree tree) {
        return (int) unit.getLineMap().getLineNumber(start(tree));
    }

    int endLine(Tree tree) {
        return (int) unit.getLineMap().getLineNumber(positions.getEndPosition(unit, tree));
    }

    static JavaFileObject inMemory(SourceFile file) {
        return new SimpleJavaFileObject(URI.create("memory:///" + file.path()), JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return file.text();
            }
        };
    }
}
