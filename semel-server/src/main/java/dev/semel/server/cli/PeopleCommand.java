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
final class PeopleCommand implements Callable<Integer> {
    private static final List<Turn> TURNS = List.of(
            new Turn(
                    "disable",
                    "Disables a user and ends all sessions at once.",
                    "PUT",
                    "",
                    "{\"disabled\":true}",
                    "is disabled"),
            new Turn("enable", "Lets a disabled user log in again.", "PUT", "", "{\"disabled\":false}", "can log in again"),
            new Turn("reset", "Creates a link with which the user chooses a new password.", "POST", "reset", "{}", ""),
            new Turn(
                    "take-back",
                    "Revokes the open invitation or reset link of a user.",
                    "DELETE",
                    "invitation",
                    "",
                    "has no open link"),
            new Turn("log-out", "Ends all sessions of a user.", "DELETE", "sessions", "", "is logged out everywhere"),
            new Turn("remove", "Removes a user and ends all sessions at once.", "DELETE", "", "", "is removed"));

    @Spec
    @Nullable
    CommandSpec spec;

    /**
     * A change to an existing user.
     *
     * @param below subpath of the user's resource; empty for the user itself
     * @param said printed after success; empty if the response contains a link
     */
    private record Turn(String word, String does, String method, String below, String body, String said) {
        Call call(String name) {
            String path = below.isEmpty() ? Call.path("v1", "people", name) : Call.path("v1", "people", name, below);
            return switch (method) {
                case "PUT" -> Call.put(path, "application/json", body).with("If-Match", "*");
                case "POST" -> Call.post(path, body);
                default -> Call.delete(path);
            };
        }
    }

    static CommandLine commandLine(Surroundings environment) {
        CommandLine command = new CommandLine(new PeopleCommand())
                .addSubcommand(new All(environment))
                .addSubcommand(new Invite(environment))
                .addSubcommand(new Links(environment))
                .addSubcommand(new Give(environment))
                .addSubcommand(new Groups(environment))
                .addSubcommand(new PasswordCommand(environment))
                .addSubcommand(new Open(environment));
        for (Turn turn : TURNS) {
            CommandLine one = new CommandLine(new Act(environment, turn));
            one.getCommandSpec().usageMessage().description(turn.does());
            command.addSubcommand(turn.word(), one);
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
    static final class All extends ListCommand {
        All(Surroundings environment) {
            super(environment);
        }

        @Override
        Sheet sheet() {
            return Sheet.of(
                            Call.get(Call.path("v1", "people")),
                            "people list",
                            "no users yet. Invite one: semel people invite NAME --role admin")
                    .text("NAME", "name")
                    .text("ROLE", "role")
                    .cell(
                            "GROUPS",
                            user -> user.path("groups")
                                    .valueStream()
                                    .map(group -> Json.clean(group.asString("")))
                                    .collect(Collectors.joining(" ")))
                    .text("LOGS IN WITH", "logs_in_with")
                    .cell("STATUS", user -> user.path("disabled").asBoolean(false) ? output.red("disabled") : "")
                    .time("CHANGED", "changed_at");
        }
    }

    @Command(name = "invitations", description = "Lists invitation and reset links, never their tokens.")
    static final class Links extends ListCommand {
        Links(Surroundings environment) {
            super(environment);
        }

        @Override
        Sheet sheet() {
            return Sheet.of(
                            Call.get(Call.path("v1", "invitations")),
                            "people invitations",
                            "no open links. Invite a user: semel people invite NAME --role viewer")
                    .text("NAME", "name")
                    .text("KIND", "kind")
                    .text("ROLE", "role")
                    .text("CREATED BY", "invited_by")
                    .time("CREATED", "invited_at")
                    .cell(
                            "EXPIRES",
                            link -> link.path("open").asBoolean(false) ? Json.text(link, "until") : "not valid any more");
        }
    }

    @Command(
            name = "invite",
            description = {
                "Creates a link with which a user sets up a login. It works once, within 7 days.",
                "An earlier link for the same name stops working."
            })
    static final class Invite implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME", description = "Name of the user.")
        String name = "";

        @Option(
                names = "--role",
                required = true,
                paramLabel = "ROLE",
                description = "viewer, operator, reviewer or admin.")
        String role = "";

        Invite(Surroundings environment) {
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            // For an existing user this call would change the role and return no link.
            Api api = connection.api();
            Answer answer = api.ask(roleCall(name, role).with("If-None-Match", "*"));
            return link(output, api, answer);
        }
    }

    @Command(name = "role", description = "Changes the role of a user, effective at the next request.")
    static final class Give implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME", index = "0")
        String name = "";

        @Parameters(paramLabel = "ROLE", index = "1", description = "viewer, operator, reviewer or admin.")
        String role = "";

        Give(Surroundings environment) {
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            Answer answer = connection.api().ask(roleCall(name, role).with("If-Match", "*"));
            if (output.json) {
                output.document(answer.body());
            } else {
                output.line(Json.clean(name) + " is " + Json.text(answer.body(), "role"));
            }
            return Exit.DONE;
        }
    }

    @Command(name = "groups", description =
            "Sets the groups in which a user decides reviews. Without GROUP, removes the user"
                    + " from all.")
    static final class Groups implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME", index = "0")
        String name = "";

        @Parameters(
                paramLabel = "GROUP",
                index = "1..*",
                arity = "0..*",
                description = "Such as warehouse, whose members decide reviews for role:warehouse.")
        List<String> groups = List.of();

        Groups(Surroundings environment) {
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            ObjectNode body = Json.object();
            ArrayNode list = body.putArray("groups");
            groups.forEach(list::add);
            Call call = Call.put(Call.path("v1", "people", name), "application/json", Json.compact(body));
            Answer answer = connection.api().ask(call.with("If-Match", "*"));
            if (output.json) {
                output.document(answer.body());
            } else {
                output.line(Json.clean(name)
                        + (groups.isEmpty() ? " is in no group" : " is in " + Json.clean(String.join(", ", groups))));
            }
            return Exit.DONE;
        }
    }

    @Command(name = "sessions", description = "Lists the sessions of a user.")
    static final class Open extends ListCommand {
        @Parameters(paramLabel = "NAME")
        String name = "";

        Open(Surroundings environment) {
            super(environment);
        }

        @Override
        Sheet sheet() {
            return Sheet.of(
                            Call.get(Call.path("v1", "people", name, "sessions")),
                            "people sessions " + Shell.word(name),
                            "no sessions")
                    .text("SESSION", "session_id")
                    .text("FROM", "address")
                    .time("STARTED", "begun_at")
                    .text("EXPIRES", "until");
        }
    }

    @Command
    static final class Act implements Callable<Integer> {
        private final Turn turn;

        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME")
        String name = "";

        Act(Surroundings environment, Turn turn) {
            this.turn = turn;
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            Api api = connection.api();
            Answer answer = api.ask(turn.call(name));
            if (turn.said().isEmpty()) {
                return link(output, api, answer);
            }
            if (output.json) {
                output.document(answer.body());
            } else {
                output.line(Json.clean(name) + " " + turn.said());
            }
            return Exit.DONE;
        }
    }

    private static Call roleCall(String name, String role) {
        String body = Json.compact(Json.object().put("role", role));
        return Call.put(Call.path("v1", "people", name), "application/json", body);
    }

    private static int link(Output output, Api api, Answer answer) {
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        if (!answer.body().path("invitation").isString()) {
            output.talk(
                    "This link was created earlier, and a link is shown only once. Create another one if it"
                            + " is lost.");
            return Exit.DONE;
        }
        String link = Json.text(answer.body(), "invitation");
        output.line(link.startsWith("/") ? api.address() + link : link);
        output.talk("The link for " + Json.text(answer.body(), "name")
                + " is shown only now. It works once, within 7 days. Send it over a private channel.");
        return Exit.DONE;
    }
}
