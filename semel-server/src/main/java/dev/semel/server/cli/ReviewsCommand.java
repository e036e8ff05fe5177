package dev.semel.server.cli;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** `semel reviews`: lists reviews that wait for a decision, or shows one. */
@Command(
        name = "reviews",
        description = "Lists reviews that wait for a decision, the first due first. With an id, shows one review.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel reviews",
            "  semel reviews kind:in_doubt to:role:ops",
            "  semel reviews rev_3f9a0c11d2e4b5a69788",
            "  semel reviews rev_3f9a0c11d2e4b5a69788 --check",
            "  semel reviews state:decided"
        })
final class ReviewsCommand extends ListCommand {
    @Parameters(
            paramLabel = "QUERY",
            arity = "0..*",
            description = "kind:K workflow:W to:WHO state:decided, or the id of a review.")
    List<String> query = List.of();

    @Option(
            names = "--check",
            description = "With an id: query the provider whether it happened, if its protection is lookup.")
    boolean check;

    @Spec
    @Nullable
    CommandSpec spec;

    ReviewsCommand(Surroundings environment) {
        super(environment);
    }

    @Override
    public Integer call() {
        boolean one = query.size() == 1 && query.getFirst().startsWith("rev_");
        if (check && !one) {
            throw new ParameterException(
                    Objects.requireNonNull(spec).commandLine(),
                    "--check needs the id of one review. The provider was not queried.");
        }
        return one ? one(query.getFirst()) : super.call();
    }

    @Override
    Sheet sheet() {
        return Sheet.of(Call.get(Call.path("v1", "reviews")), "reviews", "no reviews")
                .text("REVIEW", "review_id")
                .text("KIND", "kind")
                .text("QUESTION", "title")
                .text("WORKFLOW", "workflow")
                .text("RUN", "run_id")
                .text("TO", "to")
                .time("OPENED", "asked_at")
                .cell("DUE", item -> item.path("overdue").booleanValue() ? "overdue" : Json.text(item, "due_at"));
    }

    @Override
    String query() {
        return String.join(" ", query);
    }

    @Override
    String next(JsonNode first) {
        return "semel reviews " + Shell.word(Json.text(first, "review_id"));
    }

    private int one(String id) {
        Call call = check
                ? Call.post(Call.path("v1", "reviews", id, "check"), "{}")
                : Call.get(Call.path("v1", "reviews", id));
        JsonNode review = connection.api().ask(call).body();
        if (output.json) {
            output.document(review);
            return Exit.DONE;
        }
        if (check) {
            output.talk("the server is querying the provider; look again in a moment");
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
            output.line("  link: " + link);
        }
        if (Json.text(review, "status").equals("open")) {
            review.path("answers").forEachEntry((word, what) -> output.line(word + ": " + what.asString("")));
            output.next("semel decide " + Shell.word(id) + " "
                    + review.path("answers").propertyNames().iterator().next());
        }
        return Exit.DONE;
    }
}
