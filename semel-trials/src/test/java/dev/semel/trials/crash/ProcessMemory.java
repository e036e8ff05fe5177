package dev.semel.trials.crash;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a process holds on to.
 *
 * @param heapBytes live objects after a full collection
 * @param handles open file descriptors
 * @param threads of the operating system
 */
record ProcessMemory(long heapBytes, long handles, long threads) {
    static ProcessMemory of(long pid) {
        Path proc = Path.of("/proc", Long.toString(pid));
        try (Stream<Path> handles = Files.list(proc.resolve("fd"));
                Stream<Path> threads = Files.list(proc.resolve("task"))) {
            return new ProcessMemory(liveBytes(pid), handles.count(), threads.count());
        } catch (IOException e) {
            throw new AssertionError("process " + pid + " cannot be looked at", e);
        }
    }

    /** The histogram of live objects runs a full collection first. */
    private static long liveBytes(long pid) throws IOException {
        Process command = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                        Long.toString(pid),
                        "GC.class_histogram")
                .redirectErrorStream(true)
                .start();
        List<String> lines = new String(command.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .toList();
        for (String line : lines) {
            String[] words = line.strip().split("\\s+");
            if (words.length == 3 && words[0].equals("Total")) {
                return Long.parseLong(words[2]);
            }
        }
        throw new AssertionError("no histogram of process " + pid + ": " + lines);
    }

    @Override
    public String toString() {
        return "heap %.1f MB, %d file handles, %d threads".formatted(heapBytes / 1e6, handles, threads);
    }
}
