package dev.semel.testing;

import dev.semel.Run;
import dev.semel.Semel;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.StoreWrite;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Runs workflows in a test: on a temporary SQLite file, with a manual clock, fake providers that count effects, and
 * simulated crashes.
 *
 * {@snippet :
 * try (WorkflowTestKit kit = new WorkflowTestKit()) {
 *     FakeExternalSystem cards = kit.provider("cards").honoursKeysFor(Duration.ofHours(24)).loseResponse(1);
 *     kit.register(receipt(cards))
 *             .crashEverywhere(k -> k.start(RECEIPT, PAYMENT, Start.withKey("evt_1")))
 *             .check(k -> assertEquals(1, cards.effects()))
 *             .report();
 * }
 * }
 */
public final class WorkflowTestKit implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long LOOK_AGAIN_NANOS = TimeUnit.MICROSECONDS.toNanos(500);
    private static final int LOOKS_BEFORE_A_NUDGE = 20;

    private final ClockAndRandomSource real = ClockAndRandomSource.real();
    private final List<Workflow<?, ?>> workflows = new CopyOnWriteArrayList<>();
    private final Map<String, FakeExternalSystem> providers = new LinkedHashMap<>();
    private final TestKitClock clock = new TestKitClock(this);
    private final List<Thread> closers = new ArrayList<>();
    private final List<String> started = new CopyOnWriteArrayList<>();
    private final List<CrashInjectionRunner> sweeps = new ArrayList<>();
    private boolean twice;
    private int engines = 1;
    private volatile @Nullable WorkflowTestKitEnvironment environment;

    /** The test scenario: starts runs, sends signals, advances the clock. */
    @FunctionalInterface
    public interface Scenario {
        void run(WorkflowTestKit kit) throws Exception;
    }

    /** Creates a test kit; the first start, or {@link #semel}, starts its engine. */
    public WorkflowTestKit() {}

    /** Runs two engines on one store and alternates between them for each start. */
    public WorkflowTestKit twoWorkers() {
        requireNotStarted("twoWorkers()");
        engines = 2;
        return this;
    }

    /** Delivers every further start, signal and decision twice. */
    public WorkflowTestKit duplicateEverything() {
        twice = true;
        return this;
    }

    private void requireNotStarted(String what) {
        if (environment != null) {
            throw new IllegalStateException(
                    what + " must come before the first start. The engines already run; nothing was changed.");
        }
    }

    public WorkflowTestKit register(Workflow<?, ?>... more) {
        for (Workflow<?, ?> workflow : more) {
            workflows.removeIf(known -> known.name().equals(workflow.name()));
            workflows.add(workflow);
            WorkflowTestKitEnvironment open = environment;
            if (open != null) {
                open.engines().register(workflow);
            }
        }
        return this;
    }

    /** Returns the fake provider with this name; creates it at the first call. */
    public FakeExternalSystem provider(String name) {
        return providers.computeIfAbsent(name, _ -> new FakeExternalSystem(name, this));
    }

    public TestKitClock clock() {
        return clock;
    }

    /** The engine, for operations that the test kit does not offer. After a crash this is another engine. */
    public Semel semel() {
        return environment().engines().semel();
    }

    SemelRuntime runtime() {
        return environment().engines().semel();
    }

    /** Starts a run, and repeats the request if the engine crashes before it responds. */
    public <I, O> Run<O> start(Workflow<I, O> workflow, I input, Start start) {
        Run<O> run =
                router().update(semel -> semel.start(workflow, input, start)).withRouter(router());
        started.add(run.id());
        return run;
    }

    public <I, O> Run<O> start(Workflow<I, O> workflow, I input) {
        return start(workflow, input, Start.fresh());
    }

    /** Sends a keyed signal, and repeats the request if the engine crashes before it responds. */
    public <T> List<String> signal(Signal<T> signal, T value, Key once) {
        return router().update(semel -> semel.signal(signal, value, once));
    }

    /** Routes calls to a running engine, and delivers updates twice after {@link #duplicateEverything}. */
    private record CallRouter(CrashedTestEngineRestarter restarter, boolean twice) implements RunHandle.EngineRouter {
        @Override
        public <T> T query(Function<SemelRuntime, T> question) {
            return restarter.query(question);
        }

        @Override
        public <T> T update(Function<SemelRuntime, T> message) {
            T first = restarter.query(message);
            if (twice) {
                restarter.query(message);
            }
            return first;
        }
    }

    private CallRouter router() {
        return new CallRouter(environment().engines(), twice);
    }

    /** Settles, then returns the result of the run; throws if the run has not ended. */
    public <O> O result(Run<O> run) {
        settle();
        return run.result(Duration.ZERO);
    }

    /**
     * Waits until every run has ended or waits for time or a message. With {@link TestKitClock#autoAdvance} the clock also
     * advances until runs wait only for messages.
     */
    public void settle() {
        if (clock.isAuto()) {
            passAllTime();
        } else {
            awaitIdle();
        }
    }

    /** Advances the clock until nothing is due any more. */
    void passAllTime() {
        clock.advanceThrough(StoreWrite.Suspension.NEVER);
    }

    /** Waits until the engines are idle; returns when the next work is due. */
    long awaitIdle() {
        CrashedTestEngineRestarter restarter = environment().engines();
        long begun = real.nanos();
        for (int looks = 1; ; looks++) {
            OptionalLong quiet = restarter.nextDueIfIdle();
            if (quiet.isPresent()) {
                return quiet.getAsLong();
            }
            if (looks % LOOKS_BEFORE_A_NUDGE == 0) {
                restarter.lookForWork();
            }
            if (real.nanos() - begun > PATIENCE.toNanos()) {
                throw new AssertionError(
                        "The engines did not become idle within " + PATIENCE.toSeconds() + " s. " + describe());
            }
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        }
    }

    /** Crashes all engines. New engines take over and continue their runs. */
    public void crash() {
        environment().engines().crash();
    }

    /** Crashes the engine when it passes this crash point, counted from now; a new engine takes over. */
    public WorkflowTestKit crashAt(String label, int pass) {
        environment().points().startCounting(new CrashInjectionPoint(label, pass));
        return this;
    }

    /**
     * Runs a scenario once to find its crash points, then once per crash point in a new environment, where the engine
     * crashes at that point and a new one takes over. {@link CrashInjectionRunner#check} or {@link CrashInjectionRunner#report} starts the sweep.
     */
    public CrashInjectionRunner crashEverywhere(Scenario scenario) {
        CrashInjectionRunner sweep = new CrashInjectionRunner(this, scenario);
        sweeps.add(sweep);
        return sweep;
    }

    /** Describes all runs with their steps as text, without payloads. */
    public String describe() {
        return TestRunConsistencyChecker.describe(runtime());
    }

    /** Whether the engines were started. */
    public boolean isOpen() {
        return environment != null;
    }

    WorkflowTestKitEnvironment environment() {
        WorkflowTestKitEnvironment open = environment;
        if (open == null) {
            open = new WorkflowTestKitEnvironment(new WorkflowTestKitEnvironment.EnvironmentSetup(engines, workflows));
            environment = open;
        }
        return open;
    }

    /** Replaces the environment with a new one and resets the providers. */
    WorkflowTestKitEnvironment newEnvironment() {
        leave();
        providers.values().forEach(FakeExternalSystem::reset);
        started.clear();
        clock.manual();
        return environment();
    }

    private void leave() {
        WorkflowTestKitEnvironment old = environment;
        environment = null;
        if (old != null) {
            old.engines().abandon();
            closers.add(Thread.ofPlatform().name("kit-closer").daemon(true).start(old::close));
        }
    }

    /** For providers: an engine of an abandoned environment may still call them. */
    long micros() {
        WorkflowTestKitEnvironment open = environment;
        return open == null ? 0 : open.clock().micros();
    }

    Map<String, FakeExternalSystem> providers() {
        return providers;
    }

    List<Workflow<?, ?>> workflows() {
        return workflows;
    }

    /** The ids of the runs that were started in this environment. */
    List<String> started() {
        return started;
    }

    long nanos() {
        return real.nanos();
    }

    /** Checks that the stored rows are consistent and that every requested crash sweep was executed. */
    @Override
    public void close() {
        try {
            WorkflowTestKitEnvironment open = environment;
            if (open != null) {
                TestRunConsistencyChecker.checkRows(runtime());
            }
            if (sweeps.stream().anyMatch(sweep -> !sweep.hasRun())) {
                throw new AssertionError(
                        "crashEverywhere(…) was called, but its result was not used. No crash was tested. Call check(…)"
                                + " or report() on the result.");
            }
        } finally {
            leave();
            for (Thread closer : closers) {
                join(closer);
            }
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
