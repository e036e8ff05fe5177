package dev.semel.server.cli;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "reviews",
        description = "Lists what waits for people, what is due first at the front; with an id, tells all about one.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel reviews",
            "  semel reviews kind:in_doubt to:role:ops",
            "  semel reviews rev_3f9a0c11d2e4b5a69788",
            "  semel reviews state:decided"
        })
final class ReviewsCommand implements Callable<Integer> {
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
            description = "kind:K workflow:W to:WHO state:decided, or the id of one.")
    List<String> query = List.of();

    ReviewsCommand(Surroundings around) {
        this.around = around;
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    @Override
    public Integer call() {
        return query.size() == 1 && query.getFirst().startsWith("rev_") ? one(query.getFirst()) : list();
    }

    private int list() {
        Answer answer = connection
                .api()
                .ask(listing.page(Call.get(Call.path("v1", "reviews"))).where("q", String.join(" ", query)));
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        JsonNode items = answer.body().path("items");
        if (!items.isEmpty()) {
            table(items, answer.date().orElse(around.clock().instant())).print(output);
            output.next("semel reviews " + Shell.word(Json.text(items.get(0), "review_id")));
        }
        Listing.end(output, answer.body(), "reviews", "nothing waits for people here");
        return Exit.DONE;
    }

    private Table table(JsonNode items, Instant now) {
        Table table = new Table("REVIEW", "KIND", "QUESTION", "WORKFLOW", "RUN", "TO", "ASKED", "DUE");
        for (JsonNode item : items) {
            table.row(
                    Json.text(item, "review_id"),
                    Json.text(item, "kind"),
                    Json.text(item, "title"),
                    Json.text(item, "workflow"),
                    Json.text(item, "run_id"),
                    Json.text(item, "to"),
                    Listing.when(output, item, "asked_at", now),
                    item.path("overdue").booleanValue() ? "overdue" : Json.text(item, "due_at"));
        }
        return table;
    }

    private int one(String id) {
        JsonNode review =
                connection.api().ask(Call.get(Call.path("v1", "reviews", id))).body();
        if (output.json) {
            output.document(review);
            return Exit.DONE;
        }
        output.line(Json.text(review, "title"));
        output.line(Json.text(review, "review_id") + "  " + Json.text(review, "kind") + "  "
                + Json.text(review, "status") + "  " + Json.text(review, "workflow") + "  "
                + Json.text(review, "run_id") + "  to " + Json.text(review, "to"));
        review.path("evidence").forEach(sentence -> output.line("  " + Json.clean(sentence.asString(""))));
        review.path("shown")
                .forEachEntry(
                        (name, value) -> output.line("  " + Json.clean(name) + ": " + Json.clean(value.asString(""))));
        String link = Json.text(review, "link");
        if (!link.isEmpty()) {
            output.line("  look here: " + link);
        }
        if (Json.text(review, "status").equals("open")) {
            review.path("answers").forEachEntry((word, what) -> output.line(word + ": " + what.asString("")));
            output.next("semel decide " + Shell.word(id) + " "
                    + review.path("answers").propertyNames().iterator().next());
        }
        return Exit.DONE;
    }
}
