package dev.semel.trials.architecture;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/** The text files of the repository, without what a build or an editor leaves behind. */
public record SourceTree(Path root) {
    /** The same names as in {@code .gitignore}, and git's own folder. */
    private static final Set<String> SKIPPED = Set.of("target", ".git", ".semel", ".idea", "node_modules");

    private static final Set<String> TEXT = Set.of(
            "java", "md", "sql", "yaml", "yml", "json", "xml", "sh", "properties", "jte", "html", "css", "js", "toml");

    /** Walks up from where the tests run to the folder with the licence and the core module. */
    public static SourceTree find() {
        Path start = Path.of("").toAbsolutePath();
        for (Path folder = start; folder != null; folder = folder.getParent()) {
            if (Files.exists(folder.resolve("LICENSE")) && Files.isDirectory(folder.resolve("semel-core"))) {
                return new SourceTree(folder);
            }
        }
        throw new IllegalStateException("No folder above " + start + " holds LICENSE and semel-core.");
    }

    public List<SourceFile> files() throws IOException {
        List<SourceFile> found = new ArrayList<>();
        Files.walkFileTree(root, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                boolean skip = !folder.equals(root) && SKIPPED.contains(nameOf(folder));
                return skip ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                if (attributes.isRegularFile() && isText(file)) {
                    found.add(read(file));
                }
                return FileVisitResult.CONTINUE;
            }
        });
        found.sort(Comparator.comparing(SourceFile::path));
        return found;
    }

    private SourceFile read(Path file) throws IOException {
        return new SourceFile(root.relativize(file).toString().replace('\\', '/'), Files.readString(file));
    }

    /** By extension; a file without one counts when it is a script, that is, begins with {@code #!}. */
    private static boolean isText(Path file) throws IOException {
        String name = nameOf(file);
        int dot = name.lastIndexOf('.');
        if (dot >= 0) {
            return TEXT.contains(name.substring(dot + 1));
        }
        try (var in = Files.newInputStream(file)) {
            byte[] start = in.readNBytes(2);
            return start.length == 2 && start[0] == '#' && start[1] == '!';
        }
    }

    private static String nameOf(Path path) {
        return String.valueOf(path.getFileName());
    }
}
