package dev.semel.runtime;

import dev.semel.Run;
import dev.semel.Waiting;
import dev.semel.definition.JavaWorkflow;
import dev.semel.effect.EffectLedger;
import dev.semel.error.ErrorCode;
import dev.semel.error.EffectInDoubt;
import dev.semel.error.RunCancelled;
import dev.semel.error.RunNotEnded;
import dev.semel.error.SemelException;
import dev.semel.error.StepFailed;
import dev.semel.json.JsonCodec;
import dev.semel.json.StrictJson;
import dev.semel.replay.ResumeRequest;
import dev.semel.run.RunId;
import dev.semel.workflow.RunState;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoredRows;
import dev.semel.store.StoreWrite;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A run of an engine, with everything that the server needs beyond {@link Run}. */
public final class RunHandle<O> implements Run<O> {
    private static final Duration LONGEST = Duration.ofDays(3650);

    private final EngineRouter line;
    private final Identity named;
    private final RunId id;
    private final String runId;
    private final Workflow<?, O> workflow;

    /** Routes the calls of a run handle to an engine; the test kit uses it to switch engines after a crash. */
    public interface EngineRouter {
        <T> T query(Function<SemelRuntime, T> question);

        /** The same for calls that change something. */
        default <T> T update(Function<SemelRuntime, T> message) {
            return query(message);
        }
    }

    private record SingleEngine(SemelRuntime semel) implements EngineRouter {
        @Override
        public <T> T query(Function<SemelRuntime, T> question) {
            return question.apply(semel);
        }
    }

    /** @param replayed whether the run existed before this request */
    record Identity(RunId id, String runId, boolean replayed) {}

    RunHandle(SemelRuntime semel, Identity named, Workflow<?, O> workflow) {
        this(new SingleEngine(semel), named, workflow);
    }

    private RunHandle(EngineRouter line, Identity named, Workflow<?, O> workflow) {
        this.line = line;
        this.named = named;
        this.id = named.id();
        this.runId = named.runId();
        this.workflow = workflow;
    }

    /** The same run, with its calls routed differently. */
    public RunHandle<O> withRouter(EngineRouter other) {
        return new RunHandle<>(other, named, workflow);
    }

    @Override
    public String id() {
        return runId;
    }

    @Override
    public boolean replayed() {
        return named.replayed();
    }

    @Override
    public RunState status() {
        return row().state();
    }

    @Override
    public List<Waiting> waiting() {
        String waits = waitingFor();
        return waits == null ? List.of() : WaitReasons.parse(waits);
    }

    /** What the run waits for, as the stored JSON; null if it does not wait. */
    public @Nullable String waitingFor() {
        StoredRows.RunProgress work = row().progress();
        return work == null ? null : work.waitingFor();
    }

    private StoredRows.RunRow row() {
        return line.query(this::row);
    }

    private StoredRows.RunRow row(SemelRuntime semel) {
        StoredRows.RunRow row = semel.view(reads -> reads.claimedRun(id));
        if (row == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Run " + runId + " is no longer in the store: its retention period has passed.",
                    "Set a longer retention period for runs.");
        }
        return row;
    }

    @Override
    public O result() {
        return result(LONGEST);
    }

    @Override
    public O result(Duration longest) {
        StoredRows.RunRow row = line.query(semel -> Objects.requireNonNullElseGet(
                semel.await(row(semel).ws(), id, longest, run -> run.state() == RunState.IN_DOUBT), () -> row(semel)));
        StoredRows.RunEnd end = row.end();
        if (end == null) {
            if (row.state() == RunState.IN_DOUBT) {
                throw EffectInDoubt.ofRun(runId, stepsInDoubt());
            }
            throw new RunNotEnded(runId, row.state().wireName());
        }
        StoreWrite.RunResult ending = end.result();
        return switch (row.state()) {
            case COMPLETED -> JavaWorkflow.of(workflow).outputOf(StrictJson.parse(Objects.requireNonNullElse(ending.output(), "null")));
            case CANCELLED -> throw new RunCancelled(runId, "");
            default ->
                throw StepFailed.ofRun(
                        runId,
                        Objects.requireNonNullElse(ending.errorStep(), ""),
                        Objects.requireNonNullElse(ending.errorCode(), "unknown"),
                        Objects.requireNonNullElse(ending.errorMessage(), ""));
        };
    }

    @Override
    public <T> boolean signal(Signal<T> signal, T value, Key key) {
        return signal(signal.name(), JsonCodec.STANDARD.write(value, "the signal " + signal.name()), key.text());
    }

    boolean signal(String name, JsonNode value, String key) {
        return line.update(semel -> semel.javaWorkflows().signal(row(semel), name, StrictJson.write(value), key))
                == StoreCommand.SignalResult.DELIVERED;
    }

    @Override
    public boolean cancel(String actor, String reason) {
        return line.update(semel -> {
            boolean requested = semel.change(new StoreCommand.CancelRun(row(semel).ws(), id, actor, reason));
            semel.runExecutor().cancel(id);
            semel.lookForWork();
            return requested;
        });
    }

    @Override
    public boolean cancel() {
        return cancel("library", "");
    }

    @Override
    public boolean retryHeld(String actor, String reason) {
        return line.update(semel -> {
            boolean retried = semel.change(new StoreCommand.ContinueHeldRun(row().ws(), id, actor, reason));
            semel.lookForWork();
            return retried;
        });
    }

    @Override
    public boolean retryHeld() {
        return retryHeld("library", "");
    }

    /**
     * Resumes a failed run under its own id, from the step that failed. Its effects keep their keys, so no recorded
     * effect is sent again.
     *
     * @throws SemelException `resume-refused` if the run cannot be resumed, with the reason
     */
    public void resume(ResumeRequest request) {
        line.update(semel -> {
            StoredRows.RunRow run = row(semel);
            ResumePlan resumption = semel.replays().previewResume(run, request);
            semel.replays().checkResumed(run, resumption, semel.change(resumption.edit()));
            return true;
        });
    }

    @Override
    public void resume(String by, String reason) {
        resume(ResumeRequest.because(by, reason));
    }

    /** Predicts what {@link #resume} would do to each step. Changes nothing. */
    public ResumePlan previewResume(ResumeRequest request) {
        return line.query(semel -> semel.replays().previewResume(row(semel), request));
    }

    /** Throws, with the current state of the run, if another request resumed or changed it first. */
    public void checkResumed(ResumePlan resumption, StoreCommand.@Nullable ResumeResult outcome) {
        line.query(semel -> {
            StoreCommand.ResumeResult result = outcome == null ? StoreCommand.ResumeResult.MOVED : outcome;
            semel.replays().checkResumed(row(semel), resumption, result);
            return true;
        });
    }

    @Override
    public boolean approve(String step, String by, String note) {
        return decide(step, true, by, note);
    }

    @Override
    public boolean reject(String step, String by, String note) {
        return decide(step, false, by, note);
    }

    private boolean decide(String step, boolean approved, String by, String note) {
        return done(approvalChange(step, approved, by, note));
    }

    @Override
    public boolean decideChangedMessage(String step, boolean send, String by, String note) {
        return done(changedMessageChange(step, send, by, note));
    }

    private boolean done(@Nullable RunChange ruling) {
        if (ruling == null) {
            return false;
        }
        boolean done = line.update(semel -> Reviews.isApplied(semel.changeOrNull(ruling.edit())));
        wakeAfter(ruling);
        return done;
    }

    /**
     * A store change for a run, which callers can commit together with other changes; then call {@link #wakeAfter}.
     *
     * @param runs the runs to wake after the commit
     */
    public record RunChange(StoreCommand<?> edit, List<RunId> runs) {}

    /** The change that decides an approval; null if the run does not wait for it. */
    public @Nullable RunChange approvalChange(String step, boolean approved, String by, String note) {
        return ruling(step, approved ? "approve" : "reject", by, note);
    }

    /** The change that decides on a changed message; null if the run does not wait for it. */
    public @Nullable RunChange changedMessageChange(String step, boolean send, String by, String note) {
        return ruling(step, send ? "send" : "suppress", by, note);
    }

    private @Nullable RunChange ruling(String step, String word, String by, String note) {
        return line.query(semel -> semel.reviews().decisionChange(row(semel), step, word, new Reviews.DecidedBy(by, note)));
    }

    /** The change that records the outcome of an effect in doubt; null if the effect is not in doubt. */
    public @Nullable RunChange outcomeChange(String step, @Nullable JsonNode result, String by, String note) {
        String text = result == null ? null : StrictJson.write(result);
        for (EffectLedger.EffectRow row : unknown()) {
            if (row.details().path().equals(step)) {
                RunId holder = row.holder().run();
                StoreCommand.ChangeAuthor who = new StoreCommand.ChangeAuthor(line.query(SemelRuntime::newId), by, note);
                return new RunChange(
                        new StoreCommand.DecideEffect(row.id(), holder, text, who),
                        holder.equals(id) ? List.of(id) : List.of(holder, id));
            }
        }
        return null;
    }

    /** Wakes the affected runs after the change was committed. */
    public void wakeAfter(RunChange ruling) {
        line.update(semel -> {
            semel.reviews().wakeAfter(ruling);
            return true;
        });
    }

    /** The change that sends a signal to this run. */
    public RunChange signalChange(Signal<?> signal, JsonNode value, Key key) {
        var edit = new StoreCommand.SendSignal(row().ws(), id, signal.name(), key.text(), StrictJson.write(value));
        return new RunChange(edit, List.of(id));
    }

    @Override
    public List<String> stepsInDoubt() {
        return unknown().stream().map(row -> row.details().path()).toList();
    }

    /** Effects in doubt of this run and of its lineage: a replay waits for the same decision. */
    private List<EffectLedger.EffectRow> unknown() {
        List<EffectLedger.EffectRow> all = line.query(semel -> {
            RunId first = row(semel).lineage();
            return Objects.requireNonNull(semel.view(reads -> {
                List<EffectLedger.EffectRow> rows = new ArrayList<>(reads.effects(id));
                List<RunId> lineage = new ArrayList<>(reads.lineage(first));
                lineage.addFirst(first);
                lineage.remove(id);
                lineage.forEach(other -> rows.addAll(reads.effects(other)));
                return rows;
            }));
        });
        return all.stream().filter(row -> row.state() == EffectLedger.EffectState.UNKNOWN).toList();
    }

    @Override
    public boolean confirmDone(String step, @Nullable Object result, String by) {
        return settle(step, JsonCodec.STANDARD.write(result, "the result of " + step), by);
    }

    @Override
    public boolean confirmNotDone(String step, String by) {
        return settle(step, null, by);
    }

    private boolean settle(String step, @Nullable JsonNode result, String by) {
        return done(outcomeChange(step, result, by, ""));
    }
}
