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
        description = "Lists keys in alphabetical order, each with its run.",
        footer = {"  semel key list evt_", "  semel key list --workflow payment_receipt"})
public final class IdempotencyKeyListCommand extends CliListCommand {
    @Parameters(paramLabel = "PREFIX", arity = "0..1", description = "Only keys that begin with this text.")
    String prefix = "";

    @Option(names = "--workflow", paramLabel = "W", description = "Only keys of this workflow.")
    String workflow = "";

    @Override
    protected CliListDefinition listDefinition() {
        CliApiRequest call =
                CliApiRequest.get("v1", "keys").withQuery("prefix", prefix).withQuery("workflow", workflow);
        String command = "key list" + (prefix.isEmpty() ? "" : " " + ShellQuoting.quote(prefix))
                + (workflow.isEmpty() ? "" : " --workflow " + ShellQuoting.quote(workflow));
        return CliListDefinition.of(call, command, "no key matches. See the requests: semel request list")
                .addText("KEY", "idempotency_key")
                .addText("STATUS", "status")
                .addText("WORKFLOW", "operation_name")
                .addText("RUN", "run_id")
                .addText("RUN STATUS", "run_status")
                .addText("REPLAYED", "replays")
                .addText("CONFLICTS", "conflicts")
                .addTime("FIRST SEEN", "created_at")
                .suggest("semel key show", "idempotency_key");
    }
}
