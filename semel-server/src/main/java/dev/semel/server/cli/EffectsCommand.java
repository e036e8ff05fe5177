package dev.semel.server.cli;

import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** `semel effects`: lists side effects in external systems from the ledger. */
@Command(
        name = "effects",
        description = "Lists side effects in external systems, newest runs first.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel effects object:order/10443",
            "  semel effects state:in_doubt",
            "  semel effects suppressed:true"
        })
final class EffectsCommand extends ListCommand {
    @Parameters(
            paramLabel = "QUERY",
            arity = "0..*",
            description = "object:O key:K state:S workflow:W protection:P suppressed:true.")
    List<String> query = List.of();

    EffectsCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    ListDefinition listDefinition() {
        return ListDefinition.of(ApiRequest.get(ApiRequest.path("v1", "effects")), "effects", "no effects")
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
        return "semel timeline " + ShellQuoting.quote(TerminalJson.text(first, "run_id"));
    }
}
