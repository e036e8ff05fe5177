package dev.semel;

import dev.semel.engine.Catalog;
import dev.semel.engine.Committer;
import dev.semel.engine.Completions;
import dev.semel.engine.Counters;
import dev.semel.engine.Dispatcher;
import dev.semel.engine.Intake;
import dev.semel.engine.LeaseKeeper;
import dev.semel.engine.Readers;
import dev.semel.engine.Rehearsal;
import dev.semel.engine.ReplayDoor;
import dev.semel.engine.Replayer;
import dev.semel.engine.Requests;
import dev.semel.engine.RunLoop;
import dev.semel.engine.TickDoor;
import dev.semel.engine.Ticker;
import dev.semel.engine.TxDesk;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.store.Edit;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import dev.semel.store.Store;
import dev.semel.store.StoreFailure;
import dev.semel.store.Write;
import dev.semel.store.postgres.PostgresStore;
import dev.semel.trigger.Answer;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.Current;
import dev.semel.workflow.Published;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A Semel engine in this process: registers workflows, starts and finds runs, and executes them on its store.
 * Open one with {@link #embedded}, {@link #on} or {@link #open}, and close it when the process ends.
 */
public final class Semel implements AutoCloseable {
    private final Store store;
    private final Settings settings;
    private final Counters counters = new Counters();
    private final Completions completions = new Completions();
    private final LeaseKeeper leases;
    private final Committer committer;
    private final Readers readers;
    private final Standing standing;
    private final Requests requests;
    private final TxDesk desk;
    private final Library library;
    private final Guard idempotentCalls = new Guard(this);
    private final RunLoop runs;
    private final Catalog catalog;
    private final Intake intake;
    private final Dispatcher dispatcher;
    private final Ticker ticker;
    private final Replays replays;
    private final Store.Listening listening;

    private Semel(Store store, Settings settings, List<Workflow<?, ?>> workflows) {
        this.store = store;
        this.settings = settings;
        // The only place that connects the engine and the stores.
        Committer.Surroundings around = new Committer.Surroundings(settings.ambient(), counters);
        this.leases = new LeaseKeeper(store, Standing.worker(settings), settings.limits(), around);
        this.committer = new Committer(store, leases, settings.limits(), around);
        this.readers = new Readers(store);
        this.standing = new Standing(leases, readers).warningOf(settings.worker());
        this.requests = new Requests(committer, settings.ambient(), settings.limits(), settings.requests());
        this.desk = new TxDesk(store, committer, leases);
        this.library = new Library(this, settings.limits());
        workflows.forEach(library::knows); // before any run is claimed, so that this process can execute their runs
        this.runs = new RunLoop(
                new RunLoop.Engine(committer, readers, desk, library, library, settings.limits(), around), completions);
        leases.counting(runs::residents);
        this.catalog = new Catalog(readers, version -> library.compile(version, settings.compiler()));
        Intake.Parts parts = new Intake.Parts(committer, readers, requests, runs);
        this.intake = new Intake(parts, catalog, around);
        this.dispatcher = new Dispatcher(parts, catalog, settings.limits(), around);
        intake.onWork(dispatcher::wakeUp);
        this.ticker = new Ticker(parts, new TickDoor(intake, library), catalog, around);
        ReplayDoor replayDoor = new ReplayDoor(intake, catalog, library);
        this.replays = new Replays(this, new Replayer(parts, replayDoor, settings.limits(), around));
        Followers followers = new Followers(this);
        runs.observedBy(followers);
        this.listening = store.listen(followers::told);
    }

    /** Wakes a run, on this worker or on the one that claims it; a hint that may be lost. */
    void wake(RunId run) {
        if (!runs.wake(run)) {
            var unused = committer.submit(0, new Write.Change<>(new Edit.Wake(List.of(run))));
            dispatcher.wakeUp();
        }
    }

    /** Opens Semel with a SQLite file as its store; creates the file if it does not exist. */
    public static Semel embedded(Path file) {
        return open(Settings.of("sqlite:" + file, NO_FILES));
    }

    /** Opens Semel with the SQLite file {@code .semel/semel.db} in the working directory. */
    public static Semel embedded() {
        return embedded(Path.of(".semel", "semel.db"));
    }

    /**
     * Opens Semel in the application's own PostgreSQL database. {@code tx} steps then write the application's tables
     * and the record of the step in one commit. Semel keeps about a dozen connections of this data source for itself.
     */
    public static Semel on(DataSource source) {
        Settings settings = Settings.of("a data source", NO_FILES);
        return opened(
                new PostgresStore(source, settings.skew(), settings.ambient().ids()), settings);
    }

    private static final Catalog.Compiler NO_FILES = version -> {
        throw new Catalog.NotKnownHere(version.name(), version.workflowId());
    };

    /** Registers and publishes workflows: this process then admits their triggers and executes their runs. */
    public Semel register(Workflow<?, ?>... workflows) {
        for (Workflow<?, ?> workflow : workflows) {
            idempotentCalls.refuseName(workflow.name());
            library.register(workflow);
        }
        return this;
    }

    /** Starts a run. A repeated start with the same key or run id returns the existing run. */
    public <I, O> Run<O> start(Workflow<I, O> workflow, I input, Start start) {
        return library.start(workflow, input, start);
    }

    public <I, O> Run<O> start(Workflow<I, O> workflow, I input) {
        return start(workflow, input, Start.fresh());
    }

    /** Finds a run of this workflow by its id. */
    public <I, O> Run<O> run(Workflow<I, O> workflow, String runId) {
        return library.run(workflow, runId);
    }

    /** Finds a run of any workflow of a workspace, for operators: to signal, decide or cancel. */
    public Run<JsonNode> run(int workspace, String runId) {
        return library.run(workspace, runId);
    }

    /**
     * Executes an operation once per key. The first call executes {@code body} and records its result; repeats return
     * that result. A changed fingerprint throws {@link dev.semel.error.KeyConflict}. If the body throws, the key is
     * free again. If the process crashes during the body, later calls throw {@link dev.semel.error.InDoubt} until a
     * user confirms the outcome with {@link #guarded}.
     */
    public <T> T once(Guard.Operation operation, Class<T> type, Callable<T> body) {
        return idempotentCalls.once(operation, type, body);
    }

    public <T> T once(String operation, String actor, String key, Object fingerprint, Class<T> type, Callable<T> body) {
        return once(new Guard.Operation(operation, actor, key, fingerprint), type, body);
    }

    /** Finds the call that {@link #once} recorded under a key, to confirm its outcome if it is in doubt. */
    public Guarded guarded(String operation, String key) {
        return idempotentCalls.guarded(operation, key);
    }

    Library library() {
        return library;
    }

    RunLoop runs() {
        return runs;
    }

    void lookForWork() {
        dispatcher.wakeUp();
    }

    void registered(String workflowId) {
        catalog.forget(workflowId);
        dispatcher.knows(workflowId);
        ticker.knows(workflowId);
    }

    /** Opens the store, migrates its schema, and resumes runs that no worker owns. */
    public static Semel open(Settings settings) {
        return opened(Stores.of(settings), settings);
    }

    private static Semel opened(Store store, Settings settings) {
        try {
            store.migrate();
        } catch (RuntimeException e) {
            store.close(); // otherwise a second attempt would find the file locked
            throw e;
        }
        return new Semel(store, settings, List.of());
    }

    /** Opens Semel on an open store, for tests; resumes the unowned runs of these workflows immediately. */
    public static Semel over(Store store, Settings settings, List<Workflow<?, ?>> workflows) {
        store.migrate();
        Semel semel = new Semel(store, settings, workflows);
        workflows.forEach(semel::register);
        return semel;
    }

    /** Internals of this engine for the test kit. */
    public Backstage backstage() {
        return new Backstage(this, committer, runs, ticker);
    }

    /**
     * Admits a trigger. The result is a fresh run or a repeat; a rejection is a {@link SemelException}. If the workflow
     * was published, paused or resumed since it was looked up, Semel calls {@code ask} again with its current version.
     *
     * @param ask builds the trigger: derives the key, the checks and everything else that depends on the version
     */
    public Answer trigger(int workspace, Current first, Function<Current, Trigger> ask) {
        TxDesk.refuseInside("a run of " + first.published().name());
        return intake.trigger(workspace, first, ask);
    }

    /** Admits a trigger in which only the workflow itself depends on the version. */
    public Answer trigger(Trigger trigger) {
        return trigger(trigger.space().workspace(), trigger.current(), trigger::under);
    }

    /** Waits for a run to end and returns its row; null if there is no such run. */
    public Rows.@Nullable Run await(int workspace, RunId id, Duration longest) {
        return await(workspace, id, longest, _ -> false);
    }

    /** Waits until a run ends or fulfils a condition. */
    Rows.@Nullable Run await(int workspace, RunId id, Duration longest, Predicate<Rows.Run> enough) {
        TxDesk.refuseInside("the end of a run");
        return completions.await(
                id,
                longest.compareTo(Duration.ofDays(10_000)) > 0 ? Long.MAX_VALUE : longest.toNanos(),
                new Completions.Watch<>(
                        () -> runs.willTell(id),
                        () -> view(reads -> reads.run(workspace, id)),
                        run -> run == null || run.end() != null || enough.test(run)));
    }

    /** Runs a read-only query against the store. */
    public <T> @Nullable T view(Function<Reads, @Nullable T> question) {
        try {
            return readers.maybe(question);
        } catch (StoreFailure e) {
            throw Unavailable.because(e);
        }
    }

    /** Commits a change; it is durable when this returns. */
    public <T> T change(Edit<T> edit) {
        T changed = maybeChange(edit);
        if (changed == null) {
            throw new IllegalStateException("the store returned no result for " + edit.getClass().getSimpleName());
        }
        return changed;
    }

    /** Commits a change whose result may be null. */
    @SuppressWarnings("unchecked") // the store returns a placeholder instead of null
    public <T> @Nullable T maybeChange(Edit<T> edit) {
        TxDesk.refuseInside("a change of another kind");
        try {
            Object answer = committer
                    .submitSoon(0, new Write.Change<>((Edit<Object>) edit))
                    .join();
            catalog.check();
            dispatcher.wakeUp();
            if (answer instanceof Rows.Workflow published) {
                ticker.published(published);
            }
            return answer == dev.semel.store.Nothing.NOTHING ? null : (T) answer;
        } catch (CompletionException e) {
            throw e.getCause() instanceof StoreFailure failure ? Unavailable.because(failure) : e;
        } catch (StoreFailure e) {
            throw Unavailable.because(e);
        }
    }

    /** Finds a workflow by name or id; null if this workspace has none. */
    public @Nullable Current workflow(int workspace, String nameOrId) {
        try {
            return catalog.find(workspace, nameOrId);
        } catch (StoreFailure e) {
            throw Unavailable.because(e);
        }
    }

    /** One version of a workflow, compiled. */
    public Published version(String workflowId, int version) {
        try {
            return catalog.version(workflowId, version);
        } catch (StoreFailure e) {
            throw Unavailable.because(e);
        }
    }

    /** A number that rises when a workflow or a token changes; caches of them are then out of date. */
    public long changes() {
        return catalog.change();
    }

    public Events events() {
        return new Events(this, catalog, committer);
    }

    /** Counters since the start of this process, by name. */
    public Map<String, LongSupplier> counts() {
        return counters.all();
    }

    /** One of {@link #counts}. */
    public long count(String name) {
        LongSupplier count = counts().get(name);
        if (count == null) {
            throw new IllegalArgumentException("there is no counter " + name);
        }
        return count.getAsLong();
    }

    /** Generates an id; ids of one process are ascending. */
    public RunId newId() {
        return settings.ambient().id();
    }

    /** Generates random bytes for a secret. */
    public byte[] newSecret(int bytes) {
        return settings.ambient().secret(bytes);
    }

    /** Marks a crash point: tests simulate a crash of the process here. Does nothing in production. */
    public void point(String label) {
        settings.ambient().point(label);
    }

    /** Monotonic clock, in nanoseconds. */
    public long nanos() {
        return settings.ambient().nanos();
    }

    /** Schedules and their ticks. */
    public Schedules schedules() {
        return new Schedules(this, new TickDoor(intake, library));
    }

    /** Plans and applies safe replays. */
    public Replays replays() {
        return replays;
    }

    public Reviews reviews() {
        return new Reviews(this);
    }

    public Rehearsing rehearsal() {
        return new Rehearsing(new Rehearsal(readers, requests, catalog));
    }

    /** The state of this worker, and the other workers on its store. */
    public Standing standing() {
        return standing;
    }

    public boolean ready() {
        return standing.trouble() == null;
    }

    /** Stops admitting triggers, commits pending writes, stops or releases its runs, and gives up the lease. */
    @Override
    public void close() {
        close(Duration.ofSeconds(10));
    }

    /** @param grace time that runs get to finish their current step; other workers continue the rest */
    public void close(Duration grace) {
        listening.close();
        ticker.close();
        replays.replayer().close();
        dispatcher.close();
        runs.close(grace);
        requests.close();
        desk.close();
        committer.close();
        readers.close();
        leases.close();
        store.close();
    }
}
