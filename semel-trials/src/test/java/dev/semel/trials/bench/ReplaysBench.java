package dev.semel.trials.bench;

import dev.semel.RunStatus;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.replay.ReplayNotificationMode;
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.run.RunState;
import dev.semel.runtime.ReplayPlanOperations;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.store.StoreQueries;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * Plans over many failed runs, and applying them where nothing has to be sent: `semel-trials/bench-replays [runs]
 * [sqlite postgres]`.
 */
final class ReplaysBench {
    private ReplaysBench() {}

    public static void main(String[] arguments) throws Exception {
        int runs = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 10_000;
        List<String> stores = arguments.length > 1
                ? Arrays.asList(arguments).subList(1, arguments.length)
                : List.of("sqlite", "postgres");
        if (stores.contains("sqlite")) {
            Path file = Files.createTempDirectory("semel-bench").resolve("semel.db");
            measure("SQLite", "sqlite:" + file, runs);
        }
        if (stores.contains("postgres")) {
            try (EmbeddedPostgres postgres = EmbeddedPostgres.builder()
                    .setServerConfig("fsync", "on")
                    .setServerConfig("synchronous_commit", "on")
                    .setServerConfig("max_connections", "60")
                    .start()) {
                measure("PostgreSQL", postgres.getJdbcUrl("postgres", "postgres"), runs);
            }
        }
    }

    private static void measure(String what, String url, int runs) throws InterruptedException {
        AtomicBoolean broken = new AtomicBoolean(true);
        Workflow<String, String> flow = Workflow.define("bench", String.class, String.class)
                .body((ctx, in) -> {
                    String paid = ctx.effect("charge")
                            .providerHonoursKey(Duration.ofHours(24))
                            .call(String.class, _ -> "paid " + in);
                    if (broken.get()) {
                        throw new IllegalStateException("broken");
                    }
                    return paid;
                });
        WorkflowCatalog.VersionCompiler none = version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        };
        try (SemelRuntime semel =
                SemelRuntime.open(RuntimeOptions.of(url, none)).register(flow)) {
            fail(semel, flow, runs);
            broken.set(false);
            int ws = semel.testAccess().workspace();
            var failed = new StoreQueries.RunFilter(ws, null, RunState.FAILED, null, false, 0, null, 1, null);
            var replayRequest = new ReplayPlanOperations.ReplayRequest(
                    ws,
                    "bench",
                    new ReplayPlanOperations.RunSelection.ByFilter(failed),
                    new ReplayPlanRequest("bench", "", false, List.of(), false, false, ReplayNotificationMode.MISSING),
                    null,
                    false,
                    ReplayPlanApplyOptions.SAFE);
            long began = System.nanoTime();
            ReplayPlanStoreWriteCommand.ReplayPlan plan = semel.replays().plan(replayRequest);
            double planned = seconds(began);
            began = System.nanoTime();
            ReplayPlanStoreWriteCommand.ReplayPlan applied =
                    semel.replays().apply(ws, plan.id(), ReplayPlanApplyOptions.SAFE, "bench");
            double accepted = seconds(began);
            while (applied.state() != ReplayPlanStoreWriteCommand.PlanState.DONE
                    && applied.state() != ReplayPlanStoreWriteCommand.PlanState.STOPPED) {
                LockSupport.parkNanos(10_000_000);
                applied = java.util.Objects.requireNonNull(semel.replays().findPlan(ws, plan.id()));
            }
            double took = seconds(began);
            System.out.printf(
                    Locale.ROOT,
                    "%s: plan of %d failed runs %.2f s; apply answered after %.2f s, done after %.2f s: %.0f runs a"
                            + " second, %s; heap at most %d MiB%n",
                    what,
                    runs,
                    planned,
                    accepted,
                    took,
                    runs / took,
                    semel.replays().progress(plan.id()),
                    Runtime.getRuntime().maxMemory() >> 20);
        }
    }

    private static double seconds(long began) {
        return (System.nanoTime() - began) / 1e9;
    }

    private static void fail(SemelRuntime semel, Workflow<String, String> flow, int runs) throws InterruptedException {
        Semaphore free = new Semaphore(256);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < runs; i++) {
                free.acquire();
                String key = "k" + i;
                threads.execute(() -> {
                    try {
                        RunHandle<String> run = semel.start(flow, key, Start.withKey(key));
                        while (run.status() != RunStatus.FAILED) {
                            LockSupport.parkNanos(1_000_000);
                        }
                    } finally {
                        free.release();
                    }
                });
            }
        }
    }
}
