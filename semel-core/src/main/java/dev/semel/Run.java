package dev.semel;

import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A run: reads its status and result from the store, sends signals, cancels it, and records decisions. */
public interface Run<O extends @Nullable Object> {
    String id();

    /** Whether the run existed before this request, for example because its key was used before. */
    boolean replayed();

    RunStatus status();

    /** What the run waits for, one entry per waiting branch; empty if it does not wait. */
    List<Waiting> waiting();

    /** Waits for the run to end and returns its output. See {@link #result(Duration)}. */
    O result();

    /**
     * Waits for the run to end and returns its output, which is null if the workflow returned null.
     *
     * @param longest maximum time to wait
     * @throws dev.semel.error.StepFailed if the run failed
     * @throws dev.semel.error.RunCancelled if the run was cancelled
     * @throws dev.semel.error.EffectInDoubt if an effect is in doubt; thrown immediately, because the decision may take
     *     any time
     * @throws dev.semel.error.RunNotEnded if the run has not ended in time
     */
    O result(Duration longest);

    /** Sends a signal, delivered once per key. False if it was delivered before or the run has ended. */
    <T> boolean signal(Signal<T> signal, T value, Key once);

    /** Cancels the run: no further step starts, and registered compensations run. False if the run has ended. */
    boolean cancel(String by, String reason);

    boolean cancel();

    /**
     * Retries a run that is held because its worker crashed repeatedly or its code does not match its journal. False if
     * the run is not held.
     */
    boolean retryHeld(String by, String reason);

    boolean retryHeld();

    /**
     * Resumes a failed run under its own id, from the step that failed. Its effects keep their keys, so no recorded
     * effect is sent again.
     *
     * @throws dev.semel.error.SemelException `resume-refused` if the run cannot be resumed, with the reason
     */
    void resume(String by, String reason);

    /**
     * Approves an approval step. The first decision applies. False for later decisions, and if the run is not waiting
     * for this approval now: Semel does not store a decision in advance.
     */
    boolean approve(String step, String by, String note);

    boolean reject(String step, String by, String note);

    /** Decides whether a message that changed inside its {@code once} window is sent. The first decision applies. */
    boolean decideChangedMessage(String step, boolean send, String by, String note);

    /** The steps whose effect is in doubt. */
    List<String> stepsInDoubt();

    /** Confirms that an effect in doubt happened, with its result. False if it is not in doubt. */
    boolean confirmDone(String step, @Nullable Object result, String by);

    /** Confirms that an effect in doubt did not happen; Semel then sends it again. False if it is not in doubt. */
    boolean confirmNotDone(String step, String by);
}
