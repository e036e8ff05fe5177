package dev.semel.server.dashboard;

/** Thrown when the API rejects a dashboard call; the page shows the problem instead. */
final class ApiErrorResponseException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final transient DashboardTemplateJsonAccessor problem;

    ApiErrorResponseException(int status, DashboardTemplateJsonAccessor problem) {
        super(problem.text("code"), null, false, false);
        this.status = status;
        this.problem = problem;
    }

    int status() {
        return status;
    }

    DashboardTemplateJsonAccessor problem() {
        return problem;
    }
}
