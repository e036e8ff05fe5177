package dev.semel.server.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** The `profile` and `cohort` commands: the settings commands, plus subscriptions and members. */
final class ProfileCommands {
    private ProfileCommands() {}

    static CommandLine profileCommand(CommandEnvironment environment) {
        var sort = new SettingCommand.SettingResource(
                "profile", "profiles", "profile_id", "Manages recipients of messages and their subscriptions.");
        return SettingCommand.commandLine(environment, sort)
                .addSubcommand(new ProfileSubscribeCommand(environment))
                .addSubcommand(new ProfileUnsubscribeCommand(environment))
                .addSubcommand(new ProfileRevealCommand(environment));
    }

    static CommandLine cohortCommand(CommandEnvironment environment) {
        var sort = new SettingCommand.SettingResource("cohort", "cohorts", "name", "Manages groups of profiles.");
        return SettingCommand.commandLine(environment, sort)
                .addSubcommand(new CohortAddCommand(environment))
                .addSubcommand(new CohortRemoveCommand(environment))
                .addSubcommand(new CohortMembersCommand(environment));
    }

    @Command(name = "subscribe", description = "Subscribes a profile to a topic again.")
    static final class ProfileSubscribeCommand implements Callable<Integer> {
        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

        @Parameters(paramLabel = "PROFILE", index = "0")
        String profile = "";

        @Parameters(paramLabel = "TOPIC", index = "1", description = "A kind of channel, a channel, or an event.")
        String topic = "";

        ProfileSubscribeCommand(CommandEnvironment environment) {
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            return changeSubscription(new TopicSubscription(profile, topic, true), output, connection);
        }
    }

    @Command(name = "unsubscribe", description = "Unsubscribes a profile from a topic.")
    static final class ProfileUnsubscribeCommand implements Callable<Integer> {
        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

        @Parameters(paramLabel = "PROFILE", index = "0")
        String profile = "";

        @Parameters(paramLabel = "TOPIC", index = "1", description = "A kind of channel, a channel, or an event.")
        String topic = "";

        ProfileUnsubscribeCommand(CommandEnvironment environment) {
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            return changeSubscription(new TopicSubscription(profile, topic, false), output, connection);
        }
    }

    @Command(
            name = "reveal",
            description = "Shows a profile with its masked fields. The audit log records the user and the reason.")
    static final class ProfileRevealCommand implements Callable<Integer> {
        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

        @Parameters(paramLabel = "PROFILE")
        String profile = "";

        @Option(names = "--reason", required = true, paramLabel = "TEXT", description = "Why you need to see it.")
        String reason = "";

        ProfileRevealCommand(CommandEnvironment environment) {
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            String body = TerminalJson.compactForRequest(TerminalJson.newObject().put("reason", reason));
            ApiResponse answer = connection.api().send(ApiRequest.post(ApiRequest.path("v1", "profiles", profile, "reveal"), body));
            output.printJson(answer.body());
            return ExitCode.OK;
        }
    }

    private record TopicSubscription(String profile, String topic, boolean subscribed) {}

    private static int changeSubscription(TopicSubscription change, CommandOutput output, ServerConnectionOptions connection) {
        String path = ApiRequest.path("v1", "profiles", change.profile(), "subscriptions", change.topic());
        String body = TerminalJson.compact(TerminalJson.newObject().put("subscribed", change.subscribed()));
        ApiResponse answer = connection.api().send(ApiRequest.put(path, "application/json", body));
        if (output.json) {
            output.printJson(answer.body());
        } else {
            output.printLine(TerminalJson.sanitize(change.profile())
                    + (change.subscribed() ? " gets " : " gets no ")
                    + TerminalJson.sanitize(change.topic()));
        }
        return ExitCode.OK;
    }

    @Command(name = "add", description = "Adds a profile to a cohort.")
    static final class CohortAddCommand implements Callable<Integer> {
        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

        @Parameters(paramLabel = "NAME", index = "0")
        String name = "";

        @Parameters(paramLabel = "PROFILE", index = "1")
        String profile = "";

        CohortAddCommand(CommandEnvironment environment) {
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            String path = ApiRequest.path("v1", "cohorts", name, "members", profile);
            ApiResponse answer = connection.api().send(ApiRequest.put(path, "application/json", "{}"));
            if (output.json) {
                output.printJson(answer.body());
            } else {
                output.printLine(TerminalJson.sanitize(profile) + " is in " + TerminalJson.sanitize(name));
            }
            return ExitCode.OK;
        }
    }

    @Command(name = "remove", description = "Removes a profile from a cohort.")
    static final class CohortRemoveCommand implements Callable<Integer> {
        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

        @Parameters(paramLabel = "NAME", index = "0")
        String name = "";

        @Parameters(paramLabel = "PROFILE", index = "1")
        String profile = "";

        CohortRemoveCommand(CommandEnvironment environment) {
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            ApiResponse answer = connection.api().send(ApiRequest.delete(ApiRequest.path("v1", "cohorts", name, "members", profile)));
            if (output.json) {
                output.printJson(answer.body());
            } else {
                output.printLine(TerminalJson.sanitize(profile) + " is not in " + TerminalJson.sanitize(name));
            }
            return ExitCode.OK;
        }
    }

    @Command(name = "members", description = "Lists the members of a cohort.")
    static final class CohortMembersCommand implements Callable<Integer> {
        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

        @Mixin
        final PagingOptions listing = new PagingOptions();

        @Parameters(paramLabel = "NAME")
        String name = "";

        CohortMembersCommand(CommandEnvironment environment) {
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            ApiResponse answer = connection.api().send(listing.addPaging(ApiRequest.get(ApiRequest.path("v1", "cohorts", name, "members"))));
            if (output.json) {
                output.printJson(answer.body());
                return ExitCode.OK;
            }
            for (JsonNode item : answer.body().path("items")) {
                output.printLine(TerminalJson.text(item, "profile_id"));
            }
            PagingOptions.printFooter(
                    output,
                    answer.body(),
                    "cohort members " + ShellQuoting.quote(name),
                    "no members. Add one: semel cohort add " + ShellQuoting.quote(name) + " PROFILE");
            return ExitCode.OK;
        }
    }
}
