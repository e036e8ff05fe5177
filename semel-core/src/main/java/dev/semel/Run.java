package dev.semel;

import dev.semel.effect.Ledger;
import dev.semel.error.ErrorCode;
import dev.semel.error.InDoubt;
import dev.semel.error.RunCancelled;
import dev.semel.error.RunNotEnded;
import dev.semel.error.SemelException;
import dev.semel.error.StepFailed;
import dev.semel.json.Codec;
import dev.semel.json.Json;
import dev.semel.replay.Resume;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.store.Write;
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

/** A handle to a run: reads its status and result from the store, sends signals, cancels it, and records decisions. */
public final class Run<O> {
    private static final Duration LONGEST = Duration.ofDays(3650);

    private final Line line;
    private final Named named;
    private final RunId id;
    private final String runId;
    private final Workflow<?, O> workflow;

    /** Routes the calls of a run handle to an engine; the test kit uses it to switch engines after a crash. */
    public interface Line {
        <T> T ask(Function<Semel, T> question);

        /** The same for calls that change something. */
        default <T> T send(Function<Semel, T> message) {
            return ask(message);
        }
    }

    private record SingleEngine(Semel semel) implements Line {
        @Override
        public <T> T ask(Function<Semel, T> question) {
            return question.apply(semel);
        }
    }

    /** @param replayed whether the run existed before this request */
    record Named(RunId id, String runId, boolean replayed) {}

    Run(Semel semel, Named named, Workflow<?, O> workflow) {
        this(new SingleEngine(semel), named, workflow);
    }

    private Run(Line line, Named named, Workflow<?, O> workflow) {
        this.line = line;
        this.named = named;
        this.id = named.id();
        this.runId = named.runId();
        this.workflow = workflow;
    }

    /** The same run, with its calls routed differently. */
    public Run<O> through(Line other) {
        return new Run<>(other, named, workflow);
    }

    public String id() {
        return runId;
    }

    /** Whether the run existed before this request, for example because its key was used before. */
    public boolean replayed() {
        return named.replayed();
    }

    public RunState status() {
        return row().state();
    }

    /** What the run waits for, as JSON; null if it does not wait. */
    public @Nullable String waitingFor() {
        Rows.Work work = row().work();
        return work == null ? null : work.waits();
    }

    private Rows.Run row() {
        return line.ask(this::row);
    }

    private Rows.Run row(Semel semel) {
        Rows.Run row = semel.view(reads -> reads.claimed(id));
        if (row == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Run " + runId + " is no longer in the store: its retention period has passed.",
                    "Set a longer retention period for runs.");
        }
        return row;
    }

    /** Waits for the run to end and returns its output. See {@link #result(Duration)}. */
    public O result() {
        return result(LONGEST);
    }

    /**
     * Waits for the run to end and returns its output.
     *
     * @param longest maximum time to wait
     * @throws StepFailed if the run failed
     * @throws RunCancelled if the run was cancelled
     * @throws InDoubt if an effect is in doubt; thrown immediately, because the decision may take any time
     * @throws RunNotEnded if the run has not ended in time
     */
    public O result(Duration longest) {
        Rows.Run row = line.ask(semel -> Objects.requireNonNullElseGet(
                semel.await(row(semel).ws(), id, longest, run -> run.state() == RunState.IN_DOUBT), () -> row(semel)));
        Rows.End end = row.end();
        if (end == null) {
            if (row.state() == RunState.IN_DOUBT) {
                throw InDoubt.ofRun(runId, inDoubt());
            }
            throw new RunNotEnded(runId, row.state().word());
        }
        Write.Ending ending = end.ending();
        return switch (row.state()) {
            case COMPLETED -> workflow.outputOf(Json.parse(Objects.requireNonNullElse(ending.output(), "null")));
            case CANCELLED -> throw new RunCancelled(runId, "");
            default ->
                throw StepFailed.ofRun(
                        runId,
                        Objects.requireNonNullElse(ending.errorStep(), ""),
                        Objects.requireNonNullElse(ending.errorCode(), "unknown"),
                        Objects.requireNonNullElse(ending.errorMessage(), ""));
        };
    }

    /** Sends a signal, delivered once per key. False if it was delivered before or the run has ended. */
    public <T> boolean signal(Signal<T> signal, T value, Key key) {
        return signal(signal.name(), Codec.STANDARD.write(value, "the signal " + signal.name()), key.text());
    }

    boolean signal(String name, JsonNode value, String key) {
        return line.send(semel -> semel.library().signal(row(semel), name, Json.write(value), key))
                == Edit.Signalled.DELIVERED;
    }

    /** Cancels the run: no further step starts, and registered compensations run. False if the run has ended. */
    public boolean cancel(String actor, String reason) {
        return line.send(semel -> {
            boolean requested = semel.change(new Edit.Cancel(row(semel).ws(), id, actor, reason));
            semel.runs().cancel(id);
            semel.lookForWork();
            return requested;
        });
    }

    public boolean cancel() {
        return cancel("library", "");
    }

    /**
     * Retries a run that is held because its worker crashed repeatedly or its code does not match its journal. False if
     * the run is not held.
     */
    public boolean goOn(String actor, String reason) {
        return line.send(semel -> {
            boolean retried = semel.change(new Edit.GoOn(row().ws(), id, actor, reason));
            semel.lookForWork();
            return retried;
        });
    }

    public boolean goOn() {
        return goOn("library", "");
    }

    /**
     * Resumes a failed run under its own id, from the step that failed. Its effects keep their keys, so no recorded
     * effect is sent again.
     *
     * @throws SemelException `resume-refused` if the run cannot be resumed, with the reason
     */
    public void resume(Resume request) {
        line.send(semel -> {
            Rows.Run run = row(semel);
            Resumption resumption = semel.replays().resumption(run, request);
            semel.replays().check(run, resumption, semel.change(resumption.edit()));
            return true;
        });
    }

    public void resume(String by, String reason) {
        resume(Resume.because(by, reason));
    }

    /** Predicts what {@link #resume} would do to each step. Changes nothing. */
    public Resumption resumption(Resume request) {
        return line.ask(semel -> semel.replays().resumption(row(semel), request));
    }

    /** Throws, with the current state of the run, if another request resumed or changed it first. */
    public void check(Resumption resumption, Edit.@Nullable Resumed outcome) {
        line.ask(semel -> {
            Edit.Resumed result = outcome == null ? Edit.Resumed.MOVED : outcome;
            semel.replays().check(row(semel), resumption, result);
            return true;
        });
    }

    /**
     * Approves an approval step. The first decision applies. False for later decisions, and if the run is not waiting
     * for this approval now: Semel does not store a decision in advance.
     */
    public boolean approve(String step, String by, String note) {
        return decide(step, true, by, note);
    }

    public boolean reject(String step, String by, String note) {
        return decide(step, false, by, note);
    }

    private boolean decide(String step, boolean approved, String by, String note) {
        return done(approval(step, approved, by, note));
    }

    /** Decides whether a message that changed inside its {@code once} window is sent. The first decision applies. */
    public boolean reviewed(String step, boolean send, String by, String note) {
        return done(review(step, send, by, note));
    }

    private boolean done(@Nullable Ruling ruling) {
        if (ruling == null) {
            return false;
        }
        boolean done = line.send(semel -> Reviews.isDone(semel.maybeChange(ruling.edit())));
        told(ruling);
        return done;
    }

    /**
     * A store change for a run, which callers can commit together with other changes; then call {@link #told}.
     *
     * @param runs the runs to wake after the commit
     */
    public record Ruling(Edit<?> edit, List<RunId> runs) {}

    /** The change that decides an approval; null if the run does not wait for it. */
    public @Nullable Ruling approval(String step, boolean approved, String by, String note) {
        return ruling(step, approved ? "approve" : "reject", by, note);
    }

    /** The change that decides on a changed message; null if the run does not wait for it. */
    public @Nullable Ruling review(String step, boolean send, String by, String note) {
        return ruling(step, send ? "send" : "suppress", by, note);
    }

    private @Nullable Ruling ruling(String step, String word, String by, String note) {
        return line.ask(semel -> semel.reviews().ruling(row(semel), step, word, new Reviews.Who(by, note)));
    }

    /** The change that records the outcome of an effect in doubt; null if the effect is not in doubt. */
    public @Nullable Ruling settlement(String step, @Nullable JsonNode result, String by, String note) {
        String text = result == null ? null : Json.write(result);
        for (Ledger.Row row : unknown()) {
            if (row.facts().path().equals(step)) {
                RunId holder = row.holder().run();
                Edit.By who = new Edit.By(line.ask(Semel::newId), by, note);
                return new Ruling(
                        new Edit.Decide(row.id(), holder, text, who),
                        holder.equals(id) ? List.of(id) : List.of(holder, id));
            }
        }
        return null;
    }

    /** Wakes the affected runs after the change was committed. */
    public void told(Ruling ruling) {
        line.send(semel -> {
            semel.reviews().told(ruling);
            return true;
        });
    }

    /** The change that sends a signal to this run. */
    public Ruling signalling(Signal<?> signal, JsonNode value, Key key) {
        var edit = new Edit.Signal(row().ws(), id, signal.name(), key.text(), Json.write(value));
        return new Ruling(edit, List.of(id));
    }

    /** The steps whose effect is in doubt. */
    public List<String> inDoubt() {
        return unknown().stream().map(row -> row.facts().path()).toList();
    }

    /** Effects in doubt of this run and of its lineage: a replay waits for the same decision. */
    private List<Ledger.Row> unknown() {
        List<Ledger.Row> all = line.ask(semel -> {
            RunId first = row(semel).lineage();
            return Objects.requireNonNull(semel.view(reads -> {
                List<Ledger.Row> rows = new ArrayList<>(reads.effects(id));
                List<RunId> lineage = new ArrayList<>(reads.lineage(first));
                lineage.addFirst(first);
                lineage.remove(id);
                lineage.forEach(other -> rows.addAll(reads.effects(other)));
                return rows;
            }));
        });
        return all.stream().filter(row -> row.state() == Ledger.State.UNKNOWN).toList();
    }

    /** Confirms that an effect in doubt happened, with its result. False if it is not in doubt. */
    public boolean happened(String step, Object result, String by) {
        return settle(step, Codec.STANDARD.write(result, "the result of " + step), by);
    }

    /** Confirms that an effect in doubt did not happen; Semel then sends it again. False if it is not in doubt. */
    public boolean didNotHappen(String step, String by) {
        return settle(step, null, by);
    }

    private boolean settle(String step, @Nullable JsonNode result, String by) {
        return done(settlement(step, result, by, ""));
    }
}
