package dev.semel.trials.crash;

import dev.semel.workflow.Retry;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Step;
import dev.semel.workflow.Workflow;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A run that needs every named write, and a provider in this process that counts what it is asked for. */
final class CommitCutFlows {
    static final Signal<String> NEWS = Signal.of("news", String.class);
    static final String TABLE = "CREATE TABLE cut_row (name text NOT NULL)";

    private static final Retry PROMPT = Retry.exponential(Duration.ofMillis(20)).upTo(3);
    private static final Duration PROVIDER_WINDOW = Duration.ofHours(1);

    private final List<ProviderRequest> sent = new CopyOnWriteArrayList<>();

    /** A request as the provider saw it. */
    record ProviderRequest(String what, String key) {}

    /** A step, an effect, rows of the user, a wait, an effect that nobody knows the end of, a step. */
    final Workflow<String, String> everything = Workflow.define("everything", String.class, String.class)
            .body((ctx, name) -> {
                ctx.step("before", String.class, _ -> "before");
                String receipt = ctx.effect("pay")
                        .retry(PROMPT)
                        .providerHonoursKey(PROVIDER_WINDOW)
                        .call(String.class, step -> accept("pay " + name, step));
                ctx.tx("row", String.class, (sql, _) -> insert(sql, name));
                ctx.await(NEWS);
                ctx.effect("call").askOnDoubt("role:ops").call(String.class, step -> {
                    accept("call " + name, step);
                    throw new IOException("the answer was lost");
                });
                ctx.step("after", String.class, _ -> "after");
                return receipt;
            });

    /** What is cancelled. */
    final Workflow<String, String> waiting =
            Workflow.define("waiting", String.class, String.class).body((ctx, _) -> ctx.await(NEWS));

    private String accept(String what, Step step) {
        sent.add(new ProviderRequest(what, step.key()));
        return "receipt";
    }

    private static String insert(Connection sql, String name) throws Exception {
        try (PreparedStatement insert = sql.prepareStatement("INSERT INTO cut_row (name) VALUES (?)")) {
            insert.setString(1, name);
            insert.executeUpdate();
        }
        return "inserted";
    }

    /** Requests for one thing. */
    List<ProviderRequest> sent(String what) {
        return sent.stream().filter(one -> one.what().equals(what)).toList();
    }
}
