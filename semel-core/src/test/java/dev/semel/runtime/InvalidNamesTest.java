package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import dev.semel.error.StepFailed;
import dev.semel.workflow.Context;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Workflow;
import dev.semel.workflow.WorkflowFunction;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Names, keys and scopes that users choose badly, and how far good ones may go. */
final class InvalidNamesTest extends SqliteTestBase {
    private static final Signal<String> GO = Signal.of("go", String.class);

    @AfterEach
    void nobody_else_is_affected() {
        othersGoOn();
    }

    private StepFailed refused(WorkflowFunction<String, String> body) {
        return failure(start(flow(body)));
    }

    @Test
    void an_empty_or_oversized_effect_key_is_rejected_with_the_effect_name() {
        AtomicInteger sent = new AtomicInteger();
        for (String key : List.of("", "k".repeat(64 * 1024 + 1))) {
            StepFailed failed = refused((ctx, _) -> {
                ctx.step("before", String.class, _ -> "fine");
                return ctx.effect("mail")
                        .key(key)
                        .repeatable("a test")
                        .call(String.class, _ -> "sent" + sent.incrementAndGet());
            });
            assertEquals("mail", failed.step());
            says(failed, "\"mail\"");
        }
        assertEquals(0, sent.get());
        assertEquals(
                "sent1",
                start(flow((ctx, _) -> ctx.effect("mail")
                                .key("k".repeat(64 * 1024))
                                .repeatable("a test")
                                .call(String.class, _ -> "sent" + sent.incrementAndGet())))
                        .result(SOON));
    }

    @Test
    void a_step_name_used_twice_is_rejected_in_every_execution() {
        Workflow<String, String> flow = flow((ctx, _) -> {
            String seen = ctx.step("a", String.class, _ -> "a");
            try {
                seen += ctx.step("a", String.class, _ -> "b");
            } catch (SemelException e) {
                seen += e.code().slug();
            }
            return seen + ctx.step("b", String.class, _ -> "b") + ctx.await(GO);
        });
        RunHandle<String> run = start(flow);
        untilWaiting(run, "signal");
        restart();
        semel.register(flow);
        RunHandle<String> same = semel.run(flow, run.id());
        same.signal(GO, "!", Key.of("k"));
        assertEquals("ainvalid-definitionb!", same.result(SOON));
        StepFailed failed =
                refused((ctx, _) -> ctx.step("a", String.class, _ -> "") + ctx.step("a", String.class, _ -> ""));
        assertEquals("a", failed.step());
    }

    @Test
    void branches_with_equal_keys_are_rejected_before_any_starts() {
        AtomicInteger begun = new AtomicInteger();
        StepFailed failed = refused((ctx, _) -> ctx.forEach("items", List.of("a", "b", "a"), i -> i, (c, i) -> {
                    begun.incrementAndGet();
                    return i;
                })
                .toString());
        says(failed, "items 1 and 3 have the same key");
        assertEquals(0, begun.get());
    }

    @Test
    void no_items_many_items_and_branches_in_branches() {
        assertEquals(
                "[]",
                start(flow((ctx, _) -> ctx.forEach("none", List.<String>of(), i -> i, (_, i) -> i)
                                .toString()))
                        .result(SOON));
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<Integer> many = IntStream.range(0, 10_000).boxed().toList();
        long sum = start(Workflow.define("many", String.class, Long.class)
                        .body((ctx, _) -> ctx
                                .forEach("many", many, i -> i)
                                .concurrency(50)
                                .run((c, i) -> c.step("s", Integer.class, _ -> {
                                    most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                                    inside.decrementAndGet();
                                    return i;
                                }))
                                .stream()
                                .mapToLong(i -> i)
                                .sum()))
                .result(Duration.ofMinutes(2));
        assertEquals(10_000L * 9_999 / 2, sum);
        assertTrue(most.get() <= 50);
        String nested = start(flow((ctx, _) -> ctx.forEach("outer", List.of("a", "b"), i -> i)
                        .concurrency(2)
                        .run((c, i) -> c.forEach("inner", List.of("1", "2"), j -> j)
                                .concurrency(2)
                                .run((d, j) -> d.step("s", String.class, _ -> i + j)))
                        .toString()))
                .result(SOON);
        assertEquals("[[a1, a2], [b1, b2]]", nested);
    }

    @Test
    void step_names_may_contain_path_separators() {
        Workflow<String, String> flow = flow((ctx, _) -> {
            String seen = "";
            for (String name : List.of("a/b", "a[b]", "a\\", "a#b", "#now.1", "/undo/x/", "ä €")) {
                seen += ctx.step(name, String.class, _ -> "1");
            }
            List<String> keys = List.of("a/b", "a[b]/", "]/a[", "\\");
            seen += ctx.forEach("x[1]/", keys, i -> i, (c, _) -> c.step("s/", String.class, _ -> "2"));
            return seen + ctx.now().isAfter(java.time.Instant.EPOCH) + ctx.await(GO);
        });
        RunHandle<String> run = start(flow);
        untilWaiting(run, "signal");
        restart();
        semel.register(flow);
        RunHandle<String> same = semel.run(flow, run.id());
        same.signal(GO, "!", Key.of("k"));
        assertEquals("1111111[2, 2, 2, 2]true!", same.result(SOON));
    }

    @Test
    void step_names_that_no_store_can_hold_are_rejected() {
        for (String name : List.of("nul\0", "half \ud800", "n".repeat(1_001))) {
            StepFailed failed = refused((ctx, _) -> ctx.step(name, String.class, _ -> "no"));
            says(failed, "It did not run");
            failed = refused((ctx, _) -> ctx.forEach(
                            name, List.of("a"), i -> i, (c, _) -> c.step("s", String.class, _ -> ""))
                    .toString());
            says(failed, "It did not run");
            failed = refused((ctx, _) -> {
                ctx.compensate(name, c -> c.step("s", String.class, _ -> ""));
                return "no";
            });
            says(failed, "It did not run");
        }
        StepFailed failed = refused((ctx, _) -> ctx.forEach(
                        "l", List.of("a\0"), i -> i, (c, _) -> c.step("s", String.class, _ -> ""))
                .toString());
        says(failed, "item 1 of forEach");
    }

    @Test
    void scopes_may_be_deep_up_to_a_limit() {
        assertEquals("reached", start(flow((ctx, _) -> descend(ctx, 200))).result(SOON));
        StepFailed failed = refused((ctx, _) -> descend(ctx, 2_000));
        says(failed, "deep");
    }

    private static String descend(Context ctx, int depth) {
        return depth == 0
                ? ctx.step("bottom", String.class, _ -> "reached")
                : ctx.forEach("level", List.of(depth), i -> i, (c, i) -> descend(c, i - 1))
                        .getFirst();
    }
}
