package dev.semel.workflow;

/**
 * An effect that a workflow says beforehand it has.
 *
 * @param step the name of the step
 * @param protection the word for what protects it
 * @param certain every run that is not cut short comes to it once: it hangs on no condition and stands in no loop
 * @param loops it stands in a loop, so that a run may come to it several times
 */
public record Expected(String step, String protection, boolean certain, boolean loops) {}
