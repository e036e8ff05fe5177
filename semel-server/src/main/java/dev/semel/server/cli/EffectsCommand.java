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

    EffectsCommand(Surroundings environment) {
        super(environment);
    }

    @Override
    Sheet sheet() {
        return Sheet.of(Call.get(Call.path("v1", "effects")), "effects", "no effects")
                .text("STATUS", "status")
                .text("STEP", "path")
                .text("OBJECT", "object")
                .text("WORTH", "worth")
                .text("WORKFLOW", "workflow")
                .text("RUN", "run_id")
                .text("PROTECTION", "protection")
                .text("KEY", "effect_key")
                .time("FIRST", "first_at");
    }

    @Override
    String query() {
        return String.join(" ", query);
    }

    @Override
    String next(JsonNode first) {
        return "semel timeline " + Shell.word(Json.text(first, "run_id"));
    }
}
