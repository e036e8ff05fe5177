package dev.semel.trials.bench;

import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerSource;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.api.PublishedYamlWorkflow;
import dev.semel.server.steps.YamlStepDependencies;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/** Three steps from a file beside the same three in Java: one engine, one store, in turns, so that a busy machine slows both. */
final class YamlVersusJavaBench {
    private static final String FILE = """
        semel: 1
        workflow: three
        owner: bench
        steps:
          - {id: one, set: {n: "${ input.amount + 1 }"}}
          - {id: two, set: {n: "${ steps.one.n + 1 }"}}
          - {id: three, set: {n: "${ steps.two.n + 1 }"}}
        output: {n: "${ steps.three.n }"}
        """;
    private static final Workflow<Amount, Sum> JAVA = Workflow.define("three_java", Amount.class, Sum.class)
            .body((ctx, input) -> {
                Sum one = ctx.step("one", Sum.class, _ -> new Sum(input.amount() + 1));
                Sum two = ctx.step("two", Sum.class, _ -> new Sum(one.n() + 1));
                return ctx.step("three", Sum.class, _ -> new Sum(two.n() + 1));
            });
    private static final int CLIENTS = 64;
    private static final int ROUNDS = 7;
    private static final Duration LONGEST = Duration.ofSeconds(60);
    private static final String INPUT = "{\"amount\":4900}";

    private final double seconds;
    private final AtomicLong keys = new AtomicLong();

    /** What comes in. */
    record Amount(long amount) {}

    /** What goes out. */
    record Sum(long n) {}

    /** @param seconds for each round of each of the two */
    YamlVersusJavaBench(double seconds) {
        this.seconds = seconds;
    }

    void run() throws Exception {
        Path folder = Files.createTempDirectory("semel-bench-files");
        RuntimeOptions settings = RuntimeOptions.of(
                "sqlite:" + folder.resolve("three.db"),
                version -> PublishedYamlWorkflow.compile(version, _ -> YamlStepDependencies.UNAVAILABLE));
        try (SemelRuntime semel = SemelRuntime.open(settings)) {
            DatabaseRows.WorkspaceRow workspace =
                    semel.change(new StoreWriteCommand.CreateWorkspace("bench", semel.newSecret(32)));
            semel.change(new StoreWriteCommand.PublishVersion(workspace.ws(), "three", "wf_three", FILE, "bench"));
            semel.register(JAVA);
            LongConsumer file = number -> file(semel, workspace, number);
            LongConsumer java = number -> java(semel, number);
            rate(file);
            rate(java);
            double[] ratios = new double[ROUNDS];
            double[] files = new double[ROUNDS];
            double[] javas = new double[ROUNDS];
            for (int i = 0; i < ROUNDS; i++) {
                // Who goes first changes, because the store grows.
                javas[i] = i % 2 == 0 ? rate(java) : 0;
                files[i] = rate(file);
                javas[i] = i % 2 == 0 ? javas[i] : rate(java);
                ratios[i] = files[i] / javas[i];
            }
            Arrays.sort(ratios);
            Arrays.sort(files);
            Arrays.sort(javas);
            System.out.printf(
                    Locale.ROOT,
                    "three steps on SQLite, waited for: file %.0f runs/s, Java %.0f runs/s; the file has %.2f of Java"
                            + " (median of %d rounds, %.2f to %.2f)%n",
                    files[ROUNDS / 2],
                    javas[ROUNDS / 2],
                    ratios[ROUNDS / 2],
                    ROUNDS,
                    ratios[0],
                    ratios[ROUNDS - 1]);
        }
    }

    private static void java(SemelRuntime semel, long number) {
        Sum sum = semel.start(JAVA, new Amount(4900), Start.withKey("java" + number))
                .result(LONGEST);
        if (sum.n() != 4903) {
            throw new IllegalStateException("Java gave " + sum);
        }
    }

    private static void file(SemelRuntime semel, DatabaseRows.WorkspaceRow workspace, long number) {
        var entry = Objects.requireNonNull(semel.workflow(workspace.ws(), "three"));
        String run = semel.trigger(new Trigger(
                        new Trigger.TriggerWorkspace(workspace.ws(), workspace.secret()),
                        entry,
                        StrictJsonCodec.parse(INPUT),
                        INPUT,
                        new Trigger.Identifiers(IdempotencyKey.of("file" + number), null),
                        new Trigger.Sender(TriggerSource.LIBRARY, "bench", null),
                        false,
                        null))
                .runId();
        if (semel.run(workspace.ws(), run).result(LONGEST).path("n").longValue() != 4903) {
            throw new IllegalStateException("the file gave another sum");
        }
    }

    /** Runs in a second, asked for by so many clients at once, each of which waits for its answer. */
    private double rate(LongConsumer one) throws InterruptedException {
        AtomicLong done = new AtomicLong();
        CountDownLatch all = new CountDownLatch(CLIENTS);
        long from = System.nanoTime();
        long until = from + (long) (seconds * 1e9);
        for (int i = 0; i < CLIENTS; i++) {
            Thread.ofVirtual().start(() -> {
                try {
                    while (System.nanoTime() < until) {
                        one.accept(keys.incrementAndGet());
                        done.incrementAndGet();
                    }
                } finally {
                    all.countDown();
                }
            });
        }
        all.await();
        return done.get() / ((System.nanoTime() - from) / 1e9);
    }
}
