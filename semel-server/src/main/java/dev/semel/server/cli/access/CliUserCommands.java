package dev.semel.server.cli.access;

import dev.semel.server.cli.command.CliApiClient;
import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliCommandOutput;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.GenericApiCallCommand;
import dev.semel.server.cli.command.ShellQuoting;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.util.List;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

public final class CliUserCommands {
    private CliUserCommands() {}

    /** The verbs that change an existing user with one call. */
    public static Object[] actions() {
        return new Object[] {
            GenericApiCallCommand.create(
                    "role NAME ROLE",
                    "Changes the role of a user: viewer, operator, reviewer or admin. The new role applies from the"
                            + " next request.",
                    arguments -> roleCall(arguments.get(0), arguments.get(1)).withHeader("If-Match", "*"),
                    (arguments, user) -> arguments.get(0) + " is " + TerminalJsonFormatter.text(user, "role")),
            action(
                    "disable",
                    "Disables a user and ends all sessions of the user at once.",
                    disabling(true),
                    "is disabled"),
            action("enable", "Lets a disabled user log in again.", disabling(false), "can log in again"),
            action(
                    "revoke-link",
                    "Revokes the open invitation or reset link of a user.",
                    name -> CliApiRequest.delete("v1", "users", name, "invitation"),
                    "has no open link"),
            action(
                    "logout",
                    "Ends all sessions of a user.",
                    name -> CliApiRequest.delete("v1", "users", name, "sessions"),
                    "is logged out everywhere"),
            action(
                    "delete",
                    "Deletes a user and ends all sessions of the user at once.",
                    name -> CliApiRequest.delete("v1", "users", name),
                    "is deleted")
        };
    }

    private static CommandLine action(
            String verb, String description, Function<String, CliApiRequest> request, String result) {
        return GenericApiCallCommand.create(
                verb + " NAME",
                description,
                arguments -> request.apply(arguments.getFirst()),
                (arguments, _) -> arguments.getFirst() + " " + result);
    }

    private static Function<String, CliApiRequest> disabling(boolean disabled) {
        return name -> CliApiRequest.put("v1", "users", name)
                .withJson(TerminalJsonFormatter.newObject().put("disabled", disabled))
                .withHeader("If-Match", "*");
    }

    public static CommandLine invitations() {
        CliListDefinition definition = CliListDefinition.of(
                        CliApiRequest.get("v1", "invitations"),
                        "user invitations",
                        "no open links. Invite a user: semel user invite NAME --role viewer")
                .addText("NAME", "name")
                .addText("KIND", "kind")
                .addText("ROLE", "role")
                .addText("CREATED BY", "invited_by")
                .addTime("CREATED", "invited_at")
                .addColumn(
                        "EXPIRES",
                        link -> link.path("open").asBoolean(false)
                                ? TerminalJsonFormatter.text(link, "until")
                                : "not valid any more");
        return CliListCommand.create(
                "invitations", "Lists invitation and reset links without their secret tokens.", _ -> definition);
    }

    public static CommandLine list() {
        CliListDefinition definition = CliListDefinition.of(
                        CliApiRequest.get("v1", "users"),
                        "user list",
                        "no users yet. Invite one: semel user invite NAME --role admin")
                .addText("NAME", "name")
                .addText("ROLE", "role")
                .addTexts("GROUPS", "groups", " ")
                .addText("LOGS IN WITH", "login_method")
                .addCell(
                        "STATUS",
                        (user, output, _) -> user.path("disabled").asBoolean(false) ? output.red("disabled") : "")
                .addTime("CHANGED", "changed_at");
        return CliListCommand.create("Lists users without their passwords.", definition);
    }

    @Command(
            name = "invite",
            description = {
                "Creates a link with which a user sets up a login. The link works once, within 7 days.",
                "An earlier link for the same name stops working."
            })
    public static final class UserInviteCommand extends CliApiCommand {
        @Parameters(paramLabel = "NAME", description = "Name of the user.")
        String name = "";

        @Option(
                names = "--role",
                required = true,
                paramLabel = "ROLE",
                description = "viewer, operator, reviewer or admin.")
        String role = "";

        @Override
        public Integer call() {
            // For an existing user this call would change the role and return no link.
            return link(output, connection.api(), roleCall(name, role).withExpectedVersion(0));
        }
    }

    @Command(name = "reset", description = "Creates a link with which the user chooses a new password.")
    public static final class UserResetCommand extends CliApiCommand {
        @Parameters(paramLabel = "NAME")
        String name = "";

        @Override
        public Integer call() {
            return link(
                    output,
                    connection.api(),
                    CliApiRequest.post("v1", "users", name, "reset").withJson("{}"));
        }
    }

    @Command(
            name = "groups",
            description =
                    "Sets the groups in which a user decides reviews. Without GROUP, removes the user from all groups.")
    public static final class UserGroupsCommand extends CliApiCommand {
        @Parameters(paramLabel = "NAME", index = "0")
        String name = "";

        @Parameters(
                paramLabel = "GROUP",
                index = "1..*",
                arity = "0..*",
                description = "Name of a group such as warehouse. Its members decide reviews for role:warehouse.")
        List<String> groups = List.of();

        @Override
        public Integer call() {
            ObjectNode body = TerminalJsonFormatter.newObject();
            groups.forEach(body.putArray("groups")::add);
            CliApiRequest call = CliApiRequest.put("v1", "users", name).withJson(body);
            JsonNode answer = send(call.withHeader("If-Match", "*"));
            return print(
                    answer,
                    TerminalJsonFormatter.sanitize(name)
                            + (groups.isEmpty()
                                    ? " is in no group"
                                    : " is in " + TerminalJsonFormatter.sanitize(String.join(", ", groups))));
        }
    }

    public static CommandLine sessions() {
        return CliListCommand.create(
                "sessions NAME",
                "Lists the sessions of a user.",
                arguments -> CliListDefinition.of(
                                CliApiRequest.get("v1", "users", arguments.getFirst(), "sessions"),
                                "user sessions " + ShellQuoting.quote(arguments.getFirst()),
                                "no sessions")
                        .addText("SESSION", "session_id")
                        .addText("FROM", "address")
                        .addTime("STARTED", "created_at")
                        .addText("EXPIRES", "until"));
    }

    private static CliApiRequest roleCall(String name, String role) {
        return CliApiRequest.put("v1", "users", name)
                .withJson(TerminalJsonFormatter.newObject().put("role", role));
    }

    private static int link(CliCommandOutput output, CliApiClient api, CliApiRequest call) {
        JsonNode invited = api.send(call).body();
        return output.print(invited, () -> {
            if (!invited.path("invitation").isString()) {
                output.printMessage(
                        "The server created this link earlier and showed it then. If it is lost, create another link.");
                return;
            }
            String link = TerminalJsonFormatter.text(invited, "invitation");
            output.printLine(link.startsWith("/") ? api.address() + link : link);
            output.printMessage("The link for " + TerminalJsonFormatter.text(invited, "name")
                    + " is shown only now. It works once, within 7 days. Send it over a private channel.");
        });
    }
}
