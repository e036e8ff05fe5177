package dev.semel.engine.step;

/** Ordinary exception handlers let it pass. If code catches it, every later call on its context throws it again. */
public sealed class RunExecutionAbort extends Error {
    private RunExecutionAbort(String message) {
        super(message, null, false, false);
    }

    /** Another worker owns this run now: this execution ends and writes nothing more. */
    public static final class OwnershipLost extends RunExecutionAbort {
        public OwnershipLost() {
            super("another worker executes the run");
        }
    }

    /** The recorded state is unknown: this execution ends and a worker continues the run later. */
    public static final class StoreUnreachable extends RunExecutionAbort {
        public StoreUnreachable(Throwable cause) {
            super("the store did not answer: " + cause.getMessage());
        }
    }

    /** All branches of the run wait: it is parked and continues when it is due. */
    public static final class Parked extends RunExecutionAbort {
        Parked() {
            super("the run waits");
        }
    }

    /** The attempts of an effect ended and its outcome is unknown: the run ends as failed, and its code never sees it. */
    public static final class OutcomeUnknown extends RunExecutionAbort {
        private final String step;

        public OutcomeUnknown(String step, String message) {
            super(message);
            this.step = step;
        }

        public String step() {
            return step;
        }
    }

    /** The code does not match the journal, or the run crashed its workers: it is held until a user acts. */
    public static final class Held extends RunExecutionAbort {
        private final String reason;

        /** @param reason `code`, `poison` or `store` */
        public Held(String reason, String message) {
            super(message);
            this.reason = reason;
        }

        public String reason() {
            return reason;
        }
    }
}
