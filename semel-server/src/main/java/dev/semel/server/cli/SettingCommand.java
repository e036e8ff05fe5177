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

/** `template`, `channel`, `route`, `profile` and `cohort`: documents that are put, listed, shown and deleted. */
@Command
final class SettingCommand implements Callable<Integer> {
    private final Sort sort;

    @Spec
    @Nullable
    CommandSpec spec;

    /**
     * @param word the name of the command
     * @param path where they stand below /v1
     * @param id the member that names one
     */
    record Sort(String word, String path, String id, String description) {}

    private SettingCommand(Sort sort) {
        this.sort = sort;
    }

    static CommandLine commandLine(Surroundings around, Sort sort) {
        CommandLine command = new CommandLine(new SettingCommand(sort))
                .addSubcommand(new Put(around, sort))
                .addSubcommand(new All(around, sort))
                .addSubcommand(new Show(around, sort))
                .addSubcommand(new Delete(around, sort));
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
                spec.commandLine(), "Say what to do: semel " + sort.word() + " with one of " + choices + ".");
    }

    @Command(name = "put", description = "Keeps a document; an unchanged one stays the version it is.")
    static final class Put implements Callable<Integer> {
        private final Surroundings around;
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
                description = "Only over this version, 0 for none; else over whatever there is.")
        @Nullable
        Integer over;

        Put(Surroundings around, Sort sort) {
            this.around = around;
            this.sort = sort;
            this.output = new Output(around);
            this.connection = new Connection(around);
        }

        @Override
        public Integer call() {
            String document = Payload.read(file.equals("-") ? "-" : "@" + Path.of(file), around);
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

    @Command(name = "list", description = "Lists them.")
    static final class All extends ListCommand {
        private final Sort sort;

        All(Surroundings around, Sort sort) {
            super(around);
            this.sort = sort;
        }

        @Override
        Sheet sheet() {
            return Sheet.of(
                            Call.get(Call.path("v1", sort.path())),
                            sort.word() + " list",
                            "none yet. Keep one: semel " + sort.word() + " put NAME FILE")
                    .text(sort.word().toUpperCase(Locale.ROOT), sort.id())
                    .text("VERSION", "version")
                    .time("CHANGED", "changed_at")
                    .text("BY", "changed_by");
        }
    }

    @Command(name = "show", description = "Shows one, as JSON.")
    static final class Show implements Callable<Integer> {
        private final Sort sort;

        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME")
        String name = "";

        Show(Surroundings around, Sort sort) {
            this.sort = sort;
            this.output = new Output(around);
            this.connection = new Connection(around);
        }

        @Override
        public Integer call() {
            Answer answer = connection.api().ask(Call.get(Call.path("v1", sort.path(), name)));
            output.document(output.json ? answer.body() : answer.body().path("document"));
            return Exit.DONE;
        }
    }

    @Command(name = "delete", description = "Removes one.")
    static final class Delete implements Callable<Integer> {
        private final Sort sort;

        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME")
        String name = "";

        Delete(Surroundings around, Sort sort) {
            this.sort = sort;
            this.output = new Output(around);
            this.connection = new Connection(around);
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
