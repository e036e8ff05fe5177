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

    ReviewsCommand(CommandEnvironment environment) {
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
    ListDefinition listDefinition() {
        return ListDefinition.of(ApiRequest.get(ApiRequest.path("v1", "reviews")), "reviews", "no reviews")
                .addText("REVIEW", "review_id")
                .addText("KIND", "kind")
                .addText("QUESTION", "title")
                .addText("WORKFLOW", "workflow")
                .addText("RUN", "run_id")
                .addText("TO", "to")
                .addTime("OPENED", "opened_at")
                .addColumn("DUE", item -> item.path("overdue").booleanValue() ? "overdue" : TerminalJson.text(item, "due_at"));
    }

    @Override
    String query() {
        return String.join(" ", query);
    }

    @Override
    String nextCommand(JsonNode first) {
        return "semel reviews " + ShellQuoting.quote(TerminalJson.text(first, "review_id"));
    }

    private int one(String id) {
        ApiRequest call = check
                ? ApiRequest.post(ApiRequest.path("v1", "reviews", id, "check"), "{}")
                : ApiRequest.get(ApiRequest.path("v1", "reviews", id));
        JsonNode review = connection.api().send(call).body();
        if (output.json) {
            output.printJson(review);
            return ExitCode.OK;
        }
        if (check) {
            output.printMessage("the server is querying the provider; look again in a moment");
        }
        output.printLine(TerminalJson.text(review, "title"));
        output.printLine(TerminalJson.text(review, "review_id") + "  " + TerminalJson.text(review, "kind") + "  "
                + TerminalJson.text(review, "status") + "  " + TerminalJson.text(review, "workflow") + "  "
                + TerminalJson.text(review, "run_id") + "  to " + TerminalJson.text(review, "to"));
        review.path("evidence").forEach(sentence -> output.printLine("  " + TerminalJson.sanitize(sentence.asString(""))));
        review.path("shown")
                .forEachEntry(
                        (name, value) -> output.printLine("  " + TerminalJson.sanitize(name) + ": " + TerminalJson.sanitize(value.asString(""))));
        String link = TerminalJson.text(review, "link");
        if (!link.isEmpty()) {
            output.printLine("  link: " + link);
        }
        if (TerminalJson.text(review, "status").equals("open")) {
            review.path("answers").forEachEntry((word, what) -> output.printLine(word + ": " + what.asString("")));
            output.suggestCommand("semel decide " + ShellQuoting.quote(id) + " "
                    + review.path("answers").propertyNames().iterator().next());
        }
        return ExitCode.OK;
    }
}
