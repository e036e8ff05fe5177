package dev.semel.engine;

import dev.semel.error.SemelException;
import dev.semel.journal.Entry;
import dev.semel.journal.Journal;
import dev.semel.json.Json;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.run.StepId;
import dev.semel.store.Write;
import dev.semel.workflow.Approval;
import dev.semel.workflow.Decision;
import dev.semel.workflow.Durable;
import dev.semel.workflow.EffectPlan;
import dev.semel.workflow.Outcome;
import dev.semel.workflow.Published;
import dev.semel.workflow.StepPlan;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Drives runs: one virtual thread each, at most so many at a time, and never the same run twice in this process. */
public final class RunLoop implements AutoCloseable {
    private static final Logger LOG = System.getLogger(RunLoop.class.getName());
    private static final int LONGEST_MESSAGE = 1_000;

    private final Engine engine;
    private final Completions completions;
    private final Semaphore room;
    private final Set<RunId> resident = ConcurrentHashMap.newKeySet();

    /** What a run needs to write. */
    public record Engine(Committer committer, Limits limits, Committer.Surroundings around) {}

    /** A run that this worker owns. */
    public record Resident(RunId id, Published workflow, JsonNode input, RunId lineage, int lane, String runId) {}

    /** Another worker drives this run now: this execution ends and writes nothing more. */
    static final class NotOurs extends Error {
        NotOurs() {
            super("the run is driven elsewhere", null, false, false);
        }
    }

    public RunLoop(Engine engine, Completions completions) {
        this.engine = engine;
        this.completions = completions;
        this.room = new Semaphore(engine.limits().residentRuns());
    }

    /** Room for one more run; given back by {@link #release} where it is not started after all. */
    public boolean reserve() {
        return room.tryAcquire();
    }

    public void release() {
        room.release();
    }

    boolean drives(RunId run) {
        return resident.contains(run);
    }

    /** How many more runs this worker would take. */
    int roomLeft() {
        return room.availablePermits();
    }

    /** Starts a fresh run, for which room is reserved. */
    public void start(Resident run) {
        if (resident.add(run.id())) {
            launch(run, List.of());
        } else {
            room.release(); // it is being driven already, whatever woke it
        }
    }

    /** A run as the store has it: its journal in chunks, without what its end holds. */
    record Recorded(Resident run, List<String> chunks) {}

    /**
     * Goes on with a run, for which room is reserved; false where it is driven already or has ended. It is read only
     * when no other execution is left in this process that could still write to it.
     */
    boolean resume(RunId id, Supplier<@Nullable Recorded> read) {
        if (!resident.add(id)) {
            return false;
        }
        Recorded recorded = null;
        try {
            recorded = read.get();
        } finally {
            if (recorded == null) {
                resident.remove(id);
            }
        }
        if (recorded == null) {
            return false;
        }
        launch(recorded.run(), recorded.chunks());
        return true;
    }

    private void launch(Resident run, List<String> chunks) {
        engine.around().ambient().start("run", () -> {
            boolean dropped = false;
            try {
                drive(run, chunks);
            } catch (NotOurs e) {
                dropped = true;
                LOG.log(Level.INFO, "run {0} goes on at another worker", run.runId());
            } catch (RuntimeException | Error e) {
                LOG.log(Level.ERROR, "run " + run.runId() + " stopped; it is taken up again later", e);
            } finally {
                resident.remove(run.id());
                room.release();
                if (dropped) {
                    engine.around().counters().droppedRuns.increment();
                }
            }
        });
    }

    private void drive(Resident run, List<String> chunks) {
        List<Entry> entries = new ArrayList<>();
        chunks.forEach(chunk -> entries.addAll(Journal.decode(chunk)));
        Map<String, JsonNode> recorded = Journal.results(entries);
        StepRunner steps = new StepRunner(run, engine, recorded, chunks.size());
        Write.End end = execute(run, steps);
        if (!steps.durable() || !record(run, end)) {
            throw new NotOurs();
        }
        (end.state() == RunState.COMPLETED
                        ? engine.around().counters().completed
                        : engine.around().counters().failed)
                .increment();
        completions.ended(run.id());
    }

    private Write.End execute(Resident run, StepRunner steps) {
        Durable context = new Steps(run.runId(), run.lineage(), steps);
        try {
            JsonNode output = run.workflow().body().run(context, run.input());
            return new Write.End(run.id(), RunState.COMPLETED, Write.Ending.output(Json.write(output)), steps.rest());
        } catch (NotOurs e) {
            throw e;
        } catch (Throwable e) {
            return new Write.End(run.id(), RunState.FAILED, failure(e, steps.current()), steps.rest());
        }
    }

    private static Write.Ending failure(Throwable e, String step) {
        String code = e instanceof SemelException known
                ? known.code().slug()
                : e.getClass().getSimpleName();
        String text = e instanceof SemelException known ? known.detail() : String.valueOf(e.getMessage());
        String message = text.length() > LONGEST_MESSAGE ? text.substring(0, LONGEST_MESSAGE) : text;
        return new Write.Ending(null, code, message.replace("\u0000", "\uFFFD"), step);
    }

    private boolean record(Resident run, Write.End end) {
        try {
            return engine.committer().submit(run.lane(), end).join().recorded();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        }
    }

    private static final dev.semel.workflow.Step NO = new dev.semel.workflow.Step() {
        @Override
        public String id() {
            return "";
        }

        @Override
        public String key() {
            return "";
        }

        @Override
        public int attempt() {
            return 1;
        }
    };

    /** The context of one execution. */
    private record Steps(String runId, RunId lineage, StepRunner steps) implements Durable {
        @Override
        public String stepId(String name) {
            return StepId.of(lineage, name).text();
        }

        @Override
        public JsonNode step(StepPlan plan, Work work) {
            return steps.step(plan.name(), () -> {
                try {
                    return work.run(NO);
                } catch (RuntimeException e) {
                    throw e;
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
        }

        private static UnsupportedOperationException notHere() {
            return new UnsupportedOperationException("files have only plain steps so far");
        }

        @Override
        public Outcome<JsonNode> effect(EffectPlan plan, Sending sending) {
            throw notHere();
        }

        @Override
        public JsonNode tx(StepPlan plan, TxWork work) {
            throw notHere();
        }

        @Override
        public void sleep(String name, Duration length) {
            throw notHere();
        }

        @Override
        public void sleepUntil(String name, Instant due) {
            throw notHere();
        }

        @Override
        public @Nullable JsonNode await(String name, String signal, @Nullable Duration longest) {
            throw notHere();
        }

        @Override
        public Decision approval(String name, Approval approval) {
            throw notHere();
        }

        @Override
        public <I, R> List<R> forEach(String name, Items<I> items, Branch<I, R> branch) {
            throw notHere();
        }

        @Override
        public JsonNode call(String name, Child child) {
            throw notHere();
        }

        @Override
        public void compensate(String name, Undo undo) {
            throw notHere();
        }

        @Override
        public void signal(String name, Outgoing signal) {
            throw notHere();
        }

        @Override
        public Instant now() {
            throw notHere();
        }

        @Override
        public UUID uuid() {
            throw notHere();
        }

        @Override
        public double random() {
            throw notHere();
        }

        @Override
        public void status(String text) {
            throw notHere();
        }

        @Override
        public void durable() {
            throw notHere();
        }
    }

    /** Waits a while for the runs in this process to end; what is left is taken up elsewhere. */
    @Override
    public void close() {
        try {
            if (!room.tryAcquire(engine.limits().residentRuns(), 10, TimeUnit.SECONDS)) {
                LOG.log(Level.WARNING, resident.size() + " runs did not end in time; they go on after a restart");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
