package dev.semel.server.dashboard.page;

/** Thrown when the API rejects a dashboard call; the page shows the problem instead. */
public final class ApiErrorResponseException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final transient DashboardTemplateJsonAccessor problem;

    public ApiErrorResponseException(int status, DashboardTemplateJsonAccessor problem) {
        super(problem.text("code"), null, false, false);
        this.status = status;
        this.problem = problem;
    }

    public int status() {
        return status;
    }

    public DashboardTemplateJsonAccessor problem() {
        return problem;
    }
}
