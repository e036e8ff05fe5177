package dev.semel.runtime;

import dev.semel.Run;
import dev.semel.RunStatus;
import dev.semel.Waiting;
import dev.semel.definition.JavaWorkflow;
import dev.semel.effect.EffectLedger;
import dev.semel.error.EffectInDoubt;
import dev.semel.error.ErrorCode;
import dev.semel.error.RunCancelled;
import dev.semel.error.RunNotEnded;
import dev.semel.error.SemelException;
import dev.semel.error.StepFailed;
import dev.semel.json.JsonCodec;
import dev.semel.json.SizeLimits;
import dev.semel.json.StrictJsonCodec;
import dev.semel.replay.FailedRunResumeRequest;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
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
public final class RunHandle<O extends @Nullable Object> implements Run<O> {
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
    public RunStatus status() {
        return switch (row().state()) {
            case QUEUED -> RunStatus.QUEUED;
            case STARTED -> RunStatus.STARTED;
            case RUNNING -> RunStatus.RUNNING;
            case WAITING -> RunStatus.WAITING;
            case IN_DOUBT -> RunStatus.IN_DOUBT;
            case HELD -> RunStatus.HELD;
            case COMPLETED -> RunStatus.COMPLETED;
            case FAILED -> RunStatus.FAILED;
            case CANCELLED -> RunStatus.CANCELLED;
        };
    }

    @Override
    public List<Waiting> waiting() {
        String waits = waitingFor();
        return waits == null ? List.of() : StoredRunWaitReasonReader.parse(waits);
    }

    /** What the run waits for, as the stored JSON; null if it does not wait. */
    public @Nullable String waitingFor() {
        DatabaseRows.RunProgress work = row().progress();
        return work == null ? null : work.waitingFor();
    }

    private DatabaseRows.RunRow row() {
        return line.query(this::row);
    }

    private DatabaseRows.RunRow row(SemelRuntime semel) {
        DatabaseRows.RunRow row = semel.view(reads -> reads.claimedRun(id));
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
        DatabaseRows.RunRow row = line.query(semel -> Objects.requireNonNullElseGet(
                semel.await(
                        row(semel).ws(),
                        id,
                        longest,
                        run -> run.state() == RunState.IN_DOUBT
                                && !stepsInDoubt().isEmpty()),
                () -> row(semel)));
        DatabaseRows.RunEnd end = row.end();
        if (end == null) {
            if (row.state() == RunState.IN_DOUBT) {
                throw EffectInDoubt.ofRun(runId, stepsInDoubt());
            }
            throw new RunNotEnded(runId, row.state().wireName());
        }
        StoreWrite.RunResult ending = end.result();
        return switch (row.state()) {
            case COMPLETED ->
                JavaWorkflow.of(workflow)
                        .outputOf(StrictJsonCodec.parse(Objects.requireNonNullElse(ending.output(), "null")));
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
        return line.update(semel -> semel.javaWorkflows().signal(row(semel), name, StrictJsonCodec.write(value), key))
                == StoreWriteCommand.SignalResult.DELIVERED;
    }

    @Override
    public boolean cancel(String actor, String reason) {
        return line.update(semel -> {
            boolean requested =
                    semel.change(new StoreWriteCommand.CancelRun(row(semel).ws(), id, actor, reason));
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
            boolean retried = semel.change(new StoreWriteCommand.ContinueHeldRun(row().ws(), id, actor, reason));
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
    public void resume(FailedRunResumeRequest request) {
        line.update(semel -> {
            DatabaseRows.RunRow run = row(semel);
            FailedRunResumePlan resumption = semel.replays().previewResume(run, request);
            semel.replays().checkResumed(run, resumption, semel.change(resumption.edit()));
            return true;
        });
    }

    @Override
    public void resume(String by, String reason) {
        resume(FailedRunResumeRequest.because(by, reason));
    }

    /** Predicts what {@link #resume} would do to each step. Changes nothing. */
    public FailedRunResumePlan previewResume(FailedRunResumeRequest request) {
        return line.query(semel -> semel.replays().previewResume(row(semel), request));
    }

    /** Throws, with the current state of the run, if another request resumed or changed it first. */
    public void checkResumed(FailedRunResumePlan resumption, StoreWriteCommand.@Nullable ResumeResult outcome) {
        line.query(semel -> {
            StoreWriteCommand.ResumeResult result = outcome == null ? StoreWriteCommand.ResumeResult.MOVED : outcome;
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

    private boolean done(@Nullable RunChange change) {
        if (change == null) {
            return false;
        }
        boolean done = line.update(semel -> HumanReviewDecisionRecorder.isApplied(semel.changeOrNull(change.edit())));
        wakeAfter(change);
        return done;
    }

    /** Callers can commit it together with other changes; then call {@link #wakeAfter}, which wakes {@code runs}. */
    public record RunChange(StoreWriteCommand<?> edit, List<RunId> runs) {}

    /** The change that decides an approval; null if the run does not wait for it. */
    public @Nullable RunChange approvalChange(String step, boolean approved, String by, String note) {
        return reviewDecision(step, approved ? "approve" : "reject", by, note);
    }

    /** The change that decides on a changed message; null if the run does not wait for it. */
    public @Nullable RunChange changedMessageChange(String step, boolean send, String by, String note) {
        return reviewDecision(step, send ? "send" : "suppress", by, note);
    }

    private @Nullable RunChange reviewDecision(String step, String word, String by, String note) {
        return line.query(semel -> semel.reviews()
                .decisionChange(row(semel), step, word, new HumanReviewDecisionRecorder.DecidedBy(by, note)));
    }

    /** The change that records the outcome of an effect in doubt; null if the effect is not in doubt. */
    public @Nullable RunChange outcomeChange(String step, @Nullable JsonNode result, String by, String note) {
        String text = result == null ? null : StrictJsonCodec.write(result);
        for (EffectLedger.EffectRow row : unknown()) {
            if (row.details().path().equals(step)) {
                RunId holder = row.holder().run();
                StoreWriteCommand.ChangeAuthor who =
                        new StoreWriteCommand.ChangeAuthor(line.query(SemelRuntime::newId), by, note);
                return new RunChange(
                        new StoreWriteCommand.DecideEffect(row.id(), holder, text, who),
                        holder.equals(id) ? List.of(id) : List.of(holder, id));
            }
        }
        return null;
    }

    /** Wakes the affected runs after the change was committed. */
    public void wakeAfter(RunChange change) {
        line.update(semel -> {
            semel.reviews().wakeAfter(change);
            return true;
        });
    }

    /** What a sender gets if the signal was not delivered because the run has too many. */
    public static SemelException tooManySignals(String runId) {
        return new SemelException(
                        ErrorCode.TOO_MANY_SIGNALS,
                        "Run " + runId + " has unread signals up to its limit: " + SizeLimits.UNREAD_SIGNAL_COUNT
                                + " signals or "
                                + SizeLimits.inKibibytes(SizeLimits.DEFAULT.unreadSignals())
                                + ". The signal was not sent.",
                        "Send the signal again with the same key after the run has read some of its signals. If the run"
                                + " does not wait for these signals, cancel it.")
                .with("run_id", runId)
                .with("limit", SizeLimits.UNREAD_SIGNAL_COUNT);
    }

    public RunChange signalChange(Signal<?> signal, JsonNode value, Key key) {
        var edit = new StoreWriteCommand.SendSignal(
                row().ws(), id, signal.name(), key.text(), StrictJsonCodec.write(value));
        return new RunChange(edit, List.of(id));
    }

    @Override
    public List<String> stepsInDoubt() {
        long now = line.query(semel -> Objects.requireNonNull(semel.view(StoreQueries::now)));
        return unknown().stream()
                .filter(row -> row.isInDoubtAt(now))
                .map(row -> row.details().path())
                .toList();
    }

    /** Effects with an unknown outcome of this run and of its lineage: a replay waits for the same decision. */
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
        return all.stream()
                .filter(row -> row.state() == EffectLedger.EffectState.UNKNOWN)
                .toList();
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
