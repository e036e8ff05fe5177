package dev.semel.server.cli;

import java.util.List;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The commands of `semel user`: dashboard users, their invitations, roles, groups and sessions. */
final class UserCommands {
    private UserCommands() {}

    /** The verbs that change an existing user with one call. */
    static Object[] actions(CommandEnvironment environment) {
        return new Object[] {
            CallCommand.create(
                    environment,
                    "role NAME ROLE",
                    "Changes the role of a user: viewer, operator, reviewer or admin. Effective at the next request.",
                    arguments -> roleCall(arguments.get(0), arguments.get(1)).withHeader("If-Match", "*"),
                    (arguments, user) -> arguments.get(0) + " is " + TerminalJson.text(user, "role")),
            action(
                    environment,
                    "disable",
                    "Disables a user and ends all sessions at once.",
                    disabling(true),
                    "is disabled"),
            action(environment, "enable", "Lets a disabled user log in again.", disabling(false), "can log in again"),
            action(
                    environment,
                    "revoke-link",
                    "Revokes the open invitation or reset link of a user.",
                    name -> ApiRequest.delete(ApiRequest.path("v1", "users", name, "invitation")),
                    "has no open link"),
            action(
                    environment,
                    "logout",
                    "Ends all sessions of a user.",
                    name -> ApiRequest.delete(ApiRequest.path("v1", "users", name, "sessions")),
                    "is logged out everywhere"),
            action(
                    environment,
                    "delete",
                    "Deletes a user and ends all sessions at once.",
                    name -> ApiRequest.delete(ApiRequest.path("v1", "users", name)),
                    "is deleted")
        };
    }

    private static CommandLine action(
            CommandEnvironment environment,
            String verb,
            String description,
            Function<String, ApiRequest> request,
            String result) {
        return CallCommand.create(
                environment,
                verb + " NAME",
                description,
                arguments -> request.apply(arguments.getFirst()),
                (arguments, _) -> arguments.getFirst() + " " + result);
    }

    private static Function<String, ApiRequest> disabling(boolean disabled) {
        String body = TerminalJson.compact(TerminalJson.newObject().put("disabled", disabled));
        return name -> ApiRequest.put(ApiRequest.path("v1", "users", name), "application/json", body)
                .withHeader("If-Match", "*");
    }

    static CommandLine invitations(CommandEnvironment environment) {
        ListDefinition definition = ListDefinition.of(
                        ApiRequest.get(ApiRequest.path("v1", "invitations")),
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
                                ? TerminalJson.text(link, "until")
                                : "not valid any more");
        return ListCommand.create(environment, "Lists invitation and reset links, never their tokens.", definition)
                .setCommandName("invitations");
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
                            "user list",
                            "no users yet. Invite one: semel user invite NAME --role admin")
                    .addText("NAME", "name")
                    .addText("ROLE", "role")
                    .addTexts("GROUPS", "groups", " ")
                    .addText("LOGS IN WITH", "login_method")
                    .addColumn("STATUS", user -> user.path("disabled").asBoolean(false) ? output.red("disabled") : "")
                    .addTime("CHANGED", "changed_at");
        }
    }

    @Command(
            name = "invite",
            description = {
                "Creates a link with which a user sets up a login. It works once, within 7 days.",
                "An earlier link for the same name stops working."
            })
    static final class UserInviteCommand extends ApiCommand {
        @Parameters(paramLabel = "NAME", description = "Name of the user.")
        String name = "";

        @Option(
                names = "--role",
                required = true,
                paramLabel = "ROLE",
                description = "viewer, operator, reviewer or admin.")
        String role = "";

        UserInviteCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            // For an existing user this call would change the role and return no link.
            ApiClient api = connection.api();
            ApiResponse answer = api.send(roleCall(name, role).withHeader("If-None-Match", "*"));
            return link(output, api, answer);
        }
    }

    @Command(name = "reset", description = "Creates a link with which the user chooses a new password.")
    static final class UserResetCommand extends ApiCommand {
        @Parameters(paramLabel = "NAME")
        String name = "";

        UserResetCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            ApiClient api = connection.api();
            return link(output, api, api.send(ApiRequest.post(ApiRequest.path("v1", "users", name, "reset"), "{}")));
        }
    }

    @Command(
            name = "groups",
            description =
                    "Sets the groups in which a user decides reviews. Without GROUP, removes the user" + " from all.")
    static final class UserGroupsCommand extends ApiCommand {
        @Parameters(paramLabel = "NAME", index = "0")
        String name = "";

        @Parameters(
                paramLabel = "GROUP",
                index = "1..*",
                arity = "0..*",
                description = "Such as warehouse, whose members decide reviews for role:warehouse.")
        List<String> groups = List.of();

        UserGroupsCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            ObjectNode body = TerminalJson.newObject();
            ArrayNode list = body.putArray("groups");
            groups.forEach(list::add);
            ApiRequest call = ApiRequest.put(
                    ApiRequest.path("v1", "users", name), "application/json", TerminalJson.compact(body));
            JsonNode answer = send(call.withHeader("If-Match", "*"));
            return print(
                    answer,
                    TerminalJson.sanitize(name)
                            + (groups.isEmpty()
                                    ? " is in no group"
                                    : " is in " + TerminalJson.sanitize(String.join(", ", groups))));
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
                            "user sessions " + ShellQuoting.quote(name),
                            "no sessions")
                    .addText("SESSION", "session_id")
                    .addText("FROM", "address")
                    .addTime("STARTED", "created_at")
                    .addText("EXPIRES", "until");
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
            output.printMessage("This link was created earlier, and a link is shown only once. Create another one if it"
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
