package dev.semel.server.cli.idempotency;

import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "list",
        description = "Lists side effects in external systems, newest runs first.",
        footer = {
            "  semel effect list object:order/10443",
            "  semel effect list state:in_doubt",
            "  semel effect list sent_key:5788dbc0f2a94a71b2c1d0e3f4a5968778695a4b3c2d1e0f",
            "  semel effect list suppressed:true"
        })
public final class EffectLedgerListCommand extends CliListCommand {
    @Parameters(
            paramLabel = "QUERY",
            arity = "0..*",
            description = "Filter terms such as object:order/10443 key:K sent_key:K state:in_doubt workflow:W"
                    + " protection:none suppressed:true.")
    List<String> query = List.of();

    @Override
    protected CliListDefinition listDefinition() {
        return CliListDefinition.of(CliApiRequest.get("v1", "effects"), "effect list", "no effects")
                .filter(query)
                .addText("STATUS", "status")
                .addText("STEP", "path")
                .addText("OBJECT", "object")
                .addText("WORTH", "worth")
                .addText("WORKFLOW", "workflow")
                .addText("RUN", "run_id")
                .addText("PROTECTION", "protection")
                .addText("KEY", "effect_key")
                .addText("SENT KEY", "sent_key")
                .addTime("FIRST", "first_at")
                .suggest("semel run timeline", "run_id");
    }
}
