package dev.semel.server.cli;

import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** The `save`, `list`, `show` and `delete` commands of a settings resource, such as templates or channels. */
final class SettingCommands {
    private SettingCommands() {}

    /**
     * A settings resource and its command.
     *
     * @param commandName name of the command
     * @param path path below /v1
     * @param idMember JSON member with the name of one document
     */
    record SettingResource(String commandName, String path, String idMember) {}

    /** Creates the command with its own `list`, and with further verbs. */
    static CommandLine create(
            CommandEnvironment environment, SettingResource resource, String description, Object... more) {
        CommandLine command = ResourceCommand.create(
                resource.commandName(),
                description,
                show(environment, resource),
                new SettingSaveCommand(environment, resource),
                delete(environment, resource));
        for (Object verb : more) {
            command.addSubcommand(verb);
        }
        return command;
    }

    static CommandLine list(CommandEnvironment environment, SettingResource resource) {
        ListDefinition definition = ListDefinition.of(
                        ApiRequest.get(ApiRequest.path("v1", resource.path())),
                        resource.commandName() + " list",
                        "none yet. Create one: semel " + resource.commandName() + " save NAME FILE")
                .addText(resource.commandName().toUpperCase(Locale.ROOT), resource.idMember())
                .addText("VERSION", "version")
                .addTime("CHANGED", "changed_at")
                .addText("BY", "changed_by");
        return ListCommand.create(environment, "Lists all, with their versions.", definition);
    }

    @Command(name = "save", description = "Saves a document. An unchanged document keeps its version.")
    static final class SettingSaveCommand extends ApiCommand {
        private final SettingResource resource;

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

        SettingSaveCommand(CommandEnvironment environment, SettingResource resource) {
            super(environment);
            this.resource = resource;
        }

        @Override
        public Integer call() {
            String document = PayloadArgument.read(file.equals("-") ? "-" : "@" + Path.of(file), environment);
            ApiRequest call =
                    ApiRequest.put(ApiRequest.path("v1", resource.path(), name), "application/json", document);
            ApiResponse answer = connection.api().send(withExpectedVersion(call, over));
            if (output.json) {
                return printJson(answer.body());
            }
            output.printLine(resource.commandName() + " " + TerminalJson.text(answer.body(), resource.idMember()) + " v"
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
                : version == 0
                        ? call.withHeader("If-None-Match", "*")
                        : call.withHeader("If-Match", "\"" + version + "\"");
    }

    static CommandLine show(CommandEnvironment environment, SettingResource resource) {
        return CallCommand.create(
                environment,
                "show NAME",
                "Shows one as JSON; with --json also its version.",
                arguments -> ApiRequest.get(ApiRequest.path("v1", resource.path(), arguments.getFirst())),
                (_, response) -> TerminalJson.pretty(response.path("document")));
    }

    static CommandLine delete(CommandEnvironment environment, SettingResource resource) {
        return CallCommand.create(
                environment,
                "delete NAME",
                "Deletes one.",
                arguments -> ApiRequest.delete(ApiRequest.path("v1", resource.path(), arguments.getFirst())),
                (arguments, _) -> resource.commandName() + " " + arguments.getFirst() + " deleted");
    }
}
