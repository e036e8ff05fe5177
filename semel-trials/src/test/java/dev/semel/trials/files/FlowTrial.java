package dev.semel.trials.files;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;
import dev.semel.server.SemelServer;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.server.demo.DemoExternalApi;
import dev.semel.server.demo.DemoExternalApiServer;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.Databases;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.Invariants;
import dev.semel.trials.support.StoreKind;
import jakarta.mail.MessagingException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Does one cell after another on copies of one store: halts a process, lets a server go on, and hears the others. */
final class FlowTrial implements AutoCloseable {
    private static final int MOST_LOOKS = 60;

    private final StoreKind kind;
    private final Path folder;
    private final DemoExternalApiServer playground = DemoExternalApiServer.start(0);
    private final GreenMail mail = new GreenMail(new ServerSetup(0, "127.0.0.1", ServerSetup.PROTOCOL_SMTP));
    private final String prepared;
    private int number;

    /**
     * @param hit whether every process ended where it was notified to
     * @param passed what a life without a halt passed; null in cells with one
     */
    record Result(
            String title,
            boolean hit,
            List<String> wrong,
            @Nullable Map<String, Integer> passed) {
        String row() {
            return "%-72s %s".formatted(title, !wrong.isEmpty() ? "BROKEN " + wrong : hit ? "kept" : "NOT HIT");
        }
    }

    FlowTrial(StoreKind kind, Path folder, UnaryOperator<String> mutation) {
        this.kind = kind;
        this.folder = folder;
        this.prepared = kind.fresh(folder);
        mail.start();
        try (SemelServer serve = serve(prepared)) {
            furnish(caller(serve));
            ExampleFlow.files(playground.url())
                    .forEach(file -> caller(serve).publish(mutation.apply(file)).expect(200));
        }
    }

    private SemelServer serve(String store) {
        return SemelServer.start(new ServerOptions(true, false, "127.0.0.1", 0, folder, store, null));
    }

    private static ApiCaller caller(SemelServer serve) {
        return new ApiCaller(serve.port(), "dev", _ -> {});
    }

    private void furnish(ApiCaller caller) {
        caller.put("/v1/channels/email", """
            {"kind":"email","smtp":{"host":"127.0.0.1","port":%d,"security":"none","from":"hello@acme.example"}}\
            """.formatted(mail.getSmtp().getPort()))
                .expect(200);
        caller.put("/v1/channels/chat", "{\"kind\":\"chat\",\"url\":\"" + playground.url() + "/chat\"}")
                .expect(200);
        caller.put("/v1/templates/receipt", """
            {"channel":"email","subject":"Receipt","text":"{{ amount }} ({{ payment }}), license {{ license }}."}\
            """).expect(200);
        caller.put("/v1/templates/welcome", """
            {"channel":"email","subject":"Welcome","text":"You have chosen {{ plan }}."}\
            """).expect(200);
        caller.put("/v1/templates/leads-digest", "{\"channel\":\"chat\",\"text\":\"{{ count }} new leads\"}")
                .expect(200);
        caller.put("/v1/routes/lead.welcome", """
            {"notification":"lead.welcome","channels":[{"channel":"email","template":"welcome"}]}\
            """).expect(200);
        caller.put("/v1/cohorts/do-not-mail", "{}").expect(200);
    }

    Result run(ExampleFlow flow, List<ExampleFlow.HaltPoint> halts) {
        String name = "cell" + ++number;
        String store = copy(name);
        Cell cell = new Cell(flow, name, effects());
        boolean hit = true;
        for (ExampleFlow.HaltPoint halt : halts) {
            hit &= live(cell, store, halt) == null;
            endLeases(store);
        }
        Map<String, Integer> passed = null;
        if (halts.isEmpty()) {
            passed = live(cell, store, ExampleFlow.HaltPoint.NEVER);
        }
        try (SemelServer serve = serve(store)) {
            drive(cell, caller(serve), true);
            cell.judge(caller(serve));
        }
        Invariants.check(store);
        String title = kind.name().toLowerCase(java.util.Locale.ROOT) + " " + flow.workflow() + " " + halts;
        return new Result(title, hit, List.copyOf(cell.wrong), passed);
    }

    /** One life of a process; what it passed, or null where it was halted. */
    private @Nullable Map<String, Integer> live(Cell cell, String store, ExampleFlow.HaltPoint halt) {
        try (FlowProcess child = FlowProcess.start(folder, store, halt)) {
            ApiCaller caller = child.caller();
            if (caller != null) {
                try {
                    drive(cell, caller, false);
                } catch (UncheckedIOException gone) {
                    // It was halted; else its exit code says something else.
                }
            }
            return child.over();
        }
    }

    /** As a client who repeats itself until it is notified the end; a person decides by the books of the others. */
    private void drive(Cell cell, ApiCaller caller, boolean deciding) {
        String path = "/v1/workflows/" + cell.flow.workflow() + "/trigger";
        String body = "{\"data\":{" + cell.flow.data(cell.name) + "}}";
        String[] key =
                cell.flow == ExampleFlow.RECEIPT ? new String[] {"Idempotency-Key: " + cell.name} : new String[0];
        String run = caller.post(path, body, key).expect(200).runId();
        cell.reported.add(run);
        cell.flow.prod(caller, run);
        for (int i = 0; i < MOST_LOOKS; i++) {
            HttpReply reply = caller.post(path + "?wait=1s", body, key).expect(200);
            cell.reported.add(reply.runId());
            String status = reply.text("status");
            if (Set.of("completed", "failed", "cancelled").contains(status)) {
                return;
            }
            if (status.equals("in_doubt") && !deciding) {
                return;
            }
            if (status.equals("in_doubt")) {
                decide(cell, caller, run);
            }
        }
        throw new AssertionError("run " + run + " of " + cell.name + " does not come to rest");
    }

    private void decide(Cell cell, ApiCaller caller, String run) {
        for (JsonNode step : timeline(caller, run)) {
            if (step.get("status").asString().equals("in_doubt")) {
                String path = step.get("path").asString();
                String decision = cell.happened(path)
                        ? "\"happened\",\"result\":{\"message_id\":\"found\",\"status\":200,\"body\":{}}"
                        : "\"did_not_happen\"";
                caller.post("/v1/runs/" + run + "/decide", "{\"step\":\"" + path + "\",\"decision\":" + decision + "}");
            }
        }
    }

    private static JsonNode timeline(ApiCaller caller, String run) {
        return caller.get("/v1/runs/" + run + "/timeline").expect(200).json().get("items");
    }

    private Map<DemoExternalApi, Long> effects() {
        Map<DemoExternalApi, Long> effects = new EnumMap<>(DemoExternalApi.class);
        for (DemoExternalApi provider : DemoExternalApi.values()) {
            effects.put(provider, playground.counts(provider).effects());
        }
        return effects;
    }

    private int mails(String address) {
        return (int) Arrays.stream(mail.getReceivedMessages())
                .filter(message -> {
                    try {
                        return message.getAllRecipients()[0].toString().equals(address);
                    } catch (MessagingException e) {
                        throw new AssertionError(e);
                    }
                })
                .count();
    }

    /** One cell, with what the others had heard before it. */
    private final class Cell {
        private final ExampleFlow flow;
        private final String name;
        private final Map<DemoExternalApi, Long> before;
        private final Set<String> reported = new HashSet<>();
        private final List<String> wrong = new ArrayList<>();

        Cell(ExampleFlow flow, String name, Map<DemoExternalApi, Long> before) {
            this.flow = flow;
            this.name = name;
            this.before = before;
        }

        private long effects(DemoExternalApi provider) {
            return playground.counts(provider).effects() - before.getOrDefault(provider, 0L);
        }

        /** What somebody sees who looks at the provider's own books. */
        private boolean happened(String path) {
            if (path.contains("request")) {
                return effects(DemoExternalApi.PICKS) > 0;
            }
            return path.contains("notify_sales")
                    ? effects(DemoExternalApi.CHAT) > 0
                    : mails(ExampleFlow.address(name)) > 0;
        }

        private void judge(ApiCaller caller) {
            if (reported.size() != 1) {
                wrong.add("reported of " + reported.size() + " runs");
            }
            String run = reported.iterator().next();
            JsonNode row = caller.get("/v1/runs/" + run).expect(200).json();
            if (!row.get("status").asString().equals("completed")) {
                wrong.add("the run is " + row);
            }
            if (runs(caller, flow.workflow()) != 1) {
                wrong.add(runs(caller, flow.workflow()) + " runs");
            }
            wrong.addAll(flow.judge(new ExampleFlow.ReceiverView() {
                @Override
                public long effects(DemoExternalApi provider) {
                    return Cell.this.effects(provider);
                }

                @Override
                public int mails() {
                    return FlowTrial.this.mails(ExampleFlow.address(name));
                }

                @Override
                public String status(String step) {
                    return StreamSupport.stream(timeline(caller, run).spliterator(), false)
                            .filter(one -> one.get("path").asString().contains(step))
                            .map(one -> one.get("status").asString())
                            .findFirst()
                            .orElse("not on record");
                }

                @Override
                public int runs(String workflow) {
                    return FlowTrial.runs(caller, workflow);
                }
            }));
        }
    }

    private static int runs(ApiCaller caller, String workflow) {
        return caller.get("/v1/workflows/" + workflow + "/runs")
                .expect(200)
                .json()
                .get("items")
                .size();
    }

    private String copy(String name) {
        if (kind == StoreKind.POSTGRES) {
            return Databases.copy(prepared);
        }
        try {
            Files.copy(folder.resolve("semel.db"), folder.resolve(name + ".db"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return "sqlite:" + folder.resolve(name + ".db");
    }

    /** In PostgreSQL the lease of the dead has to run out. It is dead for certain, so nobody is made to wait for that. */
    private void endLeases(String store) {
        if (kind == StoreKind.POSTGRES) {
            try (var connection = StoreKind.connect(store);
                    var statement = connection.createStatement()) {
                statement.execute("UPDATE semel_lease SET expires_at = least(expires_at, started_at + 1)");
            } catch (SQLException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Override
    public void close() {
        mail.stop();
        playground.close();
    }
}
