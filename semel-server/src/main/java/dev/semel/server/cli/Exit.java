package dev.semel.server.cli;

/** The exit codes of the contract, and which one an HTTP status means. */
final class Exit {
    /** Done. A replayed request is success. */
    static final int DONE = 0;
    /** The run or the operation failed. */
    static final int FAILED = 1;
    /** The command was used wrongly: an argument, the key or the data is not acceptable. */
    static final int USAGE = 2;
    /** The key was used before for something else. */
    static final int KEY_CONFLICT = 3;
    /** Nobody knows whether it happened; a person must decide. */
    static final int IN_DOUBT = 4;

    /** Refused, because something could happen twice and nothing is said that stops it. */
    static final int UNPROTECTED = 5;

    static final int NOT_FOUND = 6;
    static final int NOT_ALLOWED = 7;
    /** No server answers, or the one that does asks to come back later. */
    static final int UNREACHABLE = 8;

    static final int PLAN_OUT_OF_DATE = 9;

    private Exit() {}

    static int of(int status, String code) {
        return switch (status) {
            case 400, 405, 413, 415 -> USAGE;
            case 401, 403 -> NOT_ALLOWED;
            case 404 -> NOT_FOUND;
            case 412 -> PLAN_OUT_OF_DATE;
            case 422 -> KEY_CONFLICT;
            // The other 409, a duplicate payload, will be refused tomorrow as well.
            case 409 ->
                switch (code) {
                    case "idempotency-key-in-use" -> UNREACHABLE;
                    case "replay-refused" -> UNPROTECTED;
                    default -> FAILED;
                };
            case 429, 502, 503, 504 -> UNREACHABLE;
            default -> status / 100 == 2 ? DONE : FAILED;
        };
    }

    /** What `--wait` says about a run that it waited for. A run that has not ended did not do what was asked. */
    static int ofRun(String status) {
        return switch (status) {
            case "completed" -> DONE;
            case "in_doubt" -> IN_DOUBT;
            default -> FAILED;
        };
    }
}
