package dev.semel.trials.simulation;

import dev.semel.workflow.Context;
import dev.semel.workflow.EffectBuilder;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A program as one worker plays it. */
record ProgramExecution(
        Simulation.SharedState world,
        SimulatedWorker worker,
        RandomProgram.ProgramInput ask,
        @Nullable Workflow<RandomProgram.ProgramInput, String> child) {
    static final Signal<String> GO = Signal.of("go", String.class);
    static final Duration ONCE_WINDOW = Duration.ofMinutes(5);
    private static final Duration REMEMBERED = Duration.ofDays(30);
    private static final int ONCE_KEYS = 3;

    /** What a program says that is meant to fail; never retried, never the engine's fault. */
    static final class IntendedFailure extends RuntimeException {
        IntendedFailure() {
            super("the program fails here");
        }
    }

    String run(Context ctx) {
        List<RandomProgram.Kind> ops = world.program(ask.id()).ops();
        for (int i = 0; i < ops.size(); i++) {
            play(ctx, ops.get(i), i);
        }
        return ask.id();
    }

    private void play(Context ctx, RandomProgram.Kind kind, int at) {
        String name = "s" + at;
        switch (kind) {
            case STEP -> ctx.step(name, String.class, _ -> "step " + name);
            case PROVIDER_KEY, LOOKUP, AT_MOST_ONCE, ASK, REPEATABLE, ONCE, UNDO -> effect(ctx, kind, name);
            case SLEEP ->
                ctx.sleep(
                        name,
                        Duration.ofSeconds(1 + world.chance(ask.id() + name).nextInt(40)));
            case AWAIT -> ctx.await(name, GO);
            case AWAIT_FOR -> ctx.await(name, GO, Duration.ofSeconds(30));
            case EACH ->
                ctx.forEach(name, List.of("a", "b", "c"), item -> item)
                        .concurrency(2)
                        .run((scope, item) -> {
                            effect(scope, RandomProgram.Kind.PROVIDER_KEY, name + item);
                            return item;
                        });
            case CHILD -> {
                Workflow<RandomProgram.ProgramInput, String> called = child;
                if (called != null) {
                    ctx.call(name, called, new RandomProgram.ProgramInput(ask.id() + "/" + at), Start.fresh());
                }
            }
            case COMPENSATE -> ctx.compensate(name, undo -> effect(undo, RandomProgram.Kind.UNDO, name + "-undo"));
            case FAIL -> throw new IntendedFailure();
        }
    }

    private void effect(Context ctx, RandomProgram.Kind kind, String name) {
        String action = ask.id() + ":" + name;
        String runId = ctx.runId();
        EffectBuilder draft = ctx.effect(name);
        RandomProgram.Kind as = world.bug() == PlantedBug.SENT_AGAIN && kind == RandomProgram.Kind.AT_MOST_ONCE
                ? RandomProgram.Kind.REPEATABLE
                : kind;
        SimulatedReceivers.EffectRequest one = new SimulatedReceivers.EffectRequest(kind, action, runId);
        switch (as) {
            case PROVIDER_KEY, UNDO ->
                draft.providerHonoursKey(REMEMBERED)
                        .call(String.class, step -> world.receivers().send(worker, one, step));
            case LOOKUP ->
                draft.lookup(String.class, step -> world.receivers().find(worker, one, step))
                        .call(step -> world.receivers().send(worker, one, step));
            case AT_MOST_ONCE -> {
                var _ = draft.atMostOnce()
                        .call(String.class, step -> world.receivers().send(worker, one, step));
            }
            case ASK ->
                draft.askOnDoubt("ops")
                        .call(String.class, step -> world.receivers().send(worker, one, step));
            case REPEATABLE ->
                draft.repeatable("the receiver only counts")
                        .call(String.class, step -> world.receivers().send(worker, one, step));
            case ONCE -> {
                String shared = "once-" + world.chance(action).nextInt(ONCE_KEYS);
                SimulatedReceivers.EffectRequest all = new SimulatedReceivers.EffectRequest(kind, shared, runId);
                draft.key(shared)
                        .oncePer(ONCE_WINDOW)
                        .providerHonoursKey(REMEMBERED)
                        .call(String.class, step -> world.receivers().send(worker, all, step));
            }
            case STEP, SLEEP, AWAIT, AWAIT_FOR, EACH, CHILD, COMPENSATE, FAIL ->
                throw new IllegalArgumentException(kind + " is no effect");
        }
    }
}
