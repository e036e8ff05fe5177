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

/** A run, as the one who started it holds it. Everything it tells comes from the store. */
public final class Run<O> {
    private static final Duration LONGEST = Duration.ofDays(3650);

    private final Line line;
    private final Named named;
    private final RunId id;
    private final String runId;
    private final Workflow<?, O> workflow;

    /** How the holder of a run reaches an engine; a test kit may put another one there after a crash. */
    public interface Line {
        <T> T ask(Function<Semel, T> question);

        /** The same, for what changes something. */
        default <T> T send(Function<Semel, T> message) {
            return ask(message);
        }
    }

    private record Direct(Semel semel) implements Line {
        @Override
        public <T> T ask(Function<Semel, T> question) {
            return question.apply(semel);
        }
    }

    /** @param replayed whether the run was there before it was asked for */
    record Named(RunId id, String runId, boolean replayed) {}

    Run(Semel semel, Named named, Workflow<?, O> workflow) {
        this(new Direct(semel), named, workflow);
    }

    private Run(Line line, Named named, Workflow<?, O> workflow) {
        this.line = line;
        this.named = named;
        this.id = named.id();
        this.runId = named.runId();
        this.workflow = workflow;
    }

    /** The same run, reached in another way. */
    public Run<O> through(Line other) {
        return new Run<>(other, named, workflow);
    }

    public String id() {
        return runId;
    }

    /** Whether the run was there before it was asked for. */
    public boolean replayed() {
        return named.replayed();
    }

    public RunState status() {
        return row().state();
    }

    /** What it waits for, as JSON, or null. */
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
                    ErrorCode.NOT_FOUND, "Run " + runId + " is not in the store any more.", "Keep runs for longer.");
        }
        return row;
    }

    /** Waits for the end. */
    public O result() {
        return result(LONGEST);
    }

    /**
     * Waits for the end, at most so long.
     *
     * @throws StepFailed where the run failed
     * @throws RunCancelled where it was cancelled
     * @throws InDoubt where it waits for a decision; at once, since that may take for ever
     * @throws RunNotEnded where it has not ended when the time is over
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

    /** Sends a signal; with the same key it arrives once. False: it came before, or the run has ended. */
    public <T> boolean signal(Signal<T> signal, T value, Key key) {
        return signal(signal.name(), Codec.STANDARD.write(value, "the signal " + signal.name()), key.text());
    }

    boolean signal(String name, JsonNode value, String key) {
        return line.send(semel -> semel.library().signal(row(semel), name, Json.write(value), key))
                == Edit.Signalled.DELIVERED;
    }

    /** Asks for the end of the run: nothing new begins, what is registered is undone. False: it has ended. */
    public boolean cancel(String actor, String reason) {
        return line.send(semel -> {
            boolean asked = semel.change(new Edit.Cancel(row(semel).ws(), id, actor, reason));
            semel.runs().cancel(id);
            semel.lookForWork();
            return asked;
        });
    }

    public boolean cancel() {
        return cancel("library", "");
    }

    /**
     * Lets a run go on that is held: its worker died with it too often, or its code did not fit its record. False: it is
     * not held.
     */
    public boolean goOn(String actor, String reason) {
        return line.send(semel -> {
            boolean goesOn = semel.change(new Edit.GoOn(row().ws(), id, actor, reason));
            semel.lookForWork();
            return goesOn;
        });
    }

    public boolean goOn() {
        return goOn("library", "");
    }

    /**
     * Lets a run that failed go on in place, under its own id, from the step that failed; its effects keep their keys, so
     * that nothing is done twice. Refused, with the reason, where that cannot be.
     */
    public void resume(Resume wish) {
        line.send(semel -> {
            Rows.Run run = row(semel);
            Resumption resumption = semel.replays().resumption(run, wish);
            semel.replays().check(run, resumption, semel.change(resumption.edit()));
            return true;
        });
    }

    public void resume(String by, String reason) {
        resume(Resume.because(by, reason));
    }

    /** What that would do, step by step. Changes nothing. */
    public Resumption resumption(Resume wish) {
        return line.ask(semel -> semel.replays().resumption(row(semel), wish));
    }

    /** Refuses, with how the run stands by now, where the change of a resumption was not the first. */
    public void check(Resumption resumption, Edit.@Nullable Resumed outcome) {
        line.ask(semel -> {
            Edit.Resumed told = outcome == null ? Edit.Resumed.MOVED : outcome;
            semel.replays().check(row(semel), resumption, told);
            return true;
        });
    }

    /**
     * Decides an approval. The first decision counts: false for any later one, and where the run does not ask for one at
     * that step (not yet, or never: a decision is not kept for later).
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

    /** Decides whether a message that changed inside its window is sent. The first decision counts, if it is asked for. */
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
     * A decision as the change that it is, for whoever makes it together with something else, and the runs that look
     * again after it.
     */
    public record Ruling(Edit<?> edit, List<RunId> runs) {}

    /** Null where the run does not ask for it. */
    public @Nullable Ruling approval(String step, boolean approved, String by, String note) {
        return ruling(step, approved ? "approve" : "reject", by, note);
    }

    /** Null where the run does not ask for it. */
    public @Nullable Ruling review(String step, boolean send, String by, String note) {
        return ruling(step, send ? "send" : "suppress", by, note);
    }

    private @Nullable Ruling ruling(String step, String word, String by, String note) {
        return line.ask(semel -> semel.reviews().ruling(row(semel), step, word, new Reviews.Who(by, note)));
    }

    /** Null where the step is not in doubt. */
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

    /** It was done: whoever drives the runs looks again. */
    public void told(Ruling ruling) {
        line.send(semel -> {
            semel.reviews().told(ruling);
            return true;
        });
    }

    /** A signal as the change that it is. */
    public Ruling signalling(Signal<?> signal, JsonNode value, Key key) {
        var edit = new Edit.Signal(row().ws(), id, signal.name(), key.text(), Json.write(value));
        return new Ruling(edit, List.of(id));
    }

    /** Effects of this run whose outcome is not known, by step. */
    public List<String> inDoubt() {
        return unknown().stream().map(row -> row.facts().path()).toList();
    }

    /** Its own, and those that other runs of its line left: a replay waits for the same answer. */
    private List<Ledger.Row> unknown() {
        List<Ledger.Row> all = line.ask(semel -> {
            RunId first = row(semel).lineage();
            return Objects.requireNonNull(semel.view(reads -> {
                List<Ledger.Row> rows = new ArrayList<>(reads.effects(id));
                List<RunId> line = new ArrayList<>(reads.lineage(first));
                line.addFirst(first);
                line.remove(id);
                line.forEach(other -> rows.addAll(reads.effects(other)));
                return rows;
            }));
        });
        return all.stream().filter(row -> row.state() == Ledger.State.UNKNOWN).toList();
    }

    /** An effect in doubt did happen, and this was its result. False: it is not in doubt. */
    public boolean happened(String step, Object result, String by) {
        return settle(step, Codec.STANDARD.write(result, "the result of " + step), by);
    }

    /** An effect in doubt did not happen: it is sent again, with the same key. False: it is not in doubt. */
    public boolean didNotHappen(String step, String by) {
        return settle(step, null, by);
    }

    private boolean settle(String step, @Nullable JsonNode result, String by) {
        return done(settlement(step, result, by, ""));
    }
}
