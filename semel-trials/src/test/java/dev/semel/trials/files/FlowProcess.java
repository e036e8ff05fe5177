package dev.semel.trials.files;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.JavaProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A {@link FlowChild}, seen from outside. */
final class FlowProcess implements AutoCloseable {
    private final Process process;
    private final BufferedReader said;
    private final Path talk;
    private final @Nullable String port;

    private FlowProcess(Process process, Path talk) throws IOException {
        this.process = process;
        this.talk = talk;
        this.said = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        this.port = said.readLine();
    }

    /** Returns when it serves, or was halted before it did. */
    static FlowProcess start(Path folder, String store, ExampleFlow.HaltPoint halt) {
        try {
            Path talk = Files.createTempFile(folder, "child", ".err");
            ProcessBuilder builder = JavaProcess.small(
                            folder,
                            FlowChild.class,
                            folder.toString(),
                            store,
                            halt.label(),
                            Integer.toString(halt.passing()))
                    .redirectError(talk.toFile());
            return new FlowProcess(builder.start(), talk);
        } catch (IOException e) {
            throw new AssertionError("the child did not start", e);
        }
    }

    /** Null where it was halted before anybody could ask. */
    @Nullable
    ApiCaller caller() {
        return port == null ? null : new ApiCaller(Integer.parseInt(port), "dev", _ -> {});
    }

    /** Stops it where it still lives; what it passed, or null where it was halted. */
    @Nullable
    Map<String, Integer> over() {
        String line;
        try {
            process.getOutputStream().close();
            line = said.readLine();
        } catch (IOException e) {
            throw new AssertionError("the words of the child were cut: " + talk(), e);
        }
        int exit = exit();
        if (exit == FlowChild.HALTED) {
            return null;
        }
        if (exit != 0 || line == null) {
            throw new AssertionError("the child ended with " + exit + ": " + talk());
        }
        Map<String, Integer> passed = new TreeMap<>();
        for (String one : line.substring(1, line.length() - 1).split(", ")) {
            String[] parts = one.split("=");
            passed.put(parts[0], Integer.valueOf(parts[1]));
        }
        return passed;
    }

    private int exit() {
        return JavaProcess.exit(process);
    }

    private String talk() {
        return JavaProcess.tail(talk);
    }

    @Override
    public void close() {
        process.destroyForcibly();
        exit();
    }
}
