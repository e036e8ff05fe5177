package dev.semel.engine;

/**
 * Ends the execution of a run from inside the user's code: an error, so that ordinary handlers let it pass. Code that
 * catches it all the same finds its context dead: every later call throws it again.
 */
sealed class Unwind extends Error {
    private Unwind(String message) {
        super(message, null, false, false);
    }

    /** Another worker drives this run now: this execution ends and writes nothing more. */
    static final class NotOurs extends Unwind {
        NotOurs() {
            super("the run is driven elsewhere");
        }
    }

    /** The store does not answer: nobody knows what is on record, so this execution ends and the run is taken up again. */
    static final class Lost extends Unwind {
        Lost(Throwable cause) {
            super("the store did not answer: " + cause.getMessage());
        }
    }

    /** All branches of the run wait: it is put away and taken up again when it is due. */
    static final class Parked extends Unwind {
        Parked() {
            super("the run waits");
        }
    }

    /** The code does not fit the record, or the run killed its workers: it is held until somebody looks. */
    static final class Held extends Unwind {
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
