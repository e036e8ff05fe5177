package dev.semel.server.cli.idempotency;

import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "list",
        description =
                "Lists objects, such as orders or leads, that steps wrote more than once. Counts only steps that name"
                        + " their object.",
        footer = {"  semel object list --since 7d", "  semel object list --more 0 new_lead"})
public final class BusinessObjectWriteCountCommand extends CliListCommand {
    @Option(names = "--since", paramLabel = "AGE", description = "Start of the period: an age or a time. Default: 24h.")
    String since = "24h";

    @Option(
            names = "--more",
            paramLabel = "N",
            description = "Only objects with more than this number of writes. Default: 1.")
    int more = 1;

    @Parameters(paramLabel = "WORKFLOW", arity = "0..1", description = "Only this workflow. Default: all.")
    String workflow = "";

    @Override
    protected CliListDefinition listDefinition() {
        CliApiRequest call = CliApiRequest.get("v1", "objects")
                .withQuery("since", since)
                .withQuery("having", "writes>" + more)
                .withQuery("workflow", workflow);
        return CliListDefinition.of(
                        call,
                        "object list",
                        "no object was written more than " + (more == 1 ? "once" : more + " times"))
                .addText("OBJECT", "object")
                .addText("WRITES", "writes")
                .addText("WORKFLOW", "workflow")
                .addTime("FIRST", "first_at")
                .addTime("LAST", "last_at");
    }
}
