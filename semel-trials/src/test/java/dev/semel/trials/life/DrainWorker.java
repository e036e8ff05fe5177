package dev.semel.trials.life;

import dev.semel.engine.EngineLimits;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.workflow.EffectOutcome;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * A worker in a process of its own, with workflows in Java that stand still in the middle of a step until the trial lets
 * them go on. Its lease is so long that nobody ever waits for its end. Arguments: store, grace in milliseconds, and
 * {@code start} where it shall ask for one run of each workflow.
 */
final class DrainWorker {
    static final String TABLES = """
        CREATE TABLE effect (flow text NOT NULL, pid bigint NOT NULL);
        CREATE TABLE booked (pid bigint NOT NULL);
        CREATE TABLE gate (name text NOT NULL);
        """;

    private static final Signal<String> NEWS = Signal.of("news", String.class);

    private final String url;

    private DrainWorker(String url) {
        this.url = url;
    }

    public static void main(String[] args) {
        new DrainWorker(args[0]).live(Duration.ofMillis(Long.parseLong(args[1])), args.length > 2);
    }

    private void live(Duration grace, boolean starts) {
        WorkflowCatalog.VersionCompiler none = version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        };
        SemelRuntime semel = SemelRuntime.open(
                RuntimeOptions.of(url, none).withLimits(EngineLimits.DEFAULT.withLease(Duration.ofMinutes(10))));
        Workflow<String, String> lengthy = lengthy();
        Workflow<String, String> booking = booking();
        Workflow<String, String> sending = sending();
        Workflow<String, String> waiting = waiting();
        semel.register(lengthy, booking, sending, waiting);
        if (starts) {
            semel.start(lengthy, "", Start.withKey("lengthy"));
            semel.start(booking, "", Start.withKey("booking"));
            semel.start(sending, "", Start.withKey("sending"));
            semel.start(waiting, "", Start.withKey("waiting"));
        }
        Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(() -> {
            System.out.println("draining");
            semel.close(grace);
            System.out.println("drained");
        }));
        System.out.println("ready");
        LockSupport.park();
    }

    private Workflow<String, String> lengthy() {
        return Workflow.define("lengthy", String.class, String.class).body((ctx, _) -> {
            ctx.step("lengthy", _ -> pass("lengthy"));
            ctx.step("after", _ -> note("after_lengthy"));
            return "done";
        });
    }

    private Workflow<String, String> booking() {
        return Workflow.define("booking", String.class, String.class).body((ctx, _) -> {
            ctx.tx("book", (sql, _) -> {
                try (var row = sql.prepareStatement("INSERT INTO booked (pid) VALUES (?)")) {
                    row.setLong(1, ProcessHandle.current().pid());
                    row.executeUpdate();
                }
                pass("booking");
            });
            return "done";
        });
    }

    private Workflow<String, String> sending() {
        return Workflow.define("sending", String.class, String.class).body((ctx, _) -> {
            EffectOutcome<String> sent = ctx.effect("send").atMostOnce().call(String.class, _ -> {
                pass("sending");
                return "sent";
            });
            return sent instanceof EffectOutcome.Done<String> ? "done" : "perhaps";
        });
    }

    private Workflow<String, String> waiting() {
        return Workflow.define("waiting", String.class, String.class).body((ctx, _) -> {
            ctx.step("before", _ -> note("waiting"));
            ctx.await(NEWS, Duration.ofSeconds(1));
            ctx.step("after", _ -> note("after_waiting"));
            return "done";
        });
    }

    private void note(String flow) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                var row = connection.prepareStatement("INSERT INTO effect (flow, pid) VALUES (?, ?)")) {
            row.setString(1, flow);
            row.setLong(2, ProcessHandle.current().pid());
            row.executeUpdate();
        }
    }

    /** Says that it is here, then stands still until there is a gate for it. */
    private void pass(String flow) throws SQLException {
        note(flow);
        try (Connection connection = DriverManager.getConnection(url);
                var gate = connection.prepareStatement("SELECT 1 FROM gate WHERE name = ?")) {
            gate.setString(1, flow);
            while (true) {
                try (var open = gate.executeQuery()) {
                    if (open.next()) {
                        return;
                    }
                }
                LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
            }
        }
    }
}
