package dev.semel.server.cli;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** The commands of `semel review`: list, show and check. */
final class ReviewCommands {
    private ReviewCommands() {}

    @Command(
            name = "list",
            description = "Lists reviews that wait for a decision, the first due first.",
            footerHeading = "%nExamples:%n",
            footer = {"  semel review list kind:in_doubt to:role:ops", "  semel review list state:decided"})
    static final class ReviewListCommand extends ListCommand {
        @Parameters(paramLabel = "QUERY", arity = "0..*", description = "kind:K workflow:W to:WHO state:decided.")
        List<String> query = List.of();

        ReviewListCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        ListDefinition listDefinition() {
            return ListDefinition.of(ApiRequest.get(ApiRequest.path("v1", "reviews")), "review list", "no reviews")
                    .addText("REVIEW", "review_id")
                    .addText("KIND", "kind")
                    .addText("QUESTION", "title")
                    .addText("WORKFLOW", "workflow")
                    .addText("RUN", "run_id")
                    .addText("TO", "to")
                    .addTime("OPENED", "opened_at")
                    .addColumn(
                            "DUE",
                            item -> item.path("overdue").booleanValue()
                                    ? "overdue"
                                    : TerminalJson.text(item, "due_at"));
        }

        @Override
        String query() {
            return String.join(" ", query);
        }

        @Override
        String nextCommand(JsonNode first) {
            return "semel review show " + ShellQuoting.quote(TerminalJson.text(first, "review_id"));
        }
    }

    static CommandLine show(CommandEnvironment environment) {
        CommandLine command = new CommandLine(new ReviewShowCommand(environment, false)).setCommandName("show");
        command.getCommandSpec().usageMessage().description("Shows a review with its evidence and possible decisions.");
        return command;
    }

    static CommandLine check(CommandEnvironment environment) {
        CommandLine command = new CommandLine(new ReviewShowCommand(environment, true)).setCommandName("check");
        command.getCommandSpec()
                .usageMessage()
                .description("Queries the provider whether the effect happened, if its protection is lookup.");
        return command;
    }

    @Command
    private static final class ReviewShowCommand extends ApiCommand {
        private final boolean check;

        @Parameters(paramLabel = "ID", description = "Id of the review, rev_….")
        String id = "";

        ReviewShowCommand(CommandEnvironment environment, boolean check) {
            super(environment);
            this.check = check;
        }

        @Override
        public Integer call() {
            JsonNode review = send(
                    check
                            ? ApiRequest.post(ApiRequest.path("v1", "reviews", id, "check"), "{}")
                            : ApiRequest.get(ApiRequest.path("v1", "reviews", id)));
            if (output.json) {
                return printJson(review);
            }
            if (check) {
                output.printMessage("the server is querying the provider; look again in a moment");
            }
            output.printLine(TerminalJson.text(review, "title"));
            output.printLine(TerminalJson.text(review, "review_id") + "  " + TerminalJson.text(review, "kind") + "  "
                    + TerminalJson.text(review, "status") + "  " + TerminalJson.text(review, "workflow") + "  "
                    + TerminalJson.text(review, "run_id") + "  to " + TerminalJson.text(review, "to"));
            review.path("evidence")
                    .forEach(sentence -> output.printLine("  " + TerminalJson.sanitize(sentence.asString(""))));
            review.path("shown")
                    .forEachEntry((name, value) -> output.printLine(
                            "  " + TerminalJson.sanitize(name) + ": " + TerminalJson.sanitize(value.asString(""))));
            String link = TerminalJson.text(review, "link");
            if (!link.isEmpty()) {
                output.printLine("  link: " + link);
            }
            if (TerminalJson.text(review, "status").equals("open")) {
                review.path("answers").forEachEntry((word, what) -> output.printLine(word + ": " + what.asString("")));
                output.suggestCommand("semel review decide " + ShellQuoting.quote(id) + " "
                        + review.path("answers").propertyNames().iterator().next());
            }
            return ExitCode.OK;
        }
    }
}
