package dev.semel.workflow;

/**
 * What people are asked when the outcome of an effect is not known, or its message has changed.
 *
 * @param to who is to decide, e.g. `role:ops`; empty for the one whom the protection names, or the owner
 * @param title the question; empty for a plain one
 * @param link where to look it up; empty for nowhere
 */
public record Asking(String to, String title, String link, Urgency urgency) {
    public static final Asking PLAIN = new Asking("", "", "", Urgency.NONE);

    public static Asking of(String title) {
        return new Asking("", title, "", Urgency.NONE);
    }

    public Asking to(String value) {
        return new Asking(value, title, link, urgency);
    }

    public Asking link(String value) {
        return new Asking(to, title, value, urgency);
    }

    public Asking urgency(Urgency value) {
        return new Asking(to, title, link, value);
    }
}
