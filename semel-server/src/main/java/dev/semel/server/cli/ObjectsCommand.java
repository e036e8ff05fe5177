package dev.semel.server.cli;

import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** `semel objects`: lists business objects that steps wrote more than once. */
@Command(
        name = "objects",
        description =
                "Lists objects that were written more than once: orders, leads, or whatever steps"
                        + " declare as object.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel objects --since 7d", "  semel objects --more 0 new_lead"})
final class ObjectsCommand implements Callable<Integer> {
    private final CommandEnvironment environment;

    @Mixin
    final CommandOutput output;

    @Mixin
    final ServerConnectionOptions connection;

    @Option(names = "--since", paramLabel = "AGE", description = "Start of the period: an age or a time. Default: 24h.")
    String since = "24h";

    @Option(names = "--more", paramLabel = "N", description = "Only objects with more writes than this. Default: 1.")
    int more = 1;

    @Option(names = "--limit", paramLabel = "N", description = "Maximum number of rows. Default: 50.")
    int limit = 50;

    @Parameters(paramLabel = "WORKFLOW", arity = "0..1", description = "Only this workflow. Default: all.")
    String workflow = "";

    ObjectsCommand(CommandEnvironment environment) {
        this.environment = environment;
        this.output = new CommandOutput(environment);
        this.connection = new ServerConnectionOptions(environment);
    }

    @Override
    public Integer call() {
        ApiResponse answer = connection
                .api()
                .send(ApiRequest.get(ApiRequest.path("v1", "objects"))
                        .withQuery("since", since)
                        .withQuery("having", "writes>" + more)
                        .withQuery("limit", Integer.toString(limit))
                        .withQuery("workflow", workflow));
        if (output.json) {
            output.printJson(answer.body());
            return ExitCode.OK;
        }
        Instant now = answer.date().orElse(environment.clock().instant());
        JsonNode items = answer.body().path("items");
        TextTable table = new TextTable("OBJECT", "WRITES", "WORKFLOW", "FIRST", "LAST");
        for (JsonNode item : items) {
            table.addRow(
                    TerminalJson.text(item, "object"),
                    TerminalJson.text(item, "writes"),
                    TerminalJson.text(item, "workflow"),
                    PagingOptions.formatTime(output, item, "first_at", now),
                    PagingOptions.formatTime(output, item, "last_at", now));
        }
        if (items.isEmpty()) {
            output.printMessage("no object was written more than " + (more == 1 ? "once" : more + " times"));
        } else {
            table.print(output);
        }
        return ExitCode.OK;
    }
}
