package dev.semel.server.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** `semel key list`: lists idempotency keys with their runs. */
@Command(
        name = "list",
        description = "Lists keys in alphabetical order, each with its run.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel key list evt_", "  semel key list --workflow payment_receipt"})
final class KeyListCommand extends ListCommand {
    @Parameters(paramLabel = "PREFIX", arity = "0..1", description = "Only keys that begin with this.")
    String prefix = "";

    @Option(names = "--workflow", paramLabel = "W", description = "Only keys of this workflow.")
    String workflow = "";

    KeyListCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    ListDefinition listDefinition() {
        ApiRequest call = ApiRequest.get(ApiRequest.path("v1", "keys"))
                .withQuery("prefix", prefix)
                .withQuery("workflow", workflow);
        String command = "key list" + (prefix.isEmpty() ? "" : " " + ShellQuoting.quote(prefix))
                + (workflow.isEmpty() ? "" : " --workflow " + ShellQuoting.quote(workflow));
        return ListDefinition.of(call, command, "no key matches. See the requests: semel request list")
                .addText("KEY", "idempotency_key")
                .addText("STATUS", "status")
                .addText("WORKFLOW", "operation_name")
                .addText("RUN", "run_id")
                .addText("RUN STATUS", "run_status")
                .addText("REPLAYED", "replays")
                .addText("CONFLICTS", "conflicts")
                .addTime("FIRST SEEN", "created_at");
    }

    @Override
    String nextCommand(JsonNode first) {
        return "semel key show " + ShellQuoting.quote(TerminalJson.text(first, "idempotency_key"));
    }
}
