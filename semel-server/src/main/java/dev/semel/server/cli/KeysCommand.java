package dev.semel.server.cli;

import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** `semel keys`: lists idempotency keys with their runs. */
@Command(
        name = "keys",
        description = "Lists keys in alphabetical order, each with its run.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel keys evt_", "  semel keys --workflow payment_receipt"})
final class KeysCommand implements Callable<Integer> {
    private final CommandEnvironment environment;

    @Mixin
    final CommandOutput output;

    @Mixin
    final ServerConnectionOptions connection;

    @Mixin
    final PagingOptions listing = new PagingOptions();

    @Parameters(paramLabel = "PREFIX", arity = "0..1", description = "Only keys that begin with this.")
    String prefix = "";

    @Option(names = "--workflow", paramLabel = "W", description = "Only keys of this workflow.")
    String workflow = "";

    KeysCommand(CommandEnvironment environment) {
        this.environment = environment;
        this.output = new CommandOutput(environment);
        this.connection = new ServerConnectionOptions(environment);
    }

    @Override
    public Integer call() {
        ApiRequest call = ApiRequest.get(ApiRequest.path("v1", "keys")).withQuery("prefix", prefix).withQuery("workflow", workflow);
        ApiResponse answer = connection.api().send(listing.addPaging(call));
        if (output.json) {
            output.printJson(answer.body());
            return ExitCode.OK;
        }
        Instant now = answer.date().orElse(environment.clock().instant());
        JsonNode items = answer.body().path("items");
        TextTable table = new TextTable("KEY", "STATUS", "WORKFLOW", "RUN", "RUN STATUS", "REPLAYED", "CONFLICTS", "FIRST SEEN");
        for (JsonNode key : items) {
            table.addRow(
                    TerminalJson.text(key, "idempotency_key"),
                    TerminalJson.text(key, "status"),
                    TerminalJson.text(key, "operation_name"),
                    TerminalJson.text(key, "run_id"),
                    TerminalJson.text(key, "run_status"),
                    TerminalJson.text(key, "replays"),
                    TerminalJson.text(key, "conflicts"),
                    PagingOptions.formatTime(output, key, "created_at", now));
        }
        if (!items.isEmpty()) {
            table.print(output);
            output.suggestCommand("semel key " + ShellQuoting.quote(TerminalJson.text(items.get(0), "idempotency_key")));
        }
        String command = "keys" + (prefix.isEmpty() ? "" : " " + ShellQuoting.quote(prefix))
                + (workflow.isEmpty() ? "" : " --workflow " + ShellQuoting.quote(workflow));
        PagingOptions.printFooter(output, answer.body(), command, "no key matches. See the requests: semel requests");
        return ExitCode.OK;
    }
}
