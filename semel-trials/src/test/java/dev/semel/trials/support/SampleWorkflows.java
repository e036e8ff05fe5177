package dev.semel.trials.support;

/** Small workflows for trials. */
public final class SampleWorkflows {
    private SampleWorkflows() {}

    /** One step, and whatever sections are given, each beginning at the left edge. */
    public static String flow(String name, String... sections) {
        return "semel: 1\nworkflow: " + name + "\nowner: trials\n" + String.join("\n", sections) + """

            steps:
              - id: note
                set: { ok: true }
            output: { ok: "${ steps.note.ok }" }
            """;
    }

    /** What stands under `idempotency`, on one line. */
    public static String keyed(String name, String idempotency) {
        return flow(name, "idempotency: { " + idempotency + " }");
    }

    /** Fails in its second step where `need` is missing. */
    public static String failing(String name, String... sections) {
        return "semel: 1\nworkflow: " + name + "\nowner: trials\n" + String.join("\n", sections) + """

            steps:
              - id: first
                set: { ok: true }
              - id: second
                set: { value: "${ input.need }" }
            """;
    }

    /** A payload with the canary in it, and these members beside. */
    public static String data(String members) {
        String more = members.isEmpty() ? "" : ", " + members;
        return "{\"data\": {\"note\": \"" + ServerFixture.CANARY + "\"" + more + "}}";
    }
}
