package dev.semel.server.cli;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "effects",
        description = "Lists what was done outside, those of the newest runs first.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel effects object:order/10443",
            "  semel effects state:in_doubt",
            "  semel effects suppressed:true"
        })
final class EffectsCommand implements Callable<Integer> {
    private final Surroundings around;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Mixin
    final Listing listing = new Listing();

    @Parameters(
            paramLabel = "QUERY",
            arity = "0..*",
            description = "object:O key:K state:S workflow:W protection:P suppressed:true.")
    List<String> query = List.of();

    EffectsCommand(Surroundings around) {
        this.around = around;
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    @Override
    public Integer call() {
        Answer answer = connection
                .api()
                .ask(listing.page(Call.get(Call.path("v1", "effects"))).where("q", String.join(" ", query)));
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        JsonNode items = answer.body().path("items");
        if (!items.isEmpty()) {
            table(items, answer.date().orElse(around.clock().instant())).print(output);
            output.next("semel timeline " + Shell.word(Json.text(items.get(0), "run_id")));
        }
        Listing.end(output, answer.body(), "effects", "no effects here");
        return Exit.DONE;
    }

    private Table table(JsonNode items, Instant now) {
        Table table = new Table("STATUS", "STEP", "OBJECT", "WORTH", "WORKFLOW", "RUN", "PROTECTION", "KEY", "FIRST");
        for (JsonNode item : items) {
            table.row(
                    Json.text(item, "status"),
                    Json.text(item, "path"),
                    Json.text(item, "object"),
                    Json.text(item, "worth"),
                    Json.text(item, "workflow"),
                    Json.text(item, "run_id"),
                    Json.text(item, "protection"),
                    Json.text(item, "effect_key"),
                    Listing.when(output, item, "first_at", now));
        }
        return table;
    }
}
