package dev.semel.server.cli;

import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** `semel effect list`: lists side effects in external systems from the ledger. */
@Command(
        name = "list",
        description = "Lists side effects in external systems, newest runs first.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel effect list object:order/10443",
            "  semel effect list state:in_doubt",
            "  semel effect list suppressed:true"
        })
final class EffectListCommand extends ListCommand {
    @Parameters(
            paramLabel = "QUERY",
            arity = "0..*",
            description = "object:O key:K state:S workflow:W protection:P suppressed:true.")
    List<String> query = List.of();

    EffectListCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    ListDefinition listDefinition() {
        return ListDefinition.of(ApiRequest.get(ApiRequest.path("v1", "effects")), "effect list", "no effects")
                .addText("STATUS", "status")
                .addText("STEP", "path")
                .addText("OBJECT", "object")
                .addText("WORTH", "worth")
                .addText("WORKFLOW", "workflow")
                .addText("RUN", "run_id")
                .addText("PROTECTION", "protection")
                .addText("KEY", "effect_key")
                .addTime("FIRST", "first_at");
    }

    @Override
    String query() {
        return String.join(" ", query);
    }

    @Override
    String nextCommand(JsonNode first) {
        return "semel run timeline " + ShellQuoting.quote(TerminalJson.text(first, "run_id"));
    }
}
