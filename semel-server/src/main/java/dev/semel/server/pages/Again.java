package dev.semel.server.pages;

import org.jspecify.annotations.Nullable;

/** A form that the API rejected: the problem, and the typed values, which the page shows again. */
public final class Again {
    /** No form was rejected. */
    static final Again NOT = new Again(200, Doc.NOTHING, "", null);

    private final int status;
    private final Doc problem;
    private final String form;
    private final @Nullable Form typed;

    Again(int status, Doc problem, String form, @Nullable Form typed) {
        this.status = status;
        this.problem = problem;
        this.form = form;
        this.typed = typed;
    }

    int status() {
        return status;
    }

    /** The problem document; empty if no form was rejected. */
    public Doc problem() {
        return problem;
    }

    /** Whether this form of the page was rejected. */
    public boolean in(String name) {
        return form.equals(name);
    }

    /** The value typed into a field of this form; the default if another form, or none, was rejected. */
    public String text(String name, String field, String otherwise) {
        return typed != null && in(name) ? typed.text(field) : otherwise;
    }
}
