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
 * Semel in a test: on a temporary SQLite file, with a clock that is moved by hand, providers that count, and crashes on command.
 *
 * {@snippet :
 * try (Lab lab = new Lab()) {
 *     Provider cards = lab.provider("cards").honoursKeysFor(Duration.ofHours(24)).loseResponse(1);
 *     lab.register(receipt(cards))
 *             .crashEverywhere(l -> l.start(RECEIPT, PAYMENT, Start.withKey("evt_1")))
 *             .check(l -> assertEquals(1, cards.effects()))
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

    /** What the outside world does: starts runs, sends signals, lets time pass. */
    @FunctionalInterface
    public interface Scenario {
        void play(Lab lab) throws Exception;
    }

    /** Two engines share the work, each started run going to the other one. */
    public Lab twoWorkers() {
        refuseOpen("twoWorkers()");
        engines = 2;
        return this;
    }

    /** From now on every start, signal and decision is delivered twice. */
    public Lab duplicateEverything() {
        twice = true;
        return this;
    }

    private void refuseOpen(String what) {
        if (world != null) {
            throw new IllegalStateException(what + " comes before the first start; the lab is open already.");
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

    /** A fake provider; the same name is the same provider. */
    public Provider provider(String name) {
        return providers.computeIfAbsent(name, _ -> new Provider(name, this));
    }

    public LabClock clock() {
        return clock;
    }

    /** The engine itself, for what the lab does not offer. After a crash it is another one. */
    public Semel semel() {
        return world().crew().semel();
    }

    /** Asks for a run, as a caller would who asks again when the engine dies before it has answered. */
    public <I, O> Run<O> start(Workflow<I, O> workflow, I input, Start start) {
        Run<O> run = post().send(semel -> semel.start(workflow, input, start)).through(post());
        started.add(run.id());
        return run;
    }

    public <I, O> Run<O> start(Workflow<I, O> workflow, I input) {
        return start(workflow, input, Start.fresh());
    }

    /** Sends a signal to a key, as somebody would who sends it again when the engine dies before it has answered. */
    public <T> Letters.Sent send(Signal<T> signal, T value, Key once) {
        return post().send(semel -> Letters.of(semel).send(signal, value, once));
    }

    /** Reaches whichever engine lives, and delivers messages twice where that was asked for. */
    private record Post(Crew crew, boolean twice) implements Run.Line {
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

    private Post post() {
        return new Post(world().crew(), twice);
    }

    /** Settles, then tells the result; a run without one says what it waits for. */
    public <O> O result(Run<O> run) {
        settle();
        return run.result(Duration.ZERO);
    }

    /**
     * Returns when nothing can move without time passing or a message: every run has ended, or waits. With
     * {@link LabClock#autoAdvance} time passes too, until only a message can move anything.
     */
    public void settle() {
        if (clock.isAuto()) {
            passAllTime();
        } else {
            rest();
        }
    }

    /** Lets time pass until nothing is due any more. */
    void passAllTime() {
        clock.passUntil(Write.Rest.NEVER);
    }

    /** Waits until nothing moves by itself; answers when the next thing is due. */
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
                throw new AssertionError(
                        "The lab did not come to rest within " + PATIENCE.toSeconds() + " s. " + describe());
            }
            LockSupport.parkNanos(LOOK_AGAIN_NANOS);
        }
    }

    /** All engines die, here and now. Others take over; their runs go on. */
    public void crash() {
        world().crew().crash();
    }

    /** The engine dies when it comes to that point, counted from here, and another one takes over. */
    public Lab crashAt(String label, int pass) {
        world().points().countFromHere(new CrashPoint(label, pass));
        return this;
    }

    /**
     * Plays a scenario once to learn its crash points, then once for each of them in a new world, where the engine dies at
     * that point and another one takes over. Nothing happens before {@link Sweep#check} or {@link Sweep#report}.
     */
    public Sweep crashEverywhere(Scenario scenario) {
        Sweep sweep = new Sweep(this, scenario);
        sweeps.add(sweep);
        return sweep;
    }

    /** All runs with their steps, for people; no payload. */
    public String describe() {
        return Portrait.of(semel());
    }

    /** Whether anything was asked of it yet. */
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

    /** Leaves the world that is open, and begins another one; the providers forget what they counted. */
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

    /** For providers, which engines of a world call that the lab may have left already. */
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

    /** The ids of the runs that were answered with, in this world. */
    List<String> started() {
        return started;
    }

    long nanos() {
        return real.nanos();
    }

    /** Checks that the rows make sense, and that every sweep that was asked for was made. */
    @Override
    public void close() {
        try {
            World open = world;
            if (open != null) {
                Portrait.check(semel());
            }
            if (sweeps.stream().anyMatch(sweep -> !sweep.isMade())) {
                throw new AssertionError(
                        "crashEverywhere(…) was asked for and not made. Nothing was tried. Call check(…) or report().");
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
