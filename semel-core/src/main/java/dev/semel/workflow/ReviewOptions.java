package dev.semel.workflow;

/**
 * The review that Semel opens when an effect is in doubt or its message has changed: reviewers, title and link.
 *
 * @param to who decides, for example `role:ops`; empty for the reviewer of the protection, or the owner
 * @param title the question; empty for the default text
 * @param link where reviewers can check the outcome; empty for none
 */
public record ReviewOptions(String to, String title, String link, EscalationPolicy escalation) {
    public static final ReviewOptions DEFAULT = new ReviewOptions("", "", "", EscalationPolicy.NONE);

    public static ReviewOptions of(String title) {
        return new ReviewOptions("", title, "", EscalationPolicy.NONE);
    }

    public ReviewOptions to(String value) {
        return new ReviewOptions(value, title, link, escalation);
    }

    public ReviewOptions link(String value) {
        return new ReviewOptions(to, title, value, escalation);
    }

    public ReviewOptions escalation(EscalationPolicy value) {
        return new ReviewOptions(to, title, link, value);
    }
}
