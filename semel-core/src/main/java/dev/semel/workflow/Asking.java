package dev.semel.workflow;

/**
 * The review that Semel opens when an effect is in doubt or its message has changed: reviewers, title and link.
 *
 * @param to who decides, for example `role:ops`; empty for the reviewer of the protection, or the owner
 * @param title the question; empty for the default text
 * @param link where reviewers can check the outcome; empty for none
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
