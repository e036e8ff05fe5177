package dev.semel.trials.files;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.server.SemelServer;
import dev.semel.server.cli.server.ServerOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * `semel dev` in a process that halts at the n-th passing of a crash label: no hook, no flush, no goodbye. Arguments:
 * folder, store, label, n. A line on its standard input stops it properly, and it says what it passed.
 */
final class FlowChild {
    static final int HALTED = 137;

    private FlowChild() {}

    public static void main(String[] args) throws IOException {
        Map<String, Integer> passed = new ConcurrentHashMap<>();
        String label = args[2];
        int passing = Integer.parseInt(args[3]);
        ClockAndRandomSource ambient = ClockAndRandomSource.real()
                .withInstrumentation(new ClockAndRandomSource.TestInstrumentation() {
                    @Override
                    public void point(String here) {
                        if (passed.merge(here, 1, Integer::sum) == passing && here.equals(label)) {
                            Runtime.getRuntime().halt(HALTED);
                        }
                    }
                });
        ServerOptions options = new ServerOptions(true, false, "127.0.0.1", 0, Path.of(args[0]), args[1], null);
        try (SemelServer serve = SemelServer.start(options, ambient)) {
            System.out.println(serve.port());
            System.out.flush();
            // Whoever started this process is gone when there is nothing more to read.
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
        }
        System.out.println(new TreeMap<>(passed));
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }
}
