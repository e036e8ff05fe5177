package dev.semel.server.cli;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** `semel people`: manages the users who can log in to the dashboard. */
@Command(
        name = "people",
        description = "Manages dashboard users: invitations, roles, groups, passwords and sessions.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel people invite ada --role operator",
            "  semel people take-back ada",
            "  semel people role ada viewer",
            "  semel people groups ada warehouse finance",
            "  semel people password ada",
            "  semel people disable ada"
        })
final class UserCommand implements Callable<Integer> {
    private static final List<UserAction> TURNS = List.of(
            new UserAction(
                    "disable",
                    "Disables a user and ends all sessions at once.",
                    "PUT",
                    "",
                    "{\"disabled\":true}",
                    "is disabled"),
            new UserAction("enable", "Lets a disabled user log in again.", "PUT", "", "{\"disabled\":false}", "can log in again"),
            new UserAction("reset", "Creates a link with which the user chooses a new password.", "POST", "reset", "{}", ""),
            new UserAction(
                    "take-back",
                    "Revokes the open invitation or reset link of a user.",
                    "DELETE",
                    "invitation",
                    "",
                    "has no open link"),
            new UserAction("log-out", "Ends all sessions of a user.", "DELETE", "sessions", "", "is logged out everywhere"),
            new UserAction("remove", "Removes a user and ends all sessions at once.", "DELETE", "", "", "is removed"));

    @Spec
    @Nullable
    CommandSpec spec;

    /**
     * A change to an existing user.
     *
     * @param subpath subpath of the user's resource; empty for the user itself
     * @param resultText printed after success; empty if the response contains a link
     */
    private record UserAction(String name, String description, String method, String subpath, String body, String resultText) {
        ApiRequest call(String name) {
            String path = subpath.isEmpty() ? ApiRequest.path("v1", "users", name) : ApiRequest.path("v1", "users", name, subpath);
            return switch (method) {
                case "PUT" -> ApiRequest.put(path, "application/json", body).withHeader("If-Match", "*");
                case "POST" -> ApiRequest.post(path, body);
                default -> ApiRequest.delete(path);
            };
        }
    }

    static CommandLine commandLine(CommandEnvironment environment) {
        CommandLine command = new CommandLine(new UserCommand())
                .addSubcommand(new UserListCommand(environment))
                .addSubcommand(new UserInviteCommand(environment))
                .addSubcommand(new InvitationListCommand(environment))
                .addSubcommand(new UserRoleCommand(environment))
                .addSubcommand(new UserGroupsCommand(environment))
                .addSubcommand(new PasswordCommand(environment))
                .addSubcommand(new SessionListCommand(environment));
        for (UserAction turn : TURNS) {
            CommandLine one = new CommandLine(new UserActionCommand(environment, turn));
            one.getCommandSpec().usageMessage().description(turn.description());
            command.addSubcommand(turn.name(), one);
        }
        return command;
    }

    @Override
    public Integer call() {
        if (spec == null) {
            throw new IllegalStateException("not wired");
        }
        throw new ParameterException(
                spec.commandLine(),
                "Missing subcommand: semel people with one of "
                        + String.join(", ", spec.subcommands().keySet()) + ".");
    }

    @Command(name = "list", description = "Lists users, never their passwords.")
    static final class UserListCommand extends ListCommand {
        UserListCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        ListDefinition listDefinition() {
            return ListDefinition.of(
                            ApiRequest.get(ApiRequest.path("v1", "users")),
                            "people list",
                            "no users yet. Invite one: semel people invite NAME --role admin")
                    .addText("NAME", "name")
                    .addText("ROLE", "role")
                    .addColumn(
                            "GROUPS",
                            user -> user.path("groups")
                                    .valueStream()
                                    .map(group -> TerminalJson.sanitize(group.asString("")))
                                    .collect(Collectors.joining(" ")))
                    .addText("LOGS IN WITH", "login_method")
                    .addColumn("STATUS", user -> user.path("disabled").asBoolean(false) ? output.red("disabled") : "")
                    .addTime("CHANGED", "changed_at");
        }
    }

    @Command(name = "invitations", description = "Lists invitation and reset links, never their tokens.")
    static final class InvitationListCommand extends ListCommand {
        InvitationListCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        ListDefinition listDefinition() {
            return ListDefinition.of(
                            ApiRequest.get(ApiRequest.path("v1", "invitations")),
                            "people invitations",
                            "no open links. Invite a user: semel people invite NAME --role viewer")
                    .addText("NAME", "name")
                    .addText("KIND", "kind")
                    .addText("ROLE", "role")
                    .addText("CREATED BY", "invited_by")
                    .addTime("CREATED", "invited_at")
                    .addColumn(
                            "EXPIRES",
                            link -> link.path("open").asBoolean(false) ? TerminalJson.text(link, "until") : "not valid any more");
        }
    }

    @Command(
            name = "invite",
            description = {
                "Creates a link with which a user sets up a login. It works once, within 7 days.",
                "An earlier link for the same name stops working."
            })
    static final class UserInviteCommand implements Callable<Integer> {
        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

        @Parameters(paramLabel = "NAME", description = "Name of the user.")
        String name = "";

        @Option(
                names = "--role",
                required = true,
                paramLabel = "ROLE",
                description = "viewer, operator, reviewer or admin.")
        String role = "";

        UserInviteCommand(CommandEnvironment environment) {
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            // For an existing user this call would change the role and return no link.
            ApiClient api = connection.api();
            ApiResponse answer = api.send(roleCall(name, role).withHeader("If-None-Match", "*"));
            return link(output, api, answer);
        }
    }

    @Command(name = "role", description = "Changes the role of a user, effective at the next request.")
    static final class UserRoleCommand implements Callable<Integer> {
        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

        @Parameters(paramLabel = "NAME", index = "0")
        String name = "";

        @Parameters(paramLabel = "ROLE", index = "1", description = "viewer, operator, reviewer or admin.")
        String role = "";

        UserRoleCommand(CommandEnvironment environment) {
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            ApiResponse answer = connection.api().send(roleCall(name, role).withHeader("If-Match", "*"));
            if (output.json) {
                output.printJson(answer.body());
            } else {
                output.printLine(TerminalJson.sanitize(name) + " is " + TerminalJson.text(answer.body(), "role"));
            }
            return ExitCode.OK;
        }
    }

    @Command(name = "groups", description =
            "Sets the groups in which a user decides reviews. Without GROUP, removes the user"
                    + " from all.")
    static final class UserGroupsCommand implements Callable<Integer> {
        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

        @Parameters(paramLabel = "NAME", index = "0")
        String name = "";

        @Parameters(
                paramLabel = "GROUP",
                index = "1..*",
                arity = "0..*",
                description = "Such as warehouse, whose members decide reviews for role:warehouse.")
        List<String> groups = List.of();

        UserGroupsCommand(CommandEnvironment environment) {
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            ObjectNode body = TerminalJson.newObject();
            ArrayNode list = body.putArray("groups");
            groups.forEach(list::add);
            ApiRequest call = ApiRequest.put(ApiRequest.path("v1", "users", name), "application/json", TerminalJson.compact(body));
            ApiResponse answer = connection.api().send(call.withHeader("If-Match", "*"));
            if (output.json) {
                output.printJson(answer.body());
            } else {
                output.printLine(TerminalJson.sanitize(name)
                        + (groups.isEmpty() ? " is in no group" : " is in " + TerminalJson.sanitize(String.join(", ", groups))));
            }
            return ExitCode.OK;
        }
    }

    @Command(name = "sessions", description = "Lists the sessions of a user.")
    static final class SessionListCommand extends ListCommand {
        @Parameters(paramLabel = "NAME")
        String name = "";

        SessionListCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        ListDefinition listDefinition() {
            return ListDefinition.of(
                            ApiRequest.get(ApiRequest.path("v1", "users", name, "sessions")),
                            "people sessions " + ShellQuoting.quote(name),
                            "no sessions")
                    .addText("SESSION", "session_id")
                    .addText("FROM", "address")
                    .addTime("STARTED", "created_at")
                    .addText("EXPIRES", "until");
        }
    }

    @Command
    static final class UserActionCommand implements Callable<Integer> {
        private final UserAction turn;

        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

        @Parameters(paramLabel = "NAME")
        String name = "";

        UserActionCommand(CommandEnvironment environment, UserAction turn) {
            this.turn = turn;
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            ApiClient api = connection.api();
            ApiResponse answer = api.send(turn.call(name));
            if (turn.resultText().isEmpty()) {
                return link(output, api, answer);
            }
            if (output.json) {
                output.printJson(answer.body());
            } else {
                output.printLine(TerminalJson.sanitize(name) + " " + turn.resultText());
            }
            return ExitCode.OK;
        }
    }

    private static ApiRequest roleCall(String name, String role) {
        String body = TerminalJson.compact(TerminalJson.newObject().put("role", role));
        return ApiRequest.put(ApiRequest.path("v1", "users", name), "application/json", body);
    }

    private static int link(CommandOutput output, ApiClient api, ApiResponse answer) {
        if (output.json) {
            output.printJson(answer.body());
            return ExitCode.OK;
        }
        if (!answer.body().path("invitation").isString()) {
            output.printMessage(
                    "This link was created earlier, and a link is shown only once. Create another one if it"
                            + " is lost.");
            return ExitCode.OK;
        }
        String link = TerminalJson.text(answer.body(), "invitation");
        output.printLine(link.startsWith("/") ? api.address() + link : link);
        output.printMessage("The link for " + TerminalJson.text(answer.body(), "name")
                + " is shown only now. It works once, within 7 days. Send it over a private channel.");
        return ExitCode.OK;
    }
}
