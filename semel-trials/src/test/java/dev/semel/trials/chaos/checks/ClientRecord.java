package dev.semel.trials.chaos.checks;

/**
 * One line of the clients' ledger: a request and what its sender learned.
 *
 * @param at when it was sent, in microseconds
 * @param run what was answered; empty where nothing came back
 * @param why the code of a refusal, or how the answer was lost
 */
public record ClientRecord(
        long at,
        String worker,
        RequestKind ask,
        String key,
        Outcome outcome,
        String run,
        boolean replayed,
        String why) {
    /** What was asked for. */
    public enum RequestKind {
        START,
        RELEASE,
        DECIDE,
        GO_ON
    }

    /** Ok, a clear no, or silence: then anything may have happened. */
    public enum Outcome {
        OK,
        NO,
        UNKNOWN
    }

    boolean isStarted() {
        return ask == RequestKind.START && outcome == Outcome.OK;
    }
}
