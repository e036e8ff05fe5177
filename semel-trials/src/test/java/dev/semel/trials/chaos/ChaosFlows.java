package dev.semel.trials.chaos;

import dev.semel.error.HttpStatusException;
import dev.semel.trials.chaos.checks.EffectStepNames;
import dev.semel.workflow.Context;
import dev.semel.workflow.EffectBuilder;
import dev.semel.workflow.EffectOutcome;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Step;
import dev.semel.workflow.Workflow;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;

/** The workflows of the chaos trial: several effects under each protection, a sleep, rows of the user, a shared key. */
final class ChaosFlows {
    private static final Retry PATIENT = Retry.exponential(Duration.ofMillis(20))
            .longest(Duration.ofMillis(500))
            .upTo(100);
    private static final Duration PROVIDER_WINDOW = Duration.ofHours(1);
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration LATER = Duration.ofMillis(400);

    private final ChaosChild.WorkerConfig life;
    private final WorkerEventLog events;
    private final Set<String> inside = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean noted = new AtomicBoolean();
    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENCE)
            .build();

    /**
     * What a run is asked to do.
     *
     * @param effect its key, by which the receiver knows it
     * @param manners how the receiver treats the first requests
     * @param shared the effect key that several runs share
     */
    record Task(String effect, String manners, String shared, int napMillis) {}

    ChaosFlows(ChaosChild.WorkerConfig life, WorkerEventLog events) {
        this.life = life;
        this.events = events;
    }

    List<Workflow<?, ?>> all() {
        return List.of(flow("order"), flow("asking"), flow("sharing"), flow("plain"));
    }

    Workflow<Task, String> flow(String name) {
        return Workflow.define(name, Task.class, String.class).body((ctx, task) -> {
            boolean alone = inside.add(ctx.runId());
            if (!alone) {
                events.note("overlap", ctx.runId());
            }
            try {
                return perform(name, ctx, task);
            } finally {
                if (alone) {
                    inside.remove(ctx.runId());
                }
            }
        });
    }

    private String perform(String name, Context ctx, Task task) {
        ctx.step("first", String.class, _ -> "first");
        switch (name) {
            case "order" -> order(ctx, task);
            case "asking" -> asking(ctx, task);
            case "sharing" -> sharing(ctx, task);
            default -> ctx.step("only", String.class, _ -> "only");
        }
        return ctx.step("last", String.class, _ -> "last");
    }

    private void order(Context ctx, Task task) {
        effect(ctx, EffectStepNames.CHARGE)
                .providerHonoursKey(PROVIDER_WINDOW)
                .call(String.class, step -> post("dedupe", task, EffectStepNames.CHARGE, step));
        ctx.tx("row", String.class, (sql, _) -> row(sql, task));
        letter(ctx, task);
        ctx.sleep(EffectStepNames.NAP, Duration.ofMillis(task.napMillis()));
        effect(ctx, EffectStepNames.PARCEL)
                .lookup(String.class, step -> find(task, step))
                .call(step -> post("forgets", task, EffectStepNames.PARCEL, step));
        effect(ctx, EffectStepNames.PING)
                .repeatable("it is counted, no more")
                .call(String.class, step -> post("forgets", task, EffectStepNames.PING, step));
    }

    private void letter(Context ctx, Task task) {
        EffectBuilder effectBuilder = effect(ctx, EffectStepNames.LETTER);
        if (has(PlantedBug.AT_MOST_ONCE_SENT_AGAIN)) {
            effectBuilder
                    .repeatable("a planted bug")
                    .call(String.class, step -> post("forgets", task, EffectStepNames.LETTER, step));
            return;
        }
        switch (effectBuilder
                .atMostOnce()
                .call(String.class, step -> post("forgets", task, EffectStepNames.LETTER, step))) {
            case EffectOutcome.Done<String> _ -> {}
            case EffectOutcome.Indeterminate<String> _ -> ctx.step("not known", String.class, _ -> "not known");
        }
    }

    private void asking(Context ctx, Task task) {
        EffectBuilder effectBuilder = effect(ctx, EffectStepNames.ASKED);
        (has(PlantedBug.ASK_SENT_AGAIN)
                        ? effectBuilder.repeatable("a planted bug")
                        : effectBuilder.askOnDoubt("role:ops"))
                .call(String.class, step -> post("forgets", task, EffectStepNames.ASKED, step));
    }

    private void sharing(Context ctx, Task task) {
        EffectBuilder shared = effect(ctx, EffectStepNames.SHARED);
        if (!has(PlantedBug.ONCE_FORGOTTEN)) {
            shared = shared.key(task.shared()).oncePer(PROVIDER_WINDOW);
        }
        Task common = new Task(task.shared(), task.manners(), task.shared(), 0);
        shared.providerHonoursKey(PROVIDER_WINDOW)
                .call(String.class, step -> post("dedupe", common, EffectStepNames.SHARED, step));
    }

    /** Whether a bug is planted here; that it was met is noted. */
    private boolean has(PlantedBug bug) {
        if (life.bug() == bug && noted.compareAndSet(false, true)) {
            events.note("planted", "workflow");
        }
        return life.bug() == bug;
    }

    private static EffectBuilder effect(Context ctx, String name) {
        return ctx.effect(name).retry(PATIENT);
    }

    private String row(Connection sql, Task task) throws Exception {
        if (has(PlantedBug.TX_APART)) {
            try (Connection own = DriverManager.getConnection(life.url())) {
                insert(own, task);
            }
            LockSupport.parkNanos(LATER.toNanos());
        } else {
            insert(sql, task);
        }
        return "inserted";
    }

    /** No constraint stands in the way of a second row: only the one commit of rows and record does. */
    private static void insert(Connection sql, Task task) throws Exception {
        try (PreparedStatement insert = sql.prepareStatement("INSERT INTO chaos_row (effect) VALUES (?)")) {
            insert.setString(1, task.effect());
            insert.executeUpdate();
        }
    }

    private String post(String memory, Task task, String name, Step step) throws IOException, InterruptedException {
        String url = life.receiver() + "/" + memory + "/" + task.manners() + "/" + task.effect() + "/" + name;
        if (has(PlantedBug.RESULT_BEFORE_SEND)) {
            int attempt = step.attempt();
            String key = key(step);
            Thread.ofVirtual().start(() -> {
                LockSupport.parkNanos(LATER.toNanos());
                try {
                    send(url, "POST", key, attempt);
                } catch (IOException | InterruptedException e) {
                    events.note("failed", String.valueOf(e.getMessage()));
                }
            });
            return "receipt-0";
        }
        HttpResponse<String> answer = send(url, "POST", key(step), step.attempt());
        if (answer.statusCode() != 200) {
            throw new HttpStatusException(
                    answer.statusCode(), JsonNodeFactory.instance.stringNode(answer.body()), null);
        }
        return answer.body();
    }

    private String key(Step step) {
        return has(PlantedBug.KEY_PER_WORKER) ? step.key() + "-" + life.worker() : step.key();
    }

    private @Nullable String find(Task task, Step step) throws IOException, InterruptedException {
        if (has(PlantedBug.LOOKUP_SKIPPED)) {
            return null;
        }
        String url =
                life.receiver() + "/forgets/" + task.manners() + "/" + task.effect() + "/" + EffectStepNames.PARCEL;
        HttpResponse<String> answer = send(url, "GET", key(step), step.attempt());
        return answer.statusCode() == 200 ? answer.body() : null;
    }

    private HttpResponse<String> send(String url, String method, String key, int attempt)
            throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url))
                .header("Idempotency-Key", key)
                .header("X-From", life.worker() + " " + attempt)
                .timeout(PATIENCE)
                .method(
                        method,
                        method.equals("GET")
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofString("a effect"))
                .build();
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }
}
