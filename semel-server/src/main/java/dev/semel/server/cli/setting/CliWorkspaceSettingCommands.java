package dev.semel.server.cli.setting;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliCommandGroup;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.CliPayloadArgumentReader;
import dev.semel.server.cli.command.GenericApiCallCommand;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** The `save`, `list`, `show` and `delete` commands of a settings resource, such as templates or channels. */
public final class CliWorkspaceSettingCommands {
    private CliWorkspaceSettingCommands() {}

    /** Creates the command of a resource, such as `template`, with its own `list`, and with further verbs. */
    public static CommandLine create(String resource, String description, Object... more) {
        CommandLine command = CliCommandGroup.create(
                resource, description, show(resource), new SettingSaveCommand(resource), delete(resource));
        for (Object verb : more) {
            command.addSubcommand(verb);
        }
        return command;
    }

    public static CommandLine list(String resource) {
        CliListDefinition definition = CliListDefinition.of(
                        CliApiRequest.get("v1", resource + "s"),
                        resource + " list",
                        "none yet. Create one: semel " + resource + " save NAME FILE")
                .addText(resource.toUpperCase(Locale.ROOT), idMember(resource))
                .addText("VERSION", "version")
                .addTime("CHANGED", "changed_at")
                .addText("BY", "changed_by");
        return CliListCommand.create("Lists the saved documents with their versions.", definition);
    }

    @Command(name = "save", description = "Saves a document. An unchanged document keeps its version.")
    static final class SettingSaveCommand extends CliApiCommand {
        private final String resource;

        @Parameters(paramLabel = "NAME", index = "0")
        String name = "";

        @Parameters(paramLabel = "FILE", index = "1", description = "A JSON file, or - for stdin.")
        String file = "";

        @Option(
                names = "--over",
                paramLabel = "VERSION",
                description =
                        "Save only if this version is current; 0 means that no version exists. Default: always save.")
        @Nullable
        Integer over;

        SettingSaveCommand(String resource) {
            this.resource = resource;
        }

        @Override
        public Integer call() {
            String document =
                    CliPayloadArgumentReader.read(file.equals("-") ? "-" : "@" + Path.of(file), environment());
            CliApiRequest call = CliApiRequest.put("v1", resource + "s", name)
                    .withJson(document)
                    .withExpectedVersion(over);
            JsonNode saved = send(call);
            return output.print(saved, () -> {
                output.printLine(resource + " " + TerminalJsonFormatter.text(saved, idMember(resource)) + " v"
                        + TerminalJsonFormatter.text(saved, "version"));
                output.printWarnings(saved);
            });
        }
    }

    /** JSON member with the name of one document. */
    private static String idMember(String resource) {
        return resource.equals("profile") ? "profile_id" : "name";
    }

    public static CommandLine show(String resource) {
        return GenericApiCallCommand.create(
                "show NAME",
                "Shows one document as JSON; with --json also its version.",
                arguments -> CliApiRequest.get("v1", resource + "s", arguments.getFirst()),
                (_, response) -> TerminalJsonFormatter.pretty(response.path("document")));
    }

    public static CommandLine delete(String resource) {
        return GenericApiCallCommand.create(
                "delete NAME",
                "Deletes one document.",
                arguments -> CliApiRequest.delete("v1", resource + "s", arguments.getFirst()),
                (arguments, _) -> resource + " " + arguments.getFirst() + " deleted");
    }
}
