package dev.semel.server.cli.workflow;

import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Finds and reads the workflow files that the user named, also those in named folders. */
public final class CliWorkflowFileReader {
    private static final long LARGEST = 4 << 20;

    private CliWorkflowFileReader() {}

    public static boolean isWorkflowFile(Path file) {
        return file.toString().matches(".*\\.(yaml|yml|json)");
    }

    /** Replaces folders by their workflow files, sorted by name. */
    static List<Path> expand(Path folder, List<Path> named) {
        List<Path> all = new ArrayList<>();
        for (Path one : named) {
            Path path = folder.resolve(one);
            if (!Files.isDirectory(path)) {
                all.add(path);
                continue;
            }
            try (Stream<Path> inside = Files.list(path)) {
                inside.filter(CliWorkflowFileReader::isWorkflowFile).sorted().forEach(all::add);
            } catch (IOException unreadable) {
                throw failure(path, "cannot be listed", "Check its permissions.");
            }
        }
        if (all.isEmpty()) {
            throw CliCommandException.create(
                    ExitCode.NOT_FOUND,
                    "no-files",
                    "The given paths contain no .yaml, .yml or .json file. Nothing was published.",
                    "Pass the files by name.");
        }
        return all;
    }

    public static String read(Path file) {
        try {
            if (Files.size(file) > LARGEST) {
                throw failure(file, "is larger than 4 MiB", "Check the path: a workflow file has at most 256 KiB.");
            }
            return Files.readString(file);
        } catch (CharacterCodingException notText) {
            throw failure(file, "is not UTF-8", "Convert it.");
        } catch (IOException unreadable) {
            throw failure(file, "cannot be read", "Check the path.");
        }
    }

    public static CliCommandException failure(Path file, String what, String fix) {
        return CliCommandException.create(
                ExitCode.FAILED,
                "invalid-file",
                TerminalJsonFormatter.sanitize(file.toString()) + " " + what + ". It was not published.",
                fix);
    }
}
