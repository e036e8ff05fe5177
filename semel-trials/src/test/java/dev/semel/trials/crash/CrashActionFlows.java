package dev.semel.trials.crash;

import dev.semel.error.HttpStatusException;
import dev.semel.workflow.Context;
import dev.semel.workflow.EffectBuilder;
import dev.semel.workflow.EffectOutcome;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Step;
import dev.semel.workflow.Workflow;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;

/** The workflows of the crash matrix: a step, the effect, a step. */
final class CrashActionFlows {
    static final Signal<String> NEWS = Signal.of("news", String.class);
    static final String INDETERMINATE = "indeterminate";

    private static final Retry PROMPT = Retry.exponential(Duration.ofMillis(20)).upTo(3);
    private static final Duration PROVIDER_WINDOW = Duration.ofHours(1);

    /** Long enough for a busy machine; a receiver that hangs is not waited for that long. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final Duration SHORT_PATIENCE = Duration.ofSeconds(2);

    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENCE)
            .build();
    private final ProcessLife.Mutation mutation;
    private int sends;

    /** What a run is asked to do. @param target the run that is notified something */
    record Task(String url, boolean hangs, String target) {}

    CrashActionFlows(ProcessLife.Mutation mutation) {
        this.mutation = mutation;
    }

    Workflow<Task, String> flow(CrashAction action) {
        return Workflow.define(action.name().toLowerCase(java.util.Locale.ROOT), Task.class, String.class)
                .body((ctx, task) -> {
                    ctx.step("before", String.class, _ -> "before");
                    String answer = perform(action, ctx, task);
                    ctx.step("after", String.class, _ -> "after");
                    return answer;
                });
    }

    /** What is called by {@link CrashAction#CALL}: a run with an effect of its own. */
    Workflow<Task, String> called() {
        return Workflow.define("called", Task.class, String.class)
                .body((ctx, task) ->
                        effect(ctx).providerHonoursKey(PROVIDER_WINDOW).call(String.class, step -> post(task, step)));
    }

    /** What is notified by {@link CrashAction#SIGNAL}. */
    Workflow<String, String> reported() {
        return Workflow.define("reported", String.class, String.class).body((ctx, _) -> ctx.await(NEWS));
    }

    private static EffectBuilder effect(Context ctx) {
        return ctx.effect("effect").retry(PROMPT);
    }

    private String perform(CrashAction action, Context ctx, Task task) {
        return switch (action) {
            case STEP -> ctx.step("effect").retry(PROMPT).run(String.class, step -> post(task, step));
            case REPEATABLE ->
                effect(ctx).repeatable("it is counted, no more").call(String.class, step -> post(task, step));
            case PROVIDER_KEY ->
                effect(ctx).providerHonoursKey(PROVIDER_WINDOW).call(String.class, step -> post(task, step));
            case ALREADY_DONE ->
                effect(ctx)
                        .alreadyDone(409)
                        .providerHonoursKey(PROVIDER_WINDOW)
                        .call(String.class, step -> post(task, step));
            case LOOKUP ->
                effect(ctx).lookup(String.class, step -> find(task, step)).call(step -> post(task, step));
            case AT_MOST_ONCE ->
                switch (effect(ctx).atMostOnce().call(String.class, step -> post(task, step))) {
                    case EffectOutcome.Done<String>(String receipt) -> receipt;
                    case EffectOutcome.Indeterminate<String> _ -> INDETERMINATE;
                };
            case ASK -> effect(ctx).askOnDoubt("role:ops").call(String.class, step -> post(task, step));
            case TX -> ctx.tx("effect", String.class, CrashActionFlows::insert);
            case CALL -> ctx.call(called(), task);
            case SIGNAL -> {
                ctx.signal(task.target(), NEWS, "it happened");
                yield "reported";
            }
        };
    }

    private String post(Task task, Step step) throws IOException, InterruptedException {
        String key = mutation == ProcessLife.Mutation.NEW_KEY_EACH_TIME
                ? step.key() + ProcessHandle.current().pid() + ++sends
                : step.key();
        if (mutation == ProcessLife.Mutation.NOT_SENT) {
            return "receipt-0";
        }
        if (mutation == ProcessLife.Mutation.SENT_TWICE) {
            send(task, key, "POST");
        }
        HttpResponse<String> answer = send(task, key, "POST");
        if (answer.statusCode() != 200) {
            throw new HttpStatusException(
                    answer.statusCode(), JsonNodeFactory.instance.stringNode(answer.body()), null);
        }
        return answer.body();
    }

    private @Nullable String find(Task task, Step step) throws IOException, InterruptedException {
        HttpResponse<String> answer = send(task, step.key(), "GET");
        return answer.statusCode() == 200 ? answer.body() : null;
    }

    private HttpResponse<String> send(Task task, String key, String method) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(task.url()))
                .header("Idempotency-Key", key)
                .timeout(task.hangs() ? SHORT_PATIENCE : PATIENCE)
                .method(
                        method,
                        method.equals("GET")
                                ? HttpRequest.BodyPublishers.noBody()
                                : HttpRequest.BodyPublishers.ofString("a effect"))
                .build();
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }

    /** No constraint stands in the way of a second row: only the one commit of rows and record does. */
    private static String insert(Connection sql, Step step) throws Exception {
        try (Statement create = sql.createStatement()) {
            create.execute("CREATE TABLE IF NOT EXISTS crash_row (step_key TEXT NOT NULL)");
        }
        try (PreparedStatement insert = sql.prepareStatement("INSERT INTO crash_row (step_key) VALUES (?)")) {
            insert.setString(1, step.key());
            insert.executeUpdate();
        }
        return "inserted";
    }
}
