package dev.semel.server.cli.command;

/** Exit codes of the command line, and the mapping from HTTP status to exit code. */
public final class ExitCode {
    /** Done. A Replayed request is a success. */
    public static final int OK = 0;

    public static final int FAILED = 1;
    /** Wrong usage: an argument, the key or the data is invalid. */
    public static final int USAGE = 2;
    /** Key conflict: the key was used before for a different action. */
    static final int KEY_CONFLICT = 3;
    /** The outcome is unknown; a user must decide. */
    public static final int IN_DOUBT = 4;

    /** Rejected, because an unprotected effect could happen twice. */
    public static final int UNPROTECTED = 5;

    public static final int NOT_FOUND = 6;
    public static final int NOT_ALLOWED = 7;
    /** No server answers, or the server asks to retry later. */
    public static final int UNREACHABLE = 8;

    static final int PLAN_OUT_OF_DATE = 9;

    private ExitCode() {}

    static int forHttpStatus(int status, String code) {
        return switch (status) {
            case 400, 405, 413, 415 -> USAGE;
            case 401, 403 -> NOT_ALLOWED;
            case 404 -> NOT_FOUND;
            case 412 -> PLAN_OUT_OF_DATE;
            case 422 -> KEY_CONFLICT;
            // The other 409, a duplicate payload, is permanent: a retry cannot succeed.
            case 409 ->
                switch (code) {
                    case "idempotency-key-in-use" -> UNREACHABLE;
                    case "replay-refused" -> UNPROTECTED;
                    default -> FAILED;
                };
            case 429, 502, 503, 504 -> UNREACHABLE;
            default -> status / 100 == 2 ? OK : FAILED;
        };
    }

    /** Exit code of `--wait`. A run that has not ended counts as failed. */
    public static int forRunStatus(String status) {
        return switch (status) {
            case "completed" -> OK;
            case "in_doubt" -> IN_DOUBT;
            default -> FAILED;
        };
    }
}
