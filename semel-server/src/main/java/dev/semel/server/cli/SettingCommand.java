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
    private final SettingResource sort;

    @Spec
    @Nullable
    CommandSpec spec;

    /**
     * A settings resource and its command.
     *
     * @param commandName name of the command
     * @param path path below /v1
     * @param idMember JSON member with the name of one document
     */
    record SettingResource(String commandName, String path, String idMember, String description) {}

    private SettingCommand(SettingResource sort) {
        this.sort = sort;
    }

    static CommandLine commandLine(CommandEnvironment environment, SettingResource sort) {
        CommandLine command = new CommandLine(new SettingCommand(sort))
                .addSubcommand(new SettingPutCommand(environment, sort))
                .addSubcommand(new SettingListCommand(environment, sort))
                .addSubcommand(new SettingShowCommand(environment, sort))
                .addSubcommand(new SettingDeleteCommand(environment, sort));
        command.setCommandName(sort.commandName());
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
                spec.commandLine(), "Missing subcommand: semel " + sort.commandName() + " with one of " + choices + ".");
    }

    @Command(name = "put", description = "Saves a document. An unchanged document keeps its version.")
    static final class SettingPutCommand implements Callable<Integer> {
        private final CommandEnvironment environment;
        private final SettingResource sort;

        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

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

        SettingPutCommand(CommandEnvironment environment, SettingResource sort) {
            this.environment = environment;
            this.sort = sort;
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            String document = PayloadArgument.read(file.equals("-") ? "-" : "@" + Path.of(file), environment);
            ApiRequest call = ApiRequest.put(ApiRequest.path("v1", sort.path(), name), "application/json", document);
            ApiResponse answer = connection.api().send(withExpectedVersion(call, over));
            if (output.json) {
                output.printJson(answer.body());
                return ExitCode.OK;
            }
            output.printLine(sort.commandName() + " " + TerminalJson.text(answer.body(), sort.idMember()) + " v"
                    + TerminalJson.text(answer.body(), "version"));
            for (JsonNode warning : answer.body().path("warnings")) {
                output.printMessage("warning: " + TerminalJson.sanitize(warning.asString("")));
            }
            return ExitCode.OK;
        }
    }

    static ApiRequest withExpectedVersion(ApiRequest call, @Nullable Integer version) {
        return version == null
                ? call
                : version == 0 ? call.withHeader("If-None-Match", "*") : call.withHeader("If-Match", "\"" + version + "\"");
    }

    @Command(name = "list", description = "Lists all.")
    static final class SettingListCommand extends ListCommand {
        private final SettingResource sort;

        SettingListCommand(CommandEnvironment environment, SettingResource sort) {
            super(environment);
            this.sort = sort;
        }

        @Override
        ListDefinition listDefinition() {
            return ListDefinition.of(
                            ApiRequest.get(ApiRequest.path("v1", sort.path())),
                            sort.commandName() + " list",
                            "none yet. Create one: semel " + sort.commandName() + " put NAME FILE")
                    .addText(sort.commandName().toUpperCase(Locale.ROOT), sort.idMember())
                    .addText("VERSION", "version")
                    .addTime("CHANGED", "changed_at")
                    .addText("BY", "changed_by");
        }
    }

    @Command(name = "show", description = "Shows one as JSON.")
    static final class SettingShowCommand implements Callable<Integer> {
        private final SettingResource sort;

        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

        @Parameters(paramLabel = "NAME")
        String name = "";

        SettingShowCommand(CommandEnvironment environment, SettingResource sort) {
            this.sort = sort;
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            ApiResponse answer = connection.api().send(ApiRequest.get(ApiRequest.path("v1", sort.path(), name)));
            output.printJson(output.json ? answer.body() : answer.body().path("document"));
            return ExitCode.OK;
        }
    }

    @Command(name = "delete", description = "Deletes one.")
    static final class SettingDeleteCommand implements Callable<Integer> {
        private final SettingResource sort;

        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

        @Parameters(paramLabel = "NAME")
        String name = "";

        SettingDeleteCommand(CommandEnvironment environment, SettingResource sort) {
            this.sort = sort;
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            ApiResponse answer = connection.api().send(ApiRequest.delete(ApiRequest.path("v1", sort.path(), name)));
            if (output.json) {
                output.printJson(answer.body());
            } else {
                output.printLine(sort.commandName() + " " + TerminalJson.sanitize(name) + " deleted");
            }
            return ExitCode.OK;
        }
    }
}
