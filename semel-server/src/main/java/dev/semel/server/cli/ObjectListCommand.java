package dev.semel.server.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** `semel object list`: lists business objects that steps wrote more than once. */
@Command(
        name = "list",
        description = "Lists objects that were written more than once: orders, leads, or whatever steps"
                + " declare as object.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel object list --since 7d", "  semel object list --more 0 new_lead"})
final class ObjectListCommand extends ListCommand {
    @Option(names = "--since", paramLabel = "AGE", description = "Start of the period: an age or a time. Default: 24h.")
    String since = "24h";

    @Option(names = "--more", paramLabel = "N", description = "Only objects with more writes than this. Default: 1.")
    int more = 1;

    @Parameters(paramLabel = "WORKFLOW", arity = "0..1", description = "Only this workflow. Default: all.")
    String workflow = "";

    ObjectListCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    ListDefinition listDefinition() {
        ApiRequest call = ApiRequest.get(ApiRequest.path("v1", "objects"))
                .withQuery("since", since)
                .withQuery("having", "writes>" + more)
                .withQuery("workflow", workflow);
        return ListDefinition.of(
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
