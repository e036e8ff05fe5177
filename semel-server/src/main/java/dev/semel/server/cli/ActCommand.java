package dev.semel.server.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** What people say to a run that exists. */
abstract sealed class ActCommand implements Callable<Integer> {
    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(index = "0", paramLabel = "RUN", description = "The id of the run.")
    String run = "";

    ActCommand(Surroundings around) {
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    final int act(Call call, String member, String otherwise) {
        JsonNode said = connection.api().ask(call).body();
        if (output.json) {
            output.document(said);
        } else if (said.path(member).booleanValue()) {
            output.line(member + " " + run + " (" + Json.text(said, "status") + ")");
        } else {
            output.talk(otherwise);
        }
        return said.path(member).booleanValue() ? Exit.DONE : Exit.FAILED;
    }

    static ObjectNode body() {
        return JsonNodeFactory.instance.objectNode();
    }

    @Command(
            name = "cancel",
            description = "Ends a run: nothing new begins, and what is registered for it is undone.",
            footerHeading = "%nExample:%n",
            footer = "  semel cancel run_9kXmP2vQwL --reason \"ordered by mistake\"")
    static final class Cancel extends ActCommand {
        @Option(names = "--reason", paramLabel = "TEXT", description = "Why; it stands in the audit.")
        String reason = "";

        Cancel(Surroundings around) {
            super(around);
        }

        @Override
        public Integer call() {
            Call call = Call.post(
                    Call.path("v1", "runs", run, "cancel"),
                    body().put("reason", reason).toString());
            return act(call, "cancelled", "the run has ended already; nothing was changed");
        }
    }

    @Command(
            name = "decide",
            description = "Decides an approval, a changed message, or an effect in doubt. The first decision counts.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  semel decide run_9kXmP2vQwL release approve",
                "  semel decide run_9kXmP2vQwL charge happened --result '{\"id\": \"ch_1\"}'"
            })
    static final class Decide extends ActCommand {
        @Parameters(index = "1", paramLabel = "STEP", description = "The path of the step, as in `semel timeline`.")
        String step = "";

        @Parameters(
                index = "2",
                paramLabel = "DECISION",
                description = "approve, reject; send, suppress; happened, did_not_happen.")
        String decision = "";

        @Option(names = "--result", paramLabel = "JSON", description = "With happened: what came of it.")
        @Nullable
        String result;

        @Option(names = "--note", paramLabel = "TEXT", description = "Why.")
        String note = "";

        Decide(Surroundings around) {
            super(around);
        }

        @Override
        public Integer call() {
            ObjectNode body = body().put("step", step).put("decision", decision).put("note", note);
            if (result != null) {
                body.set("result", dev.semel.json.Json.parse(result));
            }
            Call call = Call.post(Call.path("v1", "runs", run, "decide"), body.toString());
            return act(call, "decided", "not decided: nobody asked, or somebody decided before");
        }
    }
}
