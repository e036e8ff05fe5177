package dev.semel.server.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** `semel facts`: lists the records behind one monitoring metric. */
@Command(
        name = "facts",
        description = "Lists the records behind a metric of `semel signals`, newest first.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel facts expired --since 7d", "  semel facts conflict payment_receipt"})
final class FactsCommand extends ListCommand {
    @Parameters(
            paramLabel = "KIND",
            index = "0",
            description = "conflict, replayed, same_payload, expired, recovered, suppressed, written, told or unkeyed.")
    String kind = "";

    @Parameters(
            paramLabel = "WORKFLOW",
            index = "1",
            arity = "0..1",
            description = "Only this workflow. Default: all.")
    String workflow = "";

    @Option(names = "--since", paramLabel = "AGE", description = "Start of the period: an age or a time. Default: 24h.")
    String since = "24h";

    FactsCommand(Surroundings environment) {
        super(environment);
    }

    @Override
    Sheet sheet() {
        Call call = Call.get(Call.path("v1", "facts"))
                .where("kind", kind)
                .where("workflow", workflow)
                .where("since", since);
        String again = "facts " + Shell.word(kind) + (workflow.isEmpty() ? "" : " " + Shell.word(workflow))
                + " --since " + Shell.word(since);
        return Sheet.of(call, again, "no records in this period")
                .time("WHEN", "at")
                .text("WHAT", "kind")
                .text("RUN", "run_id")
                .text("KEY", "key")
                .text("WORKFLOW", "workflow")
                .text("STEP", "step")
                .text("OBJECT", "object")
                .text("BY", "actor_id");
    }

    @Override
    String next(JsonNode first) {
        return "semel run " + Shell.word(Json.text(first, "run_id"));
    }
}
