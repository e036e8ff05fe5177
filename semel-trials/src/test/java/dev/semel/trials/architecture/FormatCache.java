package dev.semel.trials.architecture;

import com.palantir.javaformat.java.Formatter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/** Digests of texts that were formatted in an earlier run, so that only changed files are formatted again. */
final class FormatCache {
    private final Path file;
    private final String formatter;
    private final Set<String> before;
    private final Set<String> now = ConcurrentHashMap.newKeySet();

    /** @param formatter identifies the formatter: another one means that no earlier result counts */
    private FormatCache(Path file, String formatter, Set<String> before) {
        this.file = file;
        this.formatter = formatter;
        this.before = before;
    }

    static FormatCache open(Path file, String formatter) throws IOException {
        return new FormatCache(
                file, formatter, Files.exists(file) ? new HashSet<>(Files.readAllLines(file)) : Set.of());
    }

    /** The formatter's release and the source of its workaround. */
    static String formatterOf(SourceTree tree) throws IOException {
        String source = "semel-trials/src/test/java/dev/semel/trials/architecture/JavaFormatter.java";
        return Formatter.class.getProtectionDomain().getCodeSource().getLocation()
                + Runtime.version().toString()
                + Files.readString(tree.root().resolve(source));
    }

    boolean isFormatted(String text) {
        boolean formatted = before.contains(digest(text));
        if (formatted) {
            add(text);
        }
        return formatted;
    }

    void add(String text) {
        now.add(digest(text));
    }

    void save() throws IOException {
        Files.createDirectories(file.getParent());
        Files.write(file, new TreeSet<>(now));
    }

    private String digest(String text) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(formatter.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest.digest(text.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("Every JDK has SHA-256.", missing);
        }
    }
}
