package dev.semel.server.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "facts",
        description = "Lists what is behind a number of `semel signals`, newest first.",
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
            description = "Of this workflow; of all unless told.")
    String workflow = "";

    @Option(names = "--since", paramLabel = "AGE", description = "How far back, 24h unless told; or a time.")
    String since = "24h";

    FactsCommand(Surroundings around) {
        super(around);
    }

    @Override
    Sheet sheet() {
        Call call = Call.get(Call.path("v1", "facts"))
                .where("kind", kind)
                .where("workflow", workflow)
                .where("since", since);
        String again = "facts " + Shell.word(kind) + (workflow.isEmpty() ? "" : " " + Shell.word(workflow))
                + " --since " + Shell.word(since);
        return Sheet.of(call, again, "there are none in that time")
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
