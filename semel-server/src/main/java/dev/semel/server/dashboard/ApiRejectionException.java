package dev.semel.server.dashboard;

/** Thrown when the API rejects a dashboard call; the page shows the problem instead. */
final class ApiRejectionException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final transient ApiJson problem;

    ApiRejectionException(int status, ApiJson problem) {
        super(problem.text("code"), null, false, false);
        this.status = status;
        this.problem = problem;
    }

    int status() {
        return status;
    }

    ApiJson problem() {
        return problem;
    }
}
