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

/** `people`: who can log in to the pages. */
@Command(
        name = "people",
        description = "Lists, invites and changes who can log in to the pages.",
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
                    "They are out at once and cannot log in.",
                    "PUT",
                    "",
                    "{\"disabled\":true}",
                    "is disabled"),
            new Turn("enable", "Lets them log in again.", "PUT", "", "{\"disabled\":false}", "may log in again"),
            new Turn("reset", "Makes a link by which they choose another password.", "POST", "reset", "{}", ""),
            new Turn(
                    "take-back",
                    "Takes the link back that somebody was given; it opens nothing any more.",
                    "DELETE",
                    "invitation",
                    "",
                    "has no open link any more"),
            new Turn("log-out", "Ends their sessions.", "DELETE", "sessions", "", "is logged out everywhere"),
            new Turn("remove", "Removes them; they are out at once.", "DELETE", "", "", "is removed"));

    @Spec
    @Nullable
    CommandSpec spec;

    /**
     * What is done to somebody who is there.
     *
     * @param below what of them it is done to; empty for themselves
     * @param said what is said when it is done; empty where the answer is a link
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

    static CommandLine commandLine(Surroundings around) {
        CommandLine people = new CommandLine(new PeopleCommand())
                .addSubcommand(new All(around))
                .addSubcommand(new Invite(around))
                .addSubcommand(new Links(around))
                .addSubcommand(new Give(around))
                .addSubcommand(new Groups(around))
                .addSubcommand(new PasswordCommand(around))
                .addSubcommand(new Open(around));
        for (Turn turn : TURNS) {
            CommandLine one = new CommandLine(new Act(around, turn));
            one.getCommandSpec().usageMessage().description(turn.does());
            people.addSubcommand(turn.word(), one);
        }
        return people;
    }

    @Override
    public Integer call() {
        if (spec == null) {
            throw new IllegalStateException("not wired");
        }
        throw new ParameterException(
                spec.commandLine(),
                "Say what to do: semel people with one of "
                        + String.join(", ", spec.subcommands().keySet()) + ".");
    }

    @Command(name = "list", description = "Lists who can log in, never a password.")
    static final class All extends ListCommand {
        All(Surroundings around) {
            super(around);
        }

        @Override
        Sheet sheet() {
            return Sheet.of(
                            Call.get(Call.path("v1", "people")),
                            "people list",
                            "nobody can log in yet. Invite somebody: semel people invite NAME --role admin")
                    .text("NAME", "name")
                    .text("ROLE", "role")
                    .cell(
                            "GROUPS",
                            person -> person.path("groups")
                                    .valueStream()
                                    .map(group -> Json.clean(group.asString("")))
                                    .collect(Collectors.joining(" ")))
                    .text("LOGS IN WITH", "logs_in_with")
                    .cell("STATUS", person -> person.path("disabled").asBoolean(false) ? output.red("disabled") : "")
                    .time("CHANGED", "changed_at");
        }
    }

    @Command(name = "invitations", description = "Lists the links that were handed out, never what opens anything.")
    static final class Links extends ListCommand {
        Links(Surroundings around) {
            super(around);
        }

        @Override
        Sheet sheet() {
            return Sheet.of(
                            Call.get(Call.path("v1", "invitations")),
                            "people invitations",
                            "no link is open. Invite somebody: semel people invite NAME --role viewer")
                    .text("NAME", "name")
                    .text("FOR", "kind")
                    .text("ROLE", "role")
                    .text("MADE BY", "invited_by")
                    .time("MADE", "invited_at")
                    .cell(
                            "UNTIL",
                            link -> link.path("open").asBoolean(false) ? Json.text(link, "until") : "no longer good");
        }
    }

    @Command(
            name = "invite",
            description = {
                "Makes a link, good once and for seven days, by which somebody sets up a log-in.",
                "The link that the same name was given before ends."
            })
    static final class Invite implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME", description = "How they will be called here.")
        String name = "";

        @Option(
                names = "--role",
                required = true,
                paramLabel = "ROLE",
                description = "viewer, operator, reviewer or admin.")
        String role = "";

        Invite(Surroundings around) {
            this.output = new Output(around);
            this.connection = new Connection(around);
        }

        @Override
        public Integer call() {
            // Somebody who is there would get the role by this, and no link.
            Api api = connection.api();
            Answer answer = api.ask(giving(name, role).with("If-None-Match", "*"));
            return link(output, api, answer);
        }
    }

    @Command(name = "role", description = "Gives somebody another role; it counts at their next request.")
    static final class Give implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME", index = "0")
        String name = "";

        @Parameters(paramLabel = "ROLE", index = "1", description = "viewer, operator, reviewer or admin.")
        String role = "";

        Give(Surroundings around) {
            this.output = new Output(around);
            this.connection = new Connection(around);
        }

        @Override
        public Integer call() {
            Answer answer = connection.api().ask(giving(name, role).with("If-Match", "*"));
            if (output.json) {
                output.document(answer.body());
            } else {
                output.line(Json.clean(name) + " is " + Json.text(answer.body(), "role"));
            }
            return Exit.DONE;
        }
    }

    @Command(name = "groups", description = "Says in which groups somebody decides; none takes them out of all.")
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
                description = "Such as warehouse, who decide what waits for role:warehouse.")
        List<String> groups = List.of();

        Groups(Surroundings around) {
            this.output = new Output(around);
            this.connection = new Connection(around);
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

    @Command(name = "sessions", description = "Lists where somebody is logged in.")
    static final class Open extends ListCommand {
        @Parameters(paramLabel = "NAME")
        String name = "";

        Open(Surroundings around) {
            super(around);
        }

        @Override
        Sheet sheet() {
            return Sheet.of(
                            Call.get(Call.path("v1", "people", name, "sessions")),
                            "people sessions " + Shell.word(name),
                            "logged in nowhere.")
                    .text("SESSION", "session_id")
                    .text("FROM", "address")
                    .time("BEGUN", "begun_at")
                    .text("UNTIL", "until");
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

        Act(Surroundings around, Turn turn) {
            this.turn = turn;
            this.output = new Output(around);
            this.connection = new Connection(around);
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

    private static Call giving(String name, String role) {
        String body = Json.compact(Json.object().put("role", role));
        return Call.put(Call.path("v1", "people", name), "application/json", body);
    }

    private static int link(Output output, Api api, Answer answer) {
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        if (!answer.body().path("invitation").isString()) {
            output.talk("This link was made before and shown then, and only then. Make another one if it is lost.");
            return Exit.DONE;
        }
        String link = Json.text(answer.body(), "invitation");
        output.line(link.startsWith("/") ? api.address() + link : link);
        output.talk("The link of " + Json.text(answer.body(), "name")
                + " is shown this once, works once, and is good for seven days. Hand it over where nobody else"
                + " reads it.");
        return Exit.DONE;
    }
}
