package dev.semel.trials.chaos;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The files of trials: kept where something broke, gone where nothing did. */
record ScratchFolder(Path folder) {
    static ScratchFolder make(String name) throws IOException {
        return new ScratchFolder(Files.createTempDirectory(name));
    }

    void delete() throws IOException {
        List<Path> all;
        try (Stream<Path> walk = Files.walk(folder)) {
            all = walk.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : all) {
            Files.deleteIfExists(path);
        }
    }
}
