package dev.semel.trials.examples;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * A shop whose mail provider honours keys and keeps what it did in a file, so that it outlives the process that calls it.
 *
 * @param dies the process ends with the first mail: it was taken, and nobody is notified
 */
record FileBackedMailProvider(Path file, boolean dies) {
    /** Another one each time, so that a test sees whether the step ran again. */
    String newLicense() {
        return "LIC-" + System.nanoTime();
    }

    /** One line for each call: the key, the licence, and whether a mail went out. */
    String mail(String license, String key) {
        boolean known = calls().stream().anyMatch(call -> call.startsWith(key + " "));
        append(key + " " + license + (known ? " remembered" : " sent"));
        if (dies) {
            Runtime.getRuntime().halt(137);
        }
        return "mail for " + license;
    }

    List<String> calls() {
        try {
            return Files.exists(file) ? Files.readAllLines(file) : List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void append(String line) {
        try {
            Files.writeString(file, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
