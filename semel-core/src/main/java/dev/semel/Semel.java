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

/** Semel, put together: the only place that joins the engine and the stores. */
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
    private final Guard guard = new Guard(this);
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
        Committer.Surroundings around = new Committer.Surroundings(settings.ambient(), counters);
        this.leases = new LeaseKeeper(store, Standing.worker(settings), settings.limits(), around);
        this.committer = new Committer(store, leases, settings.limits(), around);
        this.readers = new Readers(store);
        this.standing = new Standing(leases, readers).warningOf(settings.worker());
        this.requests = new Requests(committer, settings.ambient(), settings.limits(), settings.requests());
        this.desk = new TxDesk(store, committer, leases);
        this.library = new Library(this, settings.limits());
        workflows.forEach(library::knows); // before anything is claimed, so that their runs are driven here
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

    /** A hint: the run looks again, here or wherever it is taken up. */
    void wake(RunId run) {
        if (!runs.wake(run)) {
            var unused = committer.submit(0, new Write.Change<>(new Edit.Wake(List.of(run))));
            dispatcher.wakeUp();
        }
    }

    /** Semel in this process, in a file of its own (made where there is none). Close it when the process ends. */
    public static Semel embedded(Path file) {
        return open(Settings.of("sqlite:" + file, NO_FILES));
    }

    /** The same in the folder `.semel` of the working directory. */
    public static Semel embedded() {
        return embedded(Path.of(".semel", "semel.db"));
    }

    /**
     * Semel on a PostgreSQL that this application has anyway, beside its own tables: `tx` steps write to them in the same
     * commit as their record. The source makes connections for Semel alone; it keeps about a dozen of them.
     */
    public static Semel on(DataSource source) {
        Settings settings = Settings.of("a data source", NO_FILES);
        return opened(
                new PostgresStore(source, settings.skew(), settings.ambient().ids()), settings);
    }

    private static final Catalog.Compiler NO_FILES = version -> {
        throw new Catalog.NotKnownHere(version.name(), version.workflowId());
    };

    /** Makes workflows known: their triggers are admitted and their runs driven here from now on. */
    public Semel register(Workflow<?, ?>... workflows) {
        for (Workflow<?, ?> workflow : workflows) {
            guard.refuseName(workflow.name());
            library.register(workflow);
        }
        return this;
    }

    /** Asks for a run. Asked twice with the same key or id, both get the same run. */
    public <I, O> Run<O> start(Workflow<I, O> workflow, I input, Start start) {
        return library.start(workflow, input, start);
    }

    public <I, O> Run<O> start(Workflow<I, O> workflow, I input) {
        return start(workflow, input, Start.fresh());
    }

    /** A run that was started before, by its id. */
    public <I, O> Run<O> run(Workflow<I, O> workflow, String runId) {
        return library.run(workflow, runId);
    }

    /** A run of whatever workflow of a workspace, for the one who operates it: signals, decisions, cancelling. */
    public Run<JsonNode> run(int workspace, String runId) {
        return library.run(workspace, runId);
    }

    /**
     * Does something once: the first call with a key does it and its result is kept; a repeat gets that result; a
     * changed fingerprint is a {@link dev.semel.error.KeyConflict}. Where the process died half-way it is in doubt, and
     * every later call says so until somebody decides. A body that fails uses the key up only if it was in doubt.
     */
    public <T> T once(Guard.Operation operation, Class<T> type, Callable<T> body) {
        return guard.once(operation, type, body);
    }

    public <T> T once(String operation, String actor, String key, Object fingerprint, Class<T> type, Callable<T> body) {
        return once(new Guard.Operation(operation, actor, key, fingerprint), type, body);
    }

    /** What was done once under a key, for whoever decides how it ended when nobody knows. */
    public Guarded guarded(String operation, String key) {
        return guard.guarded(operation, key);
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

    /** Opens the store, brings its schema up to date, and takes up runs that nobody drives. */
    public static Semel open(Settings settings) {
        return opened(Stores.of(settings), settings);
    }

    private static Semel opened(Store store, Settings settings) {
        try {
            store.migrate();
        } catch (RuntimeException e) {
            store.close(); // otherwise the next try would find the file in use
            throw e;
        }
        return new Semel(store, settings, List.of());
    }

    /** The same over an open store, for tests; runs of these workflows that nobody drives are taken up at once. */
    public static Semel over(Store store, Settings settings, List<Workflow<?, ?>> workflows) {
        store.migrate();
        Semel semel = new Semel(store, settings, workflows);
        workflows.forEach(semel::register);
        return semel;
    }

    /** What a test kit sees of this engine. */
    public Backstage backstage() {
        return new Backstage(this, committer, runs, ticker);
    }

    /**
     * Asks for a run; the answer is fresh or a repeat, and a refusal is a {@link SemelException}. Where the workflow was
     * published, paused or resumed since it was looked up, {@code ask} is called again with what it is by then.
     *
     * @param ask derives the key, the checks and everything else that hangs on the version
     */
    public Answer trigger(int workspace, Current first, Function<Current, Trigger> ask) {
        TxDesk.refuseInside("a run of " + first.published().name());
        return intake.trigger(workspace, first, ask);
    }

    /** The same for a trigger in which only the workflow itself hangs on the version. */
    public Answer trigger(Trigger trigger) {
        return trigger(trigger.space().workspace(), trigger.current(), trigger::under);
    }

    /** Waits for the end of a run; the run as it is then, or null where there is none. */
    public Rows.@Nullable Run await(int workspace, RunId id, Duration longest) {
        return await(workspace, id, longest, _ -> false);
    }

    /** Waits for the end of a run, or for something else about it. */
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

    /** Asks the store something. */
    public <T> @Nullable T view(Function<Reads, @Nullable T> question) {
        try {
            return readers.maybe(question);
        } catch (StoreFailure e) {
            throw Unavailable.because(e);
        }
    }

    /** Changes something, durably when it returns. */
    public <T> T change(Edit<T> edit) {
        T changed = maybeChange(edit);
        if (changed == null) {
            throw new IllegalStateException("a change that always answers did not");
        }
        return changed;
    }

    @SuppressWarnings("unchecked") // a store that has nothing to say answers with a stand-in for null
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

    /** A workflow by name or id; null where this workspace has none. */
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

    /** Moves whenever a workflow or a token changed; what was remembered of them is then out of date. */
    public long changes() {
        return catalog.change();
    }

    public Events events() {
        return new Events(this, catalog, committer);
    }

    /** What was counted since the start, by name. */
    public Map<String, LongSupplier> counts() {
        return counters.all();
    }

    /** One of {@link #counts}. */
    public long count(String name) {
        LongSupplier count = counts().get(name);
        if (count == null) {
            throw new IllegalArgumentException("nothing is counted under " + name);
        }
        return count.getAsLong();
    }

    /** A new id, rising within this process. */
    public RunId newId() {
        return settings.ambient().id();
    }

    /** Bytes that nobody can guess. */
    public byte[] newSecret(int bytes) {
        return settings.ambient().secret(bytes);
    }

    /** Where a crash of the whole process is interesting; nothing happens here but in trials. */
    public void point(String label) {
        settings.ambient().point(label);
    }

    /** A clock that only goes forward, in nanoseconds. */
    public long nanos() {
        return settings.ambient().nanos();
    }

    /** What starts by itself, and what became of it. */
    public Schedules schedules() {
        return new Schedules(this, new TickDoor(intake, library));
    }

    /** Safe replays: what they would do, and doing it. */
    public Replays replays() {
        return replays;
    }

    public Reviews reviews() {
        return new Reviews(this);
    }

    public Rehearsing rehearsal() {
        return new Rehearsing(new Rehearsal(readers, requests, catalog));
    }

    /** How this worker is, and who else works here. */
    public Standing standing() {
        return standing;
    }

    public boolean ready() {
        return standing.trouble() == null;
    }

    /** Takes no more triggers, writes what was answered, ends or hands over its runs, gives the lease back. */
    @Override
    public void close() {
        close(Duration.ofSeconds(10));
    }

    /** @param grace so long may runs go on to their next step; what is left then goes on at another worker */
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
