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
            description = "conflict, replayed, duplicate_payload, expired, recovered, suppressed, written, told or unkeyed.")
    String kind = "";

    @Parameters(
            paramLabel = "WORKFLOW",
            index = "1",
            arity = "0..1",
            description = "Only this workflow. Default: all.")
    String workflow = "";

    @Option(names = "--since", paramLabel = "AGE", description = "Start of the period: an age or a time. Default: 24h.")
    String since = "24h";

    FactsCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    ListDefinition listDefinition() {
        ApiRequest call = ApiRequest.get(ApiRequest.path("v1", "facts"))
                .withQuery("kind", kind)
                .withQuery("workflow", workflow)
                .withQuery("since", since);
        String again = "facts " + ShellQuoting.quote(kind) + (workflow.isEmpty() ? "" : " " + ShellQuoting.quote(workflow))
                + " --since " + ShellQuoting.quote(since);
        return ListDefinition.of(call, again, "no records in this period")
                .addTime("WHEN", "at")
                .addText("WHAT", "kind")
                .addText("RUN", "run_id")
                .addText("KEY", "key")
                .addText("WORKFLOW", "workflow")
                .addText("STEP", "step")
                .addText("OBJECT", "object")
                .addText("BY", "actor_id");
    }

    @Override
    String nextCommand(JsonNode first) {
        return "semel run " + ShellQuoting.quote(TerminalJson.text(first, "run_id"));
    }
}
