package dev.semel.trials.architecture;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Rules for the size of files and methods, for type and package names, and for locks in pure packages. */
final class CodeSizeRules {
    static final int FILE_LINES = 600;
    static final int SHOWCASE_LINES = 150;
    static final int METHOD_LINES = 60;
    static final int PACKAGE_FILES = 25;

    private static final String LIBRARY = "semel-core/src/main/java/";

    /** The three files that show the whole idea. */
    static final List<String> SHOWCASE = List.of(
            "semel-core/src/main/java/dev/semel/admission/TriggerAdmissionRules.java",
            "semel-core/src/main/java/dev/semel/run/RunStateTransitions.java",
            "semel-core/src/main/java/dev/semel/engine/step/AtLeastOnceStepExecutor.java");

    private static final Set<String> SIZED = Set.of("java", "sql", "jte");

    /** Each ban with what to write instead. */
    private static final Map<String, String> SUFFIXES = suffixes();

    private static final Map<String, String> PACKAGES = Map.of(
            "common", "the package that owns the type",
            "util", "the package that uses it",
            "utils", "the package that uses it",
            "helpers", "the package that uses it",
            "misc", "the package that uses it",
            "model", "the package of its topic, such as run or effect",
            "types", "the package of its topic, such as run or effect");

    private static final Pattern PURE =
            Pattern.compile("semel-core/src/main/java/dev/semel/(" + String.join("|", PackageLayout.PURE) + ")/.*");

    static List<StyleFinding> fileSizes(List<SourceFile> files) {
        List<StyleFinding> findings = new ArrayList<>();
        for (SourceFile file : files) {
            int lines = file.lines().size();
            boolean showcase = SHOWCASE.contains(file.path());
            int limit = showcase ? SHOWCASE_LINES : FILE_LINES;
            String extension = file.name().substring(file.name().lastIndexOf('.') + 1);
            if (SIZED.contains(extension) && lines > limit) {
                String why = showcase
                        ? "This file shows the whole idea: move details out of it."
                        : "Split it by topic, or list it in StyleExceptions with a reason.";
                findings.add(
                        StyleFinding.in("file-size", file, lines, lines + " lines, at most " + limit + ". " + why));
            }
        }
        return findings;
    }

    /** A package of the library has one topic that can be read in one sitting. */
    static List<StyleFinding> packageSizes(List<SourceFile> files) {
        Map<String, List<SourceFile>> packages = files.stream()
                .filter(file -> file.path().startsWith(LIBRARY) && file.path().endsWith(".java"))
                .collect(Collectors.groupingBy(
                        file -> file.path().substring(0, file.path().lastIndexOf('/')),
                        TreeMap::new,
                        Collectors.toList()));
        List<StyleFinding> findings = new ArrayList<>();
        packages.forEach((path, members) -> {
            if (members.size() > PACKAGE_FILES) {
                findings.add(new StyleFinding(
                        "package-size",
                        path,
                        path,
                        members.size() + " files, at most " + PACKAGE_FILES + ". Split it by topic."));
            }
        });
        return findings;
    }

    static List<StyleFinding> methodSizes(List<JavaFileStructure> shapes) {
        List<StyleFinding> findings = new ArrayList<>();
        for (JavaFileStructure shape : shapes) {
            for (JavaFileStructure.MethodSize method : shape.methods()) {
                if (method.bodyLines() > METHOD_LINES) {
                    findings.add(about(
                            "method-size",
                            shape,
                            method,
                            method.bodyLines() + " lines, at most " + METHOD_LINES
                                    + ". Move a part of it into a method with its own name."));
                }
            }
        }
        return findings;
    }

    static List<StyleFinding> names(List<JavaFileStructure> shapes) {
        List<StyleFinding> findings = new ArrayList<>();
        for (JavaFileStructure shape : shapes) {
            for (String part : shape.packageName().split("\\.")) {
                if (PACKAGES.containsKey(part)) {
                    findings.add(StyleFinding.in(
                            "package-name",
                            shape.file(),
                            1,
                            "No package \"" + part + "\": put it into " + PACKAGES.get(part) + "."));
                }
            }
            for (JavaFileStructure.NamedType type : shape.types()) {
                String place = shape.file().path() + ":" + type.line();
                SUFFIXES.forEach((suffix, instead) -> {
                    if (type.name().endsWith(suffix)) {
                        findings.add(new StyleFinding(
                                "type-name", type.name(), place, "No name ends in " + suffix + ": " + instead + "."));
                    }
                });
                if (type.name().matches("Semel[A-Z]\\w*") && !type.name().endsWith("Test")) {
                    findings.add(new StyleFinding(
                            "product-prefix",
                            type.name(),
                            place,
                            "The package says Semel already: call it "
                                    + type.name().substring(5) + "."));
                }
                if (type.name().matches("Abstract[A-Z]\\w*")) {
                    findings.add(new StyleFinding(
                            "type-name",
                            type.name(),
                            place,
                            "No name begins with Abstract: name what the subclasses have in common."));
                }
            }
        }
        return findings;
    }

    static List<StyleFinding> monitors(List<JavaFileStructure> shapes) {
        return shapes.stream()
                .filter(shape -> PURE.matcher(shape.file().path()).matches())
                .flatMap(shape -> shape.monitors().stream()
                        .map(line -> StyleFinding.in(
                                "pure-lock",
                                shape.file(),
                                line,
                                "A pure package uses no lock: return a decision and let the engine share the state.")))
                .toList();
    }

    private static StyleFinding about(
            String check, JavaFileStructure shape, JavaFileStructure.MethodSize method, String message) {
        String path = shape.file().path();
        return new StyleFinding(
                check, path + "#" + method.name(), path + ":" + method.line(), method.name() + " has " + message);
    }

    private static Map<String, String> suffixes() {
        Map<String, String> bans = new LinkedHashMap<>();
        bans.put("Manager", "say what it does, as in GroupCommitter or RunDispatcher");
        bans.put("Helper", "put the method on the type it helps");
        bans.put("Helpers", "put the methods on the types they help");
        bans.put("Util", "put the method on the type it is about");
        bans.put("Utils", "put the methods on the types they are about");
        bans.put("Service", "say what it does, as in InboundEventIntake or RetentionSweeper");
        bans.put("Impl", "say what distinguishes it, as in SqliteStore");
        bans.put("Info", "name the thing itself");
        bans.put("Data", "name the thing itself");
        bans.put("DTO", "name the thing itself; a record is data already");
        bans.put("Dto", "name the thing itself; a record is data already");
        bans.put("DAO", "add a named query or write to the store");
        bans.put("Dao", "add a named query or write to the store");
        return bans;
    }

    private CodeSizeRules() {}
}
