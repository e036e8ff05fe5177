package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.RunStatus;
import dev.semel.error.RequestRejected;
import dev.semel.replay.PlannedReplayStep;
import dev.semel.replay.ReplayNotificationMode;
import dev.semel.replay.ReplayOptions;
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.ReplayPreview;
import dev.semel.replay.SafeReplayStepAction;
import dev.semel.run.RunState;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.store.StoreQueries;
import dev.semel.testing.FakeExternalSystem;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.workflow.Context;
import dev.semel.workflow.EffectBuilder;
import dev.semel.workflow.EffectOperation;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Start;
import dev.semel.workflow.Step;
import dev.semel.workflow.Workflow;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random runs with random protections that fail in random ways, are cancelled in doubt, or lose their worker; some of
 * their effects are done by a run that they call. Then plans are made and applied: for the runs that were called, then for
 * those that called them. What they predicted is what the providers then saw, and nothing is done twice.
 */
final class ReplaySeedsTest {
    private static final List<String> PROTECTIONS =
            List.of("provider_key", "lookup", "at_most_once", "ask", "repeatable");
    private static final int RUNS = 12;
    private static final int EFFECTS = 4;

    private enum Fault {
        DOWN,
        REFUSE,
        LOSE
    }

    private final Map<String, Fault> faults = new ConcurrentHashMap<>();
    private final List<String> protections = new ArrayList<>();
    /** The effect that another run does; -1 for none. */
    private int called = -1;

    private boolean keyed;

    /** Which effects tell somebody something, and what the replays of the runs do about those. */
    private final List<Boolean> notifies = new ArrayList<>();

    private ReplayNotificationMode notify = ReplayNotificationMode.MISSING;

    /** How the runs are replayed. */
    private enum ReplayMode {
        USUAL("", false, null),
        START(ReplayOptions.START, false, null),
        OTHER_VERSION("", true, null),
        OTHER_INPUT("", false, "\"other\"");

        private final String from;
        private final boolean asItIs;
        private final @Nullable String input;

        ReplayMode(String from, boolean asItIs, @Nullable String input) {
            this.from = from;
            this.asItIs = asItIs;
            this.input = input;
        }

        /** What is done for another input, or by other code, is for a person, who says yes here. */
        ReplayPlanApplyOptions manner() {
            return isSafe()
                    ? ReplayPlanApplyOptions.SAFE
                    : new ReplayPlanApplyOptions(List.of(SafeReplayStepAction.ASK), 0, 0, 0);
        }

        boolean isSafe() {
            return this == USUAL || this == START;
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24})
    void the_counts_of_a_plan_match_the_calls_at_the_providers(long seed) {
        Random random = new Random(seed);
        try (WorkflowTestKit kit = new WorkflowTestKit()) {
            for (int i = 0; i < EFFECTS; i++) {
                protections.add(PROTECTIONS.get(random.nextInt(PROTECTIONS.size())));
                kit.provider("p" + i).honoursKeysFor(Duration.ofMinutes(30));
            }
            Random telling = new Random(-seed);
            for (int i = 0; i < EFFECTS; i++) {
                notifies.add(telling.nextBoolean());
            }
            called = random.nextInt(2 * EFFECTS) % (EFFECTS + 1) - 1;
            ReplayMode way = ReplayMode.values()[(int) (seed % ReplayMode.values().length)];
            keyed = random.nextBoolean() && way != ReplayMode.OTHER_INPUT; // which would be another key
            Workflow<String, String> sub = Workflow.define("sub", String.class, String.class)
                    .window(Duration.ofMinutes(5))
                    .body((ctx, in) -> {
                        effect(ctx, kit.provider("p" + called), in, called);
                        return in;
                    });
            Workflow<String, String> flow = flow(kit, sub, "first");
            kit.register(sub, flow);
            fail(kit, flow, random);
            if (random.nextInt(3) == 0) {
                kit.clock().advance(Duration.ofMinutes(40));
            }
            if (way == ReplayMode.OTHER_VERSION) {
                kit.register(flow(kit, sub, "second"));
            }
            replay(kit, "sub", ReplayMode.USUAL, 1);
            notify = ReplayNotificationMode.values()[
                    (int) (seed / ReplayMode.values().length % ReplayNotificationMode.values().length)];
            replay(kit, "flow", way, EFFECTS);
        }
    }

    private Workflow<String, String> flow(WorkflowTestKit kit, Workflow<String, String> sub, String title) {
        return Workflow.define("flow", String.class, String.class).title(title).body((ctx, in) -> {
            for (int i = 0; i < EFFECTS; i++) {
                if (i == called) {
                    ctx.call("e" + i, sub, in, keyed ? Start.withKey("sub", in) : Start.fresh());
                } else {
                    effect(ctx, kit.provider("p" + i), in, i);
                }
            }
            return in;
        });
    }

    private void effect(Context ctx, FakeExternalSystem provider, String in, int i) {
        EffectBuilder draft = ctx.effect("e" + i).retry(Retry.none());
        if (notifies.get(i)) {
            draft.does(EffectOperation.NOTIFY);
        }
        switch (protections.get(i)) {
            case "provider_key" ->
                draft.providerHonoursKey(Duration.ofMinutes(30))
                        .call(String.class, step -> sent(provider, step, in, i));
            case "lookup" ->
                draft.lookup(String.class, step -> provider.find(step.key())).call(step -> sent(provider, step, in, i));
            case "at_most_once" -> draft.atMostOnce().call(String.class, step -> sent(provider, step, in, i));
            case "ask" -> draft.askOnDoubt("ops").call(String.class, step -> sent(provider, step, in, i));
            default -> draft.repeatable("a test").call(String.class, step -> sent(provider, step, in, i));
        }
    }

    private String sent(FakeExternalSystem provider, Step step, String in, int i) throws IOException {
        Fault fault = faults.remove(in + " " + i);
        if (fault == Fault.DOWN) {
            throw new ConnectException("nobody there");
        }
        if (fault == Fault.REFUSE) {
            throw new RequestRejected("no");
        }
        String said = provider.call(step.key());
        if (fault == Fault.LOSE) {
            throw new SocketTimeoutException("no answer");
        }
        return said;
    }

    /** Starts the runs, lets their workers die now and then, and cancels what is in doubt. */
    private void fail(WorkflowTestKit kit, Workflow<String, String> flow, Random random) {
        for (int run = 0; run < RUNS; run++) {
            if (random.nextInt(4) > 0) {
                faults.put("in" + run + " " + random.nextInt(EFFECTS), Fault.values()[random.nextInt(3)]);
            }
            if (random.nextInt(6) == 0) {
                kit.crashAt("effect-sent", 1 + random.nextInt(EFFECTS));
            }
            Run<String> started = kit.start(flow, "in" + run);
            kit.clock().advance(Duration.ofMinutes(1));
            if (started.status() == RunStatus.IN_DOUBT) {
                assertTrue(started.cancel("ann", "nobody knows"));
                kit.settle();
            }
            faults.clear();
            kit.crashAt("nowhere", 1); // a death that the run did not come to is not for the replay
        }
    }

    /** @param effects so many does a run of the workflow have */
    private void replay(WorkflowTestKit kit, String workflow, ReplayMode way, int effects) {
        int ws = TestRuntime.of(kit).testAccess().workspace();
        String id = Objects.requireNonNull(TestRuntime.of(kit).view(reads -> reads.workflow(ws, workflow)))
                .workflowId();
        var all = new ReplayPlanOperations.RunSelection.ByFilter(
                new StoreQueries.RunFilter(ws, id, null, null, false, 0, null, 1, null));
        ReplayPlanRequest order = new ReplayPlanRequest("all", way.from, way.asItIs, List.of(), true, false, notify);
        ReplayPlanStoreWriteCommand.ReplayPlan plan = replays(kit)
                .plan(new ReplayPlanOperations.ReplayRequest(
                        ws, "ann", all, order, way.input, false, ReplayPlanApplyOptions.SAFE));
        ReplayPlanApplyOptions applyOptions = way.manner();
        int least = 0;
        int perhaps = 0;
        int allowed = 0;
        for (ReplayPlanStoreWriteCommand.PlanItem item :
                replays(kit).listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 1_000)) {
            ReplayPreview prediction = ReplayPreview.parse(item.preview());
            if (item.worstAction() > 0 && applyOptions.allows(item.actions())) {
                allowed++;
                least += calls(
                        prediction,
                        SafeReplayStepAction.SEND,
                        SafeReplayStepAction.SEND_AGAIN,
                        SafeReplayStepAction.RESEND,
                        SafeReplayStepAction.RUN_AGAIN);
                perhaps += calls(prediction, SafeReplayStepAction.CHECK, SafeReplayStepAction.ASK);
                // What code asks for behind its record is not predicted one by one, and is said to be open.
                boolean completed = item.preview().contains("\"status\":\"completed\"");
                int open = completed ? 0 : open(prediction, effects);
                least += prediction.worst() == SafeReplayStepAction.ASK
                        ? 0
                        : open; // one that waits for a person does not come to it
                perhaps += prediction.worst() == SafeReplayStepAction.ASK ? open : 0;
            }
        }
        String reported = workflow + " " + way + ", " + notify + " of " + notifies + ", " + protections + ", called "
                + called + ", " + plan.summary();
        if (allowed > 0) {
            ProviderCalls before = new ProviderCalls(calls(kit), keys(kit));
            replays(kit).apply(ws, plan.id(), applyOptions, "bob");
            kit.clock().advance(Duration.ofMinutes(1));
            int seen = calls(kit) - before.calls();
            int atLeast = way.isSafe() ? least : 0;
            int atMost = least + perhaps;
            assertTrue(
                    atLeast <= seen && seen <= atMost,
                    () -> reported + ": " + seen + " calls, not " + atLeast + " to " + atMost + kit.describe());
            assertTrue(keys(kit).containsAll(before.keys()));
        }
        verify(kit, plan, reported, way);
    }

    /** Effects that a run is not known to come to; those that stay silent when it does are not counted. */
    private int open(ReplayPreview prediction, int effects) {
        Set<String> listed = new HashSet<>();
        prediction.steps().forEach(step -> listed.add(step.step()));
        int open = effects - listed.size();
        for (int i = 0; i < EFFECTS && notify == ReplayNotificationMode.NONE; i++) {
            open -= i != called && notifies.get(i) && !listed.contains("e" + i) ? 1 : 0;
        }
        return open;
    }

    private record ProviderCalls(int calls, Set<String> keys) {}

    private void verify(
            WorkflowTestKit kit, ReplayPlanStoreWriteCommand.ReplayPlan plan, String reported, ReplayMode way) {
        long ended = replays(kit).progress(plan.id()).stream()
                .filter(count -> count.outcome() == ReplayPlanStoreWriteCommand.ItemOutcome.APPLIED
                        && count.state() != RunState.COMPLETED)
                .mapToLong(ReplayPlanQueries.ItemCount::items)
                .sum();
        if (way.isSafe()) {
            assertEquals(0, ended, () -> reported + ": " + replays(kit).progress(plan.id()) + kit.describe());
        }
        for (int i = 0; i < EFFECTS; i++) {
            FakeExternalSystem provider = kit.provider("p" + i);
            int keys = new HashSet<>(provider.keys()).size();
            int most = notify == ReplayNotificationMode.AGAIN && notifies.get(i)
                    ? 2 * RUNS
                    : RUNS; // reported twice on purpose
            assertTrue(keys <= most, () -> reported + ": one effect of one run has two keys");
            if (!protections.get(i).equals("repeatable")) {
                assertEquals(keys, provider.effects(), () -> reported + ": done twice");
            }
        }
    }

    private static ReplayPlanOperations replays(WorkflowTestKit kit) {
        return TestRuntime.of(kit).replays();
    }

    private static int calls(ReplayPreview prediction, SafeReplayStepAction... actions) {
        int calls = 0;
        for (PlannedReplayStep step : prediction.steps()) {
            calls += List.of(actions).contains(step.action()) ? 1 : 0;
        }
        return calls;
    }

    private static int calls(WorkflowTestKit kit) {
        int calls = 0;
        for (int i = 0; i < EFFECTS; i++) {
            calls += kit.provider("p" + i).calls();
        }
        return calls;
    }

    private static Set<String> keys(WorkflowTestKit kit) {
        Set<String> keys = new HashSet<>();
        for (int i = 0; i < EFFECTS; i++) {
            keys.addAll(kit.provider("p" + i).keys());
        }
        return keys;
    }
}
