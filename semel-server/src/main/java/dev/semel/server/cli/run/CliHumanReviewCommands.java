package dev.semel.server.cli.run;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliCommand;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.ShellQuoting;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

public final class CliHumanReviewCommands {
    private CliHumanReviewCommands() {}

    @Command(
            name = "list",
            description = "Lists reviews that wait for a decision, earliest due time first.",
            footer = {"  semel review list kind:in_doubt to:role:ops", "  semel review list state:decided"})
    public static final class ReviewListCommand extends CliListCommand {
        @Parameters(
                paramLabel = "QUERY",
                arity = "0..*",
                description = "Filter terms such as kind:in_doubt workflow:payment_receipt to:role:ops state:decided.")
        List<String> query = List.of();

        @Override
        protected CliListDefinition listDefinition() {
            return CliListDefinition.of(CliApiRequest.get("v1", "reviews"), "review list", "no reviews")
                    .filter(query)
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
                                    : TerminalJsonFormatter.text(item, "due_at"))
                    .suggest("semel review show", "review_id");
        }
    }

    public static CommandLine show() {
        return CliCommand.toCommandLine(
                "show", "Shows a review with its evidence and possible decisions.", new ReviewShowCommand(false));
    }

    public static CommandLine check() {
        return CliCommand.toCommandLine(
                "check",
                "Checks with the provider whether the effect happened. Works only with the protection `lookup`.",
                new ReviewShowCommand(true));
    }

    @Command
    private static final class ReviewShowCommand extends CliApiCommand {
        private final boolean check;

        @Parameters(paramLabel = "ID", description = "Id of the review, such as rev_3f9a0c11d2e4b5a69788.")
        String id = "";

        ReviewShowCommand(boolean check) {
            this.check = check;
        }

        @Override
        public Integer call() {
            JsonNode review = send(
                    check
                            ? CliApiRequest.post("v1", "reviews", id, "check").withJson("{}")
                            : CliApiRequest.get("v1", "reviews", id));
            if (output.json) {
                return printJson(review);
            }
            if (check) {
                output.printMessage("the server is checking with the provider; show the review again in a moment");
            }
            output.printLine(TerminalJsonFormatter.text(review, "title"));
            output.printLine(TerminalJsonFormatter.text(review, "review_id") + "  "
                    + TerminalJsonFormatter.text(review, "kind") + "  "
                    + TerminalJsonFormatter.text(review, "status") + "  "
                    + TerminalJsonFormatter.text(review, "workflow") + "  "
                    + TerminalJsonFormatter.text(review, "run_id") + "  to "
                    + TerminalJsonFormatter.text(review, "to"));
            TerminalJsonFormatter.texts(review.path("evidence")).forEach(sentence -> output.printLine("  " + sentence));
            review.path("shown")
                    .forEachEntry((name, value) -> output.printLine("  " + TerminalJsonFormatter.sanitize(name) + ": "
                            + TerminalJsonFormatter.sanitize(value.asString(""))));
            printChange(review.path("change"));
            String link = TerminalJsonFormatter.text(review, "link");
            if (!link.isEmpty()) {
                output.printLine("  link: " + link);
            }
            if (TerminalJsonFormatter.text(review, "status").equals("open")) {
                review.path("answers").forEachEntry((word, what) -> output.printLine(word + ": " + what.asString("")));
                output.suggestCommand("semel review decide " + ShellQuoting.quote(id) + " "
                        + review.path("answers").propertyNames().iterator().next());
            }
            return ExitCode.OK;
        }

        /** The data of a changed message: before, now, and the fields that differ. */
        private void printChange(JsonNode change) {
            if (!change.isObject()) {
                return;
            }
            output.printLine("  sent before: " + TerminalJsonFormatter.text(change, "previous_at") + " by run "
                    + TerminalJsonFormatter.text(change, "previous_run_id"));
            output.printLine("  previous data: " + dataText(change.path("previous")));
            output.printLine("  new data:      " + dataText(change.path("next")));
            if (change.path("fields").isArray()) {
                output.printLine("  differs in: "
                        + TerminalJsonFormatter.texts(change.path("fields")).collect(Collectors.joining(", "))
                        + (change.path("more_fields").asBoolean(false) ? ", …" : ""));
            }
        }

        private static String dataText(JsonNode data) {
            return data.isNull() || data.isMissingNode()
                    ? "(not stored)"
                    : TerminalJsonFormatter.sanitize(dev.semel.json.StrictJsonCodec.write(data));
        }
    }
}
