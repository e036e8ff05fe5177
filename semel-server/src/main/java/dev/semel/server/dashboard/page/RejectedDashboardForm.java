package dev.semel.server.dashboard.page;

import org.jspecify.annotations.Nullable;

/** A form that the API rejected: the problem, and the typed values, which the page shows again. */
public final class RejectedDashboardForm {
    public static final RejectedDashboardForm NONE =
            new RejectedDashboardForm(200, DashboardTemplateJsonAccessor.EMPTY, "", null);

    private final int status;
    private final DashboardTemplateJsonAccessor problem;
    private final String form;
    private final @Nullable SubmittedForm typed;

    RejectedDashboardForm(
            int status, DashboardTemplateJsonAccessor problem, String form, @Nullable SubmittedForm typed) {
        this.status = status;
        this.problem = problem;
        this.form = form;
        this.typed = typed;
    }

    public int status() {
        return status;
    }

    /** The problem document; empty if no form was rejected. */
    public DashboardTemplateJsonAccessor problem() {
        return problem;
    }

    /** Whether this form of the page was rejected. */
    public boolean isFor(String name) {
        return form.equals(name);
    }

    /** The value typed into a field of this form; the default if another form, or none, was rejected. */
    public String typedText(String name, String field, String otherwise) {
        return typed != null && isFor(name) ? typed.text(field) : otherwise;
    }
}
