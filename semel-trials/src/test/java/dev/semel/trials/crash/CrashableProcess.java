package dev.semel.trials.crash;

import dev.semel.trials.support.JavaProcess;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** A {@link CrashChild} in a process of its own. It lives one life after another until one of them halts it. */
final class CrashableProcess implements AutoCloseable {
    private final Process process;
    private final Path talk;
    private final BufferedReader said;
    private final Writer reported;

    /**
     * What a life reported while it lasted; empty where it did not come to that.
     *
     * @param halted the label at which it ended, by the word of the process and by its exit code
     * @param end how the run ended: completed, in_doubt, failed, or broken where the client itself gave up
     */
    record ProcessReport(
            String started,
            String again,
            boolean replayed,
            String halted,
            String end,
            String output,
            Map<String, Integer> passed) {}

    private CrashableProcess(Process process, Path talk) {
        this.process = process;
        this.talk = talk;
        this.said = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        this.reported = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
    }

    static CrashableProcess start(Path folder, Class<?> main, String... arguments) {
        try {
            Path talk = Files.createTempFile(folder, "child", ".err");
            Process process = JavaProcess.small(folder, main, arguments)
                    .redirectError(talk.toFile())
                    .start();
            return new CrashableProcess(process, talk);
        } catch (IOException e) {
            throw new AssertionError("the child did not start", e);
        }
    }

    /** Lives it; returns when it is over or the process has ended. */
    ProcessReport live(ProcessLife life) {
        try {
            reported.write(life.line() + "\n");
            reported.flush();
        } catch (IOException e) {
            throw new AssertionError("the child is gone: " + talk(), e);
        }
        Map<String, String[]> words = new HashMap<>();
        try {
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                String[] parts = line.split("\t", -1);
                words.put(parts[0], parts);
                if (parts[0].equals("over")) {
                    return account(words);
                }
            }
        } catch (IOException e) {
            throw new AssertionError("the child's words were cut: " + talk(), e);
        }
        int exit = exit();
        if (exit != CrashChild.HALTED || !words.containsKey("halted")) {
            throw new AssertionError("the child ended with " + exit + " without being notified to: " + talk());
        }
        return account(words);
    }

    private static ProcessReport account(Map<String, String[]> words) {
        Map<String, Integer> passed = new HashMap<>();
        for (String one : word(words, "passed", 1).split(",")) {
            int equals = one.indexOf('=');
            if (equals > 0) {
                passed.put(one.substring(0, equals), Integer.valueOf(one.substring(equals + 1)));
            }
        }
        return new ProcessReport(
                word(words, "started", 1),
                word(words, "again", 1),
                word(words, "again", 2).equals("true"),
                word(words, "halted", 1),
                word(words, "over", 1),
                word(words, "over", 2),
                passed);
    }

    private static String word(Map<String, String[]> words, String line, int place) {
        String[] parts = words.get(line);
        return parts == null || parts.length <= place ? "" : parts[place];
    }

    int exit() {
        return JavaProcess.exit(process);
    }

    String talk() {
        return JavaProcess.tail(talk);
    }

    @Override
    public void close() {
        process.destroyForcibly();
        exit();
    }
}
