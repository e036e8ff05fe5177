package dev.semel.testing;

import dev.semel.Letters;
import dev.semel.Run;
import dev.semel.Semel;
import dev.semel.engine.Ambient;
import dev.semel.store.Write;
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
 *     FakeProvider cards = kit.provider("cards").honoursKeysFor(Duration.ofHours(24)).loseResponse(1);
 *     kit.register(receipt(cards))
 *             .crashEverywhere(k -> k.start(RECEIPT, PAYMENT, Start.withKey("evt_1")))
 *             .check(k -> assertEquals(1, cards.effects()))
 *             .report();
 * }
 * }
 */
public final class Lab implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long LOOK_AGAIN_NANOS = TimeUnit.MICROSECONDS.toNanos(500);
    private static final int LOOKS_BEFORE_A_NUDGE = 20;

    private final Ambient real = Ambient.real();
    private final List<Workflow<?, ?>> workflows = new CopyOnWriteArrayList<>();
    private final Map<String, Provider> providers = new LinkedHashMap<>();
    private final LabClock clock = new LabClock(this);
    private final List<Thread> closers = new ArrayList<>();
    private final List<String> started = new CopyOnWriteArrayList<>();
    private final List<Sweep> sweeps = new ArrayList<>();
    private boolean twice;
    private int engines = 1;
    private volatile @Nullable World world;

    /** The test scenario: starts runs, sends signals, advances the clock. */
    @FunctionalInterface
    public interface Scenario {
        void play(Lab lab) throws Exception;
    }

    /** Runs two engines on one store and alternates between them for each start. */
    public Lab twoWorkers() {
        requireNotStarted("twoWorkers()");
        engines = 2;
        return this;
    }

    /** Delivers every further start, signal and decision twice. */
    public Lab duplicateEverything() {
        twice = true;
        return this;
    }

    private void requireNotStarted(String what) {
        if (world != null) {
            throw new IllegalStateException(what
                    + " must come before the first start. The engines already run; nothing was changed.");
        }
    }

    public Lab register(Workflow<?, ?>... more) {
        for (Workflow<?, ?> workflow : more) {
            workflows.removeIf(known -> known.name().equals(workflow.name()));
            workflows.add(workflow);
            World open = world;
            if (open != null) {
                open.crew().register(workflow);
            }
        }
        return this;
    }

    /** Returns the fake provider with this name; creates it at the first call. */
    public Provider provider(String name) {
        return providers.computeIfAbsent(name, _ -> new Provider(name, this));
    }

    public LabClock clock() {
        return clock;
    }

    /** The engine, for operations that the test kit does not offer. After a crash this is another engine. */
    public Semel semel() {
        return world().crew().semel();
    }

    /** Starts a run, and repeats the request if the engine crashes before it responds. */
    public <I, O> Run<O> start(Workflow<I, O> workflow, I input, Start start) {
        Run<O> run = router().send(semel -> semel.start(workflow, input, start)).through(router());
        started.add(run.id());
        return run;
    }

    public <I, O> Run<O> start(Workflow<I, O> workflow, I input) {
        return start(workflow, input, Start.fresh());
    }

    /** Sends a keyed signal, and repeats the request if the engine crashes before it responds. */
    public <T> Letters.Sent send(Signal<T> signal, T value, Key once) {
        return router().send(semel -> Letters.of(semel).send(signal, value, once));
    }

    /** Routes calls to a running engine, and delivers updates twice after {@link #duplicateEverything}. */
    private record CallRouter(Crew crew, boolean twice) implements Run.Line {
        @Override
        public <T> T ask(Function<Semel, T> question) {
            return crew.ask(question);
        }

        @Override
        public <T> T send(Function<Semel, T> message) {
            T first = crew.ask(message);
            if (twice) {
                crew.ask(message);
            }
            return first;
        }
    }

    private CallRouter router() {
        return new CallRouter(world().crew(), twice);
    }

    /** Settles, then returns the result of the run; throws if the run has not ended. */
    public <O> O result(Run<O> run) {
        settle();
        return run.result(Duration.ZERO);
    }

    /**
     * Waits until every run has ended or waits for time or a message. With {@link LabClock#autoAdvance} the clock also
     * advances until runs wait only for messages.
     */
    public void settle() {
        if (clock.isAuto()) {
            passAllTime();
        } else {
            rest();
        }
    }

    /** Advances the clock until nothing is due any more. */
    void passAllTime() {
        clock.passUntil(Write.Rest.NEVER);
    }

    /** Waits until the engines are idle; returns when the next work is due. */
    long rest() {
        Crew crew = world().crew();
        long begun = real.nanos();
        for (int looks = 1; ; looks++) {
            OptionalLong quiet = crew.quietUntil();
            if (quiet.isPresent()) {
                return quiet.getAsLong();
            }
            if (looks % LOOKS_BEFORE_A_NUDGE == 0) {
                crew.lookForWork();
            }
            if (real.nanos() - begun > PATIENCE.toNanos()) {
                throw new AssertionError("The engines did not become idle within " + PATIENCE.toSeconds() + " s. "
                        + describe());
            }
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        }
    }

    /** Crashes all engines. New engines take over and continue their runs. */
    public void crash() {
        world().crew().crash();
    }

    /** Crashes the engine when it passes this crash point, counted from now; a new engine takes over. */
    public Lab crashAt(String label, int pass) {
        world().points().countFromHere(new CrashPoint(label, pass));
        return this;
    }

    /**
     * Runs a scenario once to find its crash points, then once per crash point in a new environment, where the engine
     * crashes at that point and a new one takes over. {@link Sweep#check} or {@link Sweep#report} starts the sweep.
     */
    public Sweep crashEverywhere(Scenario scenario) {
        Sweep sweep = new Sweep(this, scenario);
        sweeps.add(sweep);
        return sweep;
    }

    /** Describes all runs with their steps as text, without payloads. */
    public String describe() {
        return Portrait.of(semel());
    }

    /** Whether the engines were started. */
    public boolean isOpen() {
        return world != null;
    }

    World world() {
        World open = world;
        if (open == null) {
            open = new World(new World.Plan(engines, workflows));
            world = open;
        }
        return open;
    }

    /** Replaces the environment with a new one and resets the providers. */
    World newWorld() {
        leave();
        providers.values().forEach(Provider::reset);
        started.clear();
        clock.manual();
        return world();
    }

    private void leave() {
        World old = world;
        world = null;
        if (old != null) {
            old.crew().abandon();
            closers.add(Thread.ofPlatform().name("lab-closer").daemon(true).start(old::close));
        }
    }

    /** For providers: an engine of an abandoned environment may still call them. */
    long micros() {
        World open = world;
        return open == null ? 0 : open.clock().micros();
    }

    Map<String, Provider> providers() {
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
            World open = world;
            if (open != null) {
                Portrait.check(semel());
            }
            if (sweeps.stream().anyMatch(sweep -> !sweep.isMade())) {
                throw new AssertionError(
                        "crashEverywhere(…) was called but its sweep was not executed. No crash was tested. Call"
                                + " check(…) or report() on its result.");
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
