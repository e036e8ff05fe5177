package dev.semel.server.cli;

import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** The `put`, `list`, `show` and `delete` commands of a settings resource, such as templates or channels. */
@Command
final class SettingCommand implements Callable<Integer> {
    private final Sort sort;

    @Spec
    @Nullable
    CommandSpec spec;

    /**
     * A settings resource and its command.
     *
     * @param word name of the command
     * @param path path below /v1
     * @param id JSON member with the name of one document
     */
    record Sort(String word, String path, String id, String description) {}

    private SettingCommand(Sort sort) {
        this.sort = sort;
    }

    static CommandLine commandLine(Surroundings environment, Sort sort) {
        CommandLine command = new CommandLine(new SettingCommand(sort))
                .addSubcommand(new Put(environment, sort))
                .addSubcommand(new All(environment, sort))
                .addSubcommand(new Show(environment, sort))
                .addSubcommand(new Delete(environment, sort));
        command.setCommandName(sort.word());
        command.getCommandSpec().usageMessage().description(sort.description());
        return command;
    }

    @Override
    public Integer call() {
        if (spec == null) {
            throw new IllegalStateException("not wired");
        }
        String choices = String.join(", ", spec.subcommands().keySet());
        throw new ParameterException(
                spec.commandLine(), "Missing subcommand: semel " + sort.word() + " with one of " + choices + ".");
    }

    @Command(name = "put", description = "Saves a document. An unchanged document keeps its version.")
    static final class Put implements Callable<Integer> {
        private final Surroundings environment;
        private final Sort sort;

        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME", index = "0")
        String name = "";

        @Parameters(paramLabel = "FILE", index = "1", description = "A JSON file, or - for stdin.")
        String file = "";

        @Option(
                names = "--over",
                paramLabel = "VERSION",
                description = "Save only if this version is current, 0 for none. Default: any version.")
        @Nullable
        Integer over;

        Put(Surroundings environment, Sort sort) {
            this.environment = environment;
            this.sort = sort;
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            String document = Payload.read(file.equals("-") ? "-" : "@" + Path.of(file), environment);
            Call call = Call.put(Call.path("v1", sort.path(), name), "application/json", document);
            Answer answer = connection.api().ask(expecting(call, over));
            if (output.json) {
                output.document(answer.body());
                return Exit.DONE;
            }
            output.line(sort.word() + " " + Json.text(answer.body(), sort.id()) + " v"
                    + Json.text(answer.body(), "version"));
            for (JsonNode warning : answer.body().path("warnings")) {
                output.talk("warning: " + Json.clean(warning.asString("")));
            }
            return Exit.DONE;
        }
    }

    static Call expecting(Call call, @Nullable Integer version) {
        return version == null
                ? call
                : version == 0 ? call.with("If-None-Match", "*") : call.with("If-Match", "\"" + version + "\"");
    }

    @Command(name = "list", description = "Lists all.")
    static final class All extends ListCommand {
        private final Sort sort;

        All(Surroundings environment, Sort sort) {
            super(environment);
            this.sort = sort;
        }

        @Override
        Sheet sheet() {
            return Sheet.of(
                            Call.get(Call.path("v1", sort.path())),
                            sort.word() + " list",
                            "none yet. Create one: semel " + sort.word() + " put NAME FILE")
                    .text(sort.word().toUpperCase(Locale.ROOT), sort.id())
                    .text("VERSION", "version")
                    .time("CHANGED", "changed_at")
                    .text("BY", "changed_by");
        }
    }

    @Command(name = "show", description = "Shows one as JSON.")
    static final class Show implements Callable<Integer> {
        private final Sort sort;

        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME")
        String name = "";

        Show(Surroundings environment, Sort sort) {
            this.sort = sort;
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            Answer answer = connection.api().ask(Call.get(Call.path("v1", sort.path(), name)));
            output.document(output.json ? answer.body() : answer.body().path("document"));
            return Exit.DONE;
        }
    }

    @Command(name = "delete", description = "Deletes one.")
    static final class Delete implements Callable<Integer> {
        private final Sort sort;

        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME")
        String name = "";

        Delete(Surroundings environment, Sort sort) {
            this.sort = sort;
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            Answer answer = connection.api().ask(Call.delete(Call.path("v1", sort.path(), name)));
            if (output.json) {
                output.document(answer.body());
            } else {
                output.line(sort.word() + " " + Json.clean(name) + " deleted");
            }
            return Exit.DONE;
        }
    }
}
