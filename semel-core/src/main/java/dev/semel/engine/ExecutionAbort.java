package dev.semel.engine;

/**
 * Error that ends an execution from inside user code.
 * Ordinary exception handlers let it pass. If code catches it, every later call on its context throws it again.
 */
sealed class ExecutionAbort extends Error {
    private ExecutionAbort(String message) {
        super(message, null, false, false);
    }

    /** Another worker owns this run now: this execution ends and writes nothing more. */
    static final class OwnershipLost extends ExecutionAbort {
        OwnershipLost() {
            super("another worker executes the run");
        }
    }

    /**
     * The store does not answer, so the recorded state is unknown: this execution ends and a worker continues the run
     * later.
     */
    static final class StoreUnreachable extends ExecutionAbort {
        StoreUnreachable(Throwable cause) {
            super("the store did not answer: " + cause.getMessage());
        }
    }

    /** All branches of the run wait: it is parked and continues when it is due. */
    static final class Parked extends ExecutionAbort {
        Parked() {
            super("the run waits");
        }
    }

    /** The code does not match the journal, or the run crashed its workers: it is held until a user acts. */
    static final class Held extends ExecutionAbort {
        private final String reason;

        /** @param reason `code`, `poison` or `store` */
        Held(String reason, String message) {
            super(message);
            this.reason = reason;
        }

        String reason() {
            return reason;
        }
    }
}
