package dev.semel.trials.bench;

import dev.semel.server.SemelServer;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.server.files.definition.WorkflowDefinition;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * How long files take: a large one to read, a thousand published ones at the next start, and three steps beside the same in
 * Java. `semel-trials/bench-files [large many three] [seconds]`.
 */
public final class FilesBench {
    private static final int STEPS = 500;
    private static final int FILES = 1_000;
    private static final int ROUNDS = 20;

    private FilesBench() {}

    public static void main(String[] arguments) throws Exception {
        String parts = arguments.length > 0 ? arguments[0] : "large many three";
        if (parts.contains("large")) {
            large();
        }
        if (parts.contains("many")) {
            many();
        }
        if (parts.contains("three")) {
            new YamlVersusJavaBench(arguments.length > 1 ? Double.parseDouble(arguments[1]) : 5).run();
        }
    }

    /** Every expression another one, and half of them the same: what is made once is the difference. */
    private static void large() {
        compiled("all different", i -> "input.name + 'FILE-" + i + "'");
        compiled("half the same", _ -> "input.name");
    }

    private static void compiled(String what, IntFunction<String> name) {
        StringBuilder file = new StringBuilder("semel: 1\nworkflow: large\nowner: bench\nsteps:\n");
        for (int i = 0; i < STEPS; i++) {
            file.append("  - id: s")
                    .append(i)
                    .append("\n    when: ${ input.amount > ")
                    .append(i)
                    .append(" }\n");
            // Two each: 1,000 are allowed.
            file.append("    set: { text: \"${ lower(trim(")
                    .append(name.apply(i))
                    .append(")) }\" }\n");
        }
        long[] millis = new long[ROUNDS];
        long[] work = new long[ROUNDS];
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        for (int i = 0; i < ROUNDS; i++) {
            long from = System.nanoTime();
            long worked = threads.getCurrentThreadCpuTime();
            // Others than in the round before: nothing of this file is known from there.
            WorkflowDefinition.compile(file.toString().replace("FILE", "f" + i).replace("amount", "amount" + i));
            millis[i] = (System.nanoTime() - from) / 1_000_000;
            work[i] = (threads.getCurrentThreadCpuTime() - worked) / 1_000_000;
        }
        long first = millis[0];
        long cold = work[0];
        Arrays.sort(millis);
        Arrays.sort(work);
        System.out.println("a file of " + STEPS + " steps, " + what + ": median " + millis[ROUNDS / 2] + " ms ("
                + work[ROUNDS / 2] + " of a core), the very first " + first + " ms (" + cold + ")");
    }

    private static void many() throws IOException {
        Path folder = Files.createTempDirectory("semel-bench-files");
        Path workflows = Files.createDirectory(folder.resolve("workflows"));
        long empty = started(folder, null);
        for (int i = 0; i < FILES; i++) {
            Files.writeString(workflows.resolve("w" + i + ".yaml"), """
                semel: 1
                workflow: w%d
                owner: bench
                input: { id: { type: string, required: true } }
                steps:
                  - { id: a, set: { text: "${ lower(input.id) }" } }
                  - { id: b, set: { text: "${ steps.a.text + '!' }" } }
                  - { id: c, set: { size: "${ size(steps.b.text) }" } }
                """.formatted(i));
        }
        System.out.println("a start without files: " + empty + " ms; one that publishes " + FILES + ": "
                + started(folder, workflows) + " ms; the next, with the folder: " + started(folder, workflows)
                + " ms; without it: " + started(folder, null) + " ms");
    }

    private static long started(Path folder, @Nullable Path workflows) {
        String store = "sqlite:" + folder.resolve("bench.db");
        long from = System.nanoTime();
        SemelServer serve = SemelServer.start(new ServerOptions(true, false, "127.0.0.1", 0, folder, store, workflows));
        long took = (System.nanoTime() - from) / 1_000_000;
        serve.close();
        return took;
    }
}
