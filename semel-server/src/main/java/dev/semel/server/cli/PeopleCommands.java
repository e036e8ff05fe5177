package dev.semel.server.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** The `profile` and `cohort` commands: the settings commands, plus subscriptions and members. */
final class PeopleCommands {
    private PeopleCommands() {}

    static CommandLine profile(Surroundings environment) {
        var sort = new SettingCommand.Sort(
                "profile", "profiles", "profile_id", "Manages recipients of messages and their subscriptions.");
        return SettingCommand.commandLine(environment, sort)
                .addSubcommand(new Subscribe(environment))
                .addSubcommand(new Unsubscribe(environment))
                .addSubcommand(new Reveal(environment));
    }

    static CommandLine cohort(Surroundings environment) {
        var sort = new SettingCommand.Sort("cohort", "cohorts", "name", "Manages groups of profiles.");
        return SettingCommand.commandLine(environment, sort)
                .addSubcommand(new Add(environment))
                .addSubcommand(new Take(environment))
                .addSubcommand(new Members(environment));
    }

    @Command(name = "subscribe", description = "Subscribes a profile to a topic again.")
    static final class Subscribe implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "PROFILE", index = "0")
        String profile = "";

        @Parameters(paramLabel = "TOPIC", index = "1", description = "A kind of channel, a channel, or an event.")
        String topic = "";

        Subscribe(Surroundings environment) {
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            return changeSubscription(new Said(profile, topic, true), output, connection);
        }
    }

    @Command(name = "unsubscribe", description = "Unsubscribes a profile from a topic.")
    static final class Unsubscribe implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "PROFILE", index = "0")
        String profile = "";

        @Parameters(paramLabel = "TOPIC", index = "1", description = "A kind of channel, a channel, or an event.")
        String topic = "";

        Unsubscribe(Surroundings environment) {
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            return changeSubscription(new Said(profile, topic, false), output, connection);
        }
    }

    @Command(
            name = "reveal",
            description = "Shows a profile with its masked fields. The audit log records the user and the reason.")
    static final class Reveal implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "PROFILE")
        String profile = "";

        @Option(names = "--reason", required = true, paramLabel = "TEXT", description = "Why you need to see it.")
        String reason = "";

        Reveal(Surroundings environment) {
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            String body = Json.compactUnprinted(Json.object().put("reason", reason));
            Answer answer = connection.api().ask(Call.post(Call.path("v1", "profiles", profile, "reveal"), body));
            output.document(answer.body());
            return Exit.DONE;
        }
    }

    private record Said(String profile, String topic, boolean subscribed) {}

    private static int changeSubscription(Said change, Output output, Connection connection) {
        String path = Call.path("v1", "profiles", change.profile(), "subscriptions", change.topic());
        String body = Json.compact(Json.object().put("subscribed", change.subscribed()));
        Answer answer = connection.api().ask(Call.put(path, "application/json", body));
        if (output.json) {
            output.document(answer.body());
        } else {
            output.line(Json.clean(change.profile())
                    + (change.subscribed() ? " gets " : " gets no ")
                    + Json.clean(change.topic()));
        }
        return Exit.DONE;
    }

    @Command(name = "add", description = "Adds a profile to a cohort.")
    static final class Add implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME", index = "0")
        String name = "";

        @Parameters(paramLabel = "PROFILE", index = "1")
        String profile = "";

        Add(Surroundings environment) {
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            String path = Call.path("v1", "cohorts", name, "members", profile);
            Answer answer = connection.api().ask(Call.put(path, "application/json", "{}"));
            if (output.json) {
                output.document(answer.body());
            } else {
                output.line(Json.clean(profile) + " is in " + Json.clean(name));
            }
            return Exit.DONE;
        }
    }

    @Command(name = "remove", description = "Removes a profile from a cohort.")
    static final class Take implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME", index = "0")
        String name = "";

        @Parameters(paramLabel = "PROFILE", index = "1")
        String profile = "";

        Take(Surroundings environment) {
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            Answer answer = connection.api().ask(Call.delete(Call.path("v1", "cohorts", name, "members", profile)));
            if (output.json) {
                output.document(answer.body());
            } else {
                output.line(Json.clean(profile) + " is not in " + Json.clean(name));
            }
            return Exit.DONE;
        }
    }

    @Command(name = "members", description = "Lists the members of a cohort.")
    static final class Members implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Mixin
        final Listing listing = new Listing();

        @Parameters(paramLabel = "NAME")
        String name = "";

        Members(Surroundings environment) {
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            Answer answer = connection.api().ask(listing.page(Call.get(Call.path("v1", "cohorts", name, "members"))));
            if (output.json) {
                output.document(answer.body());
                return Exit.DONE;
            }
            for (JsonNode item : answer.body().path("items")) {
                output.line(Json.text(item, "profile_id"));
            }
            Listing.end(
                    output,
                    answer.body(),
                    "cohort members " + Shell.word(name),
                    "no members. Add one: semel cohort add " + Shell.word(name) + " PROFILE");
            return Exit.DONE;
        }
    }
}
