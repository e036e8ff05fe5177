package dev.semel.server.pages;

import org.jspecify.annotations.Nullable;

/** Why a page is shown once more: one of its forms was refused. What was typed into that form stands in it again. */
public final class Again {
    /** The page is shown for the first time. */
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

    /** What refused it; nothing where nothing did. */
    public Doc problem() {
        return problem;
    }

    /** Whether this form of the page is the one. */
    public boolean in(String name) {
        return form.equals(name);
    }

    /** What was typed into a field of that form; what stands there otherwise, where it is another. */
    public String text(String name, String field, String otherwise) {
        return typed != null && in(name) ? typed.text(field) : otherwise;
    }
}
