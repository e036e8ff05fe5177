package dev.semel.trials.seeds;

import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.ImportTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.Tree;
import dev.semel.trials.architecture.ParsedJava;
import dev.semel.trials.architecture.SourceFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.lang.model.element.Modifier;

/** The tests of all modules by name, read from their sources: a test of another module is not on this class path. */
final class TestSources {
    private static final String ROOT = "/src/test/java/";
    private static final Set<String> TEST_ANNOTATIONS =
            Set.of("Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate");

    /** By qualified name. */
    private final Map<String, SourceFile> classes = new TreeMap<>();

    private final Map<String, ParsedClass> parsed = new HashMap<>();

    private record ParsedClass(String name, ClassTree tree, List<String> imports) {
        List<MethodTree> methods(String wanted) {
            return tree.getMembers().stream()
                    .filter(MethodTree.class::isInstance)
                    .map(MethodTree.class::cast)
                    .filter(method -> method.getName().contentEquals(wanted))
                    .toList();
        }
    }

    TestSources(List<SourceFile> files) {
        for (SourceFile file : files) {
            int root = file.path().indexOf(ROOT);
            if (root >= 0 && file.isJava() && !file.path().contains("/fixture/")) {
                String name = file.path().substring(root + ROOT.length()).replaceFirst("\\.java$", "");
                classes.put(name.replace('/', '.'), file);
            }
        }
    }

    /** Why this is not the name of one test that runs in the build; empty if it is. */
    String problem(String test) {
        String type = test.substring(0, test.indexOf('#'));
        String method = test.substring(test.indexOf('#') + 1);
        List<String> found = classes.keySet().stream()
                .filter(name -> name.equals(type) || name.endsWith("." + type))
                .toList();
        if (found.isEmpty()) {
            return "no test class has this name";
        }
        List<String> running =
                found.stream().filter(name -> problem(name, method).isEmpty()).toList();
        if (running.size() > 1) {
            return "several classes have this test, write more of the package: " + running;
        }
        return running.size() == 1 ? "" : problem(found.getFirst(), method);
    }

    private String problem(String name, String method) {
        ParsedClass named = parse(name);
        if (!name.endsWith("Test") || named.tree().getKind() != Tree.Kind.CLASS || has(named, Modifier.ABSTRACT)) {
            return "the build runs only classes that end with Test and are not abstract";
        }
        List<ParsedClass> lineage = withSupertypes(named);
        if (lineage.stream().anyMatch(one -> isConditional(one.tree().getModifiers()))) {
            return "the class is disabled";
        }
        List<MethodTree> methods =
                lineage.stream().flatMap(one -> one.methods(method).stream()).toList();
        if (methods.isEmpty()) {
            return "the class has no such method";
        }
        return problem(methods);
    }

    private static String problem(List<MethodTree> methods) {
        if (methods.stream().noneMatch(one -> annotations(one.getModifiers()).anyMatch(TEST_ANNOTATIONS::contains))) {
            return "the method is no test";
        }
        if (methods.stream().anyMatch(one -> isConditional(one.getModifiers()))) {
            return "the test is disabled";
        }
        if (methods.stream().anyMatch(one -> String.valueOf(one.getBody()).contains("assume"))) {
            return "the test can skip itself";
        }
        return "";
    }

    private static boolean has(ParsedClass type, Modifier modifier) {
        return type.tree().getModifiers().getFlags().contains(modifier);
    }

    private static Stream<String> annotations(ModifiersTree modifiers) {
        return modifiers.getAnnotations().stream()
                .map(AnnotationTree::getAnnotationType)
                .map(type -> simpleName(type.toString()));
    }

    /** Also conditions such as {@code EnabledOnOs}: a test that runs only in some builds shows nothing in the others. */
    private static boolean isConditional(ModifiersTree modifiers) {
        return annotations(modifiers).anyMatch(name -> name.startsWith("Disabled") || name.startsWith("Enabled"));
    }

    private List<ParsedClass> withSupertypes(ParsedClass type) {
        List<ParsedClass> all = new ArrayList<>(List.of(type));
        List<Tree> direct = new ArrayList<>(type.tree().getImplementsClause());
        if (type.tree().getExtendsClause() != null) {
            direct.add(type.tree().getExtendsClause());
        }
        for (Tree one : direct) {
            String name = qualified(type, simpleName(one.toString().replaceFirst("<.*", "")));
            if (classes.containsKey(name)) {
                all.addAll(withSupertypes(parse(name)));
            }
        }
        return all;
    }

    private static String qualified(ParsedClass from, String simple) {
        String samePackage = from.name().substring(0, from.name().lastIndexOf('.') + 1) + simple;
        return from.imports().stream()
                .filter(one -> one.endsWith("." + simple))
                .findFirst()
                .orElse(samePackage);
    }

    private static String simpleName(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }

    private ParsedClass parse(String name) {
        return parsed.computeIfAbsent(name, _ -> {
            try {
                ParsedJava java = ParsedJava.of(List.of(classes.get(name))).getFirst();
                ClassTree type = java.unit().getTypeDecls().stream()
                        .filter(ClassTree.class::isInstance)
                        .map(ClassTree.class::cast)
                        .filter(one -> one.getSimpleName().contentEquals(simpleName(name)))
                        .findFirst()
                        .orElseThrow(() -> new IllegalStateException("No type " + name + " in its file."));
                List<String> imports = java.unit().getImports().stream()
                        .map(ImportTree::getQualifiedIdentifier)
                        .map(Tree::toString)
                        .toList();
                return new ParsedClass(name, type, imports);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }
}
