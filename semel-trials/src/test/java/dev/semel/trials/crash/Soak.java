package dev.semel.trials.crash;

import dev.semel.trials.support.StoreKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Mixed load on a real server with the default heap, for a long time: {@code semel-trials/soak [minutes] [store]}. The
 * server is killed five times, and its clock jumps. At the end the provider's log, the clients' log and the store must
 * agree, and the server must hold no more than before.
 */
final class Soak {
    private static final Duration JUMP = Duration.ofDays(100);
    private static final Duration LONGEST_JUMP = Duration.ofSeconds(28);
    private static final int MOST_STARTS = 5;
    private static final String JUMPED = "\"clock_ahead_ms\":86";
    private static final String TABLE = "CREATE TABLE soak_row (name text NOT NULL)";

    /** Slow work, which stays below the limit of a statement on a busy machine. */
    private static final String SLOW_ON_SQLITE = "insert into soak_row (name) select :name from (with recursive c(x) as"
            + " (select 1 union all select x + 1 from c where x < 300000) select count(*) from c)";

    private static final String SLOW_ON_POSTGRES = "insert into soak_row (name) select :name from pg_sleep(0.4)";

    private final Plan plan;
    private final ClientLedger ledger = new ClientLedger();
    private final List<Long> kills = new ArrayList<>();
    private final List<ProcessMemory> memory = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();
    private final ProcessServer.Start how;
    private final ShiftedClock clock;
    private @Nullable ProcessServer server;
    private long begun;
    private int failedStarts;

    /**
     * @param kills how often the server is killed; the last time while its clock is wrong
     * @param growth of the live heap from the first to the last measurement that is called flat
     */
    record Plan(Path folder, boolean sqlite, Duration length, int kills, double growth) {
        String name() {
            return sqlite ? "sqlite" : "postgres";
        }
    }

    /** What came of it; {@link #lines} is for people. */
    record Report(boolean good, List<String> lines) {}

    private Soak(Plan plan) {
        this.plan = plan;
        this.clock = ShiftedClock.compile(plan.folder());
        ProcessServer.Start start = plan.sqlite()
                ? ProcessServer.Start.sqlite(plan.folder())
                : new ProcessServer.Start(plan.folder(), RealPostgres.url(RealPostgres.newDatabase()));
        this.how = start.serve(clock.environment());
    }

    static Report play(Plan plan) {
        return new Soak(plan).play();
    }

    private Report play() {
        execute(TABLE);
        SoakClients clients = new SoakClients(ledger, Seed.forTrial("soak on " + plan.name()));
        try (Receiver receiver = Receiver.start(plan.folder())) {
            try {
                restart(clients);
                publish(receiver.url());
                begun = System.nanoTime();
                clients.start(token());
                disturb(clients);
                for (double moment : new double[] {0.5, 0.75, 1}) {
                    sleepUntil(moment);
                    clients.atRest(() -> memory.add(ProcessMemory.of(running().pid())));
                }
                clients.stop();
                wrong.addAll(clients.broken());
                running().stop();
                return report(receiver.log());
            } finally {
                running().close();
            }
        }
    }

    private ProcessServer running() {
        ProcessServer current = server;
        if (current == null) {
            throw new AssertionError("no server was started");
        }
        return current;
    }

    /** A server that gives up because its machine is too slow is started again, as its process manager would do it. */
    private void restart(SoakClients clients) {
        for (int starts = 1; ; starts++) {
            ProcessServer next = ProcessServer.launch(how);
            server = next;
            try {
                next.awaitReady();
                clients.use(next.port());
                return;
            } catch (AssertionError e) {
                if (starts == MOST_STARTS || !next.talk().contains("[store-unavailable]")) {
                    throw e;
                }
                failedStarts++;
            }
        }
    }

    private void publish(String receiver) {
        try (KeepAliveClient caller = new KeepAliveClient(running().port(), token())) {
            expect(caller.send("PUT /v1/channels/soak", "", SoakWorkflow.CHANNEL.replace("RECEIVER", receiver)));
            expect(caller.send("PUT /v1/templates/soak", "", SoakWorkflow.TEMPLATE));
            for (SoakWorkflow kind : SoakWorkflow.values()) {
                String file = kind.file(receiver, plan.sqlite() ? SLOW_ON_SQLITE : SLOW_ON_POSTGRES);
                expect(caller.send("PUT /v1/workflows/" + kind.workflow(), "Content-Type: application/yaml\r\n", file));
            }
        } catch (IOException e) {
            throw new AssertionError("the server did not answer", e);
        }
    }

    private String token() {
        try {
            return Files.readString(plan.folder().resolve("admin-token")).strip();
        } catch (IOException e) {
            throw new AssertionError("the server wrote no token", e);
        }
    }

    private static void expect(Reply reply) {
        if (reply.status() != 200) {
            throw new AssertionError("the server rejected the preparation: " + reply);
        }
    }

    /** Kills in the first half of the time. Before the last kill the clock jumps, and after it the clock is right again. */
    private void disturb(SoakClients clients) {
        for (int kill = 1; kill < plan.kills(); kill++) {
            sleepUntil(0.4 * kill / plan.kills());
            kill(clients);
        }
        sleepUntil(0.36);
        clock.shift(JUMP);
        long jumped = System.nanoTime();
        sleepUntil(0.4);
        Await.holds("the server reports its clock", this::reportsClock);
        kill(clients);
        Await.holds("the restarted server reports its clock", this::reportsClock);
        long rest = Math.min(LONGEST_JUMP.toNanos(), plan.length().toNanos() / 10) - (System.nanoTime() - jumped);
        LockSupport.parkNanos(Math.max(0, rest));
        clock.shift(Duration.ZERO);
    }

    /** On PostgreSQL the database has its own clock, and the worker is shown with its difference. */
    private boolean reportsClock() throws IOException {
        try (KeepAliveClient caller = new KeepAliveClient(running().port(), token())) {
            return plan.sqlite()
                    ? caller.get("/readyz").body().contains("jumped")
                    : running().talk().contains("clock")
                            || caller.get("/v1/workers").body().contains(JUMPED);
        }
    }

    private void kill(SoakClients clients) {
        kills.add(System.currentTimeMillis() * 1_000);
        running().kill();
        ledger.killed();
        restart(clients);
    }

    private void sleepUntil(double part) {
        long until = begun + (long) (plan.length().toNanos() * part);
        while (System.nanoTime() < until) {
            LockSupport.parkNanos(until - System.nanoTime());
            if (!running().alive()) {
                throw new AssertionError(
                        "the server ended by itself. It said:\n" + running().talk());
            }
        }
    }

    private Report report(Path log) {
        StoredRuns runs = plan.sqlite()
                ? StoredRuns.sqlite(plan.folder().resolve("semel.db"), plan.folder())
                : StoredRuns.postgres(how.store());
        wrong.addAll(ClientHistoryChecks.of(ledger, runs));
        SoakChecks.Verdict verdict = SoakChecks.of(evidence(log));
        List<String> lines = new ArrayList<>();
        lines.add("soak on %s, %d s: %d runs of %d keys, %d requests of clients, %d effects accepted by the provider"
                .formatted(
                        plan.name(),
                        (System.nanoTime() - begun) / 1_000_000_000,
                        runs.rows().size(),
                        ledger.keys().size(),
                        ledger.calls().size(),
                        verdict.accepted()));
        TreeMap<String, Integer> kinds = new TreeMap<>();
        ledger.keys().forEach(key -> kinds.merge(SoakWorkflow.of(key).word(), 1, Integer::sum));
        lines.add("  runs: " + kinds + "; killed " + kills.size() + " times, once with a clock 100 days ahead; "
                + failedStarts + " starts failed because the store was too slow");
        List<String> moments = List.of("start of the last life", "middle", "end");
        for (int i = 0; i < memory.size(); i++) {
            lines.add("  " + moments.get(i) + ": " + memory.get(i));
        }
        boolean flat = isFlat();
        lines.add(
                "  lost %d, doubled %d, in doubt %d explained by kills and %d unexplained, other findings %d; memory %s"
                        .formatted(
                                verdict.lost().size(),
                                verdict.doubled().size(),
                                verdict.explained(),
                                verdict.unexplained().size(),
                                wrong.size(),
                                flat ? "flat" : "NOT flat"));
        for (List<String> findings : List.of(verdict.lost(), verdict.doubled(), verdict.unexplained(), wrong)) {
            findings.stream().limit(10).forEach(finding -> lines.add("    " + finding));
        }
        return new Report(verdict.good() && wrong.isEmpty() && flat, lines);
    }

    private boolean isFlat() {
        ProcessMemory first = memory.getFirst();
        ProcessMemory last = memory.getLast();
        return last.heapBytes() <= first.heapBytes() * plan.growth()
                && last.handles() <= first.handles() + 20
                && last.threads() <= first.threads() + 20;
    }

    private SoakChecks.Evidence evidence(Path log) {
        try (Connection connection = connect();
                Stream<String> lines = Files.lines(log, StandardCharsets.UTF_8)) {
            return new SoakChecks.Evidence(
                    ledger.keys(),
                    lines.map(SoakChecks.Received::parse).toList(),
                    list(connection, "SELECT name FROM soak_row", row -> row.getString(1)),
                    list(
                            connection,
                            "SELECT r.key, e.path, e.state, e.first_at FROM semel_effect e JOIN semel_run r ON r.run ="
                                    + " e.run",
                            row -> new SoakChecks.LedgerRow(
                                    row.getString(1), row.getString(2), row.getInt(3), row.getLong(4))),
                    list(
                            connection,
                            "SELECT r.key FROM semel_review v JOIN semel_run r ON r.run = v.run",
                            row -> row.getString(1)),
                    List.copyOf(kills));
        } catch (SQLException | IOException e) {
            throw new AssertionError("the evidence cannot be read", e);
        }
    }

    private interface RowReader<T> {
        T read(ResultSet row) throws SQLException;
    }

    private static <T> List<T> list(Connection connection, String sql, RowReader<T> reader) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            List<T> all = new ArrayList<>();
            while (row.next()) {
                all.add(reader.read(row));
            }
            return all;
        }
    }

    private Connection connect() throws SQLException {
        return StoreKind.connect(how.store());
    }

    private void execute(String sql) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    public static void main(String[] args) throws IOException {
        Duration length = Duration.ofMinutes(args.length > 0 ? Long.parseLong(args[0]) : 30);
        Set<String> stores = args.length > 1 ? Set.of(args[1]) : Set.of("sqlite", "postgres");
        boolean good = true;
        for (String store : List.of("sqlite", "postgres")) {
            if (stores.contains(store)) {
                Path folder = Files.createTempDirectory("soak-" + store);
                Report report = play(new Plan(folder, store.equals("sqlite"), length, 5, 1.2));
                report.lines().forEach(System.out::println);
                System.out.println("  files: " + folder);
                good &= report.good();
            }
        }
        System.exit(good ? 0 : 1);
    }
}
