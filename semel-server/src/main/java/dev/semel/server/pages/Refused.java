package dev.semel.server.pages;

/** Thrown when the API rejects a dashboard call; the page shows the problem instead. */
final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final transient Doc problem;

    Refused(int status, Doc problem) {
        super(problem.text("code"), null, false, false);
        this.status = status;
        this.problem = problem;
    }

    int status() {
        return status;
    }

    Doc problem() {
        return problem;
    }
}
