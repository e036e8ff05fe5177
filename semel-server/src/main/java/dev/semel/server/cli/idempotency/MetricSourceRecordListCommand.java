package dev.semel.server.cli.idempotency;

import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.ShellQuoting;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "list",
        description = "Lists the records behind a metric of `semel monitoring show`, newest first.",
        footer = {"  semel fact list expired --since 7d", "  semel fact list conflict payment_receipt"})
public final class MetricSourceRecordListCommand extends CliListCommand {
    @Parameters(
            paramLabel = "KIND",
            index = "0",
            description =
                    "Kind of record: conflict, replayed, duplicate_payload, expired, recovered, suppressed, written,"
                            + " notified or unkeyed.")
    String kind = "";

    @Parameters(paramLabel = "WORKFLOW", index = "1", arity = "0..1", description = "Only this workflow. Default: all.")
    String workflow = "";

    @Option(names = "--since", paramLabel = "AGE", description = "Start of the period: an age or a time. Default: 24h.")
    String since = "24h";

    @Override
    protected CliListDefinition listDefinition() {
        CliApiRequest call = CliApiRequest.get("v1", "facts")
                .withQuery("kind", kind)
                .withQuery("workflow", workflow)
                .withQuery("since", since);
        String again =
                "fact list " + ShellQuoting.quote(kind) + (workflow.isEmpty() ? "" : " " + ShellQuoting.quote(workflow))
                        + " --since " + ShellQuoting.quote(since);
        return CliListDefinition.of(call, again, "no records in this period")
                .addTime("WHEN", "at")
                .addText("WHAT", "kind")
                .addText("RUN", "run_id")
                .addText("KEY", "key")
                .addText("WORKFLOW", "workflow")
                .addText("STEP", "step")
                .addText("OBJECT", "object")
                .addText("BY", "actor_id")
                .suggest("semel run show", "run_id");
    }
}
