package dev.semel.server.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** What `profile` and `cohort` have beyond other settings: opt-outs and members. */
final class PeopleCommands {
    private PeopleCommands() {}

    static CommandLine profile(Surroundings around) {
        var sort = new SettingCommand.Sort(
                "profile", "profiles", "profile_id", "Keeps people who get messages, and what they unsubscribed from.");
        return SettingCommand.commandLine(around, sort)
                .addSubcommand(new Subscribe(around))
                .addSubcommand(new Unsubscribe(around))
                .addSubcommand(new Reveal(around));
    }

    static CommandLine cohort(Surroundings around) {
        var sort = new SettingCommand.Sort("cohort", "cohorts", "name", "Keeps groups of profiles.");
        return SettingCommand.commandLine(around, sort)
                .addSubcommand(new Add(around))
                .addSubcommand(new Take(around))
                .addSubcommand(new Members(around));
    }

    @Command(name = "subscribe", description = "Takes an opt-out back.")
    static final class Subscribe implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "PROFILE", index = "0")
        String profile = "";

        @Parameters(paramLabel = "TOPIC", index = "1", description = "A kind of channel, a channel, or an event.")
        String topic = "";

        Subscribe(Surroundings around) {
            this.output = new Output(around);
            this.connection = new Connection(around);
        }

        @Override
        public Integer call() {
            return say(new Said(profile, topic, true), output, connection);
        }
    }

    @Command(name = "unsubscribe", description = "Nothing of this kind is sent to them any more.")
    static final class Unsubscribe implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "PROFILE", index = "0")
        String profile = "";

        @Parameters(paramLabel = "TOPIC", index = "1", description = "A kind of channel, a channel, or an event.")
        String topic = "";

        Unsubscribe(Surroundings around) {
            this.output = new Output(around);
            this.connection = new Connection(around);
        }

        @Override
        public Integer call() {
            return say(new Said(profile, topic, false), output, connection);
        }
    }

    @Command(
            name = "reveal",
            description = "Shows a profile with what is masked of it. Who asked, and why, goes into the audit.")
    static final class Reveal implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "PROFILE")
        String profile = "";

        @Option(names = "--reason", required = true, paramLabel = "TEXT", description = "Why you need to see it.")
        String reason = "";

        Reveal(Surroundings around) {
            this.output = new Output(around);
            this.connection = new Connection(around);
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

    private static int say(Said said, Output output, Connection connection) {
        String path = Call.path("v1", "profiles", said.profile(), "subscriptions", said.topic());
        String body = Json.compact(Json.object().put("subscribed", said.subscribed()));
        Answer answer = connection.api().ask(Call.put(path, "application/json", body));
        if (output.json) {
            output.document(answer.body());
        } else {
            output.line(Json.clean(said.profile())
                    + (said.subscribed() ? " gets " : " gets no ")
                    + Json.clean(said.topic()));
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

        Add(Surroundings around) {
            this.output = new Output(around);
            this.connection = new Connection(around);
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

    @Command(name = "remove", description = "Takes a profile out of a cohort.")
    static final class Take implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME", index = "0")
        String name = "";

        @Parameters(paramLabel = "PROFILE", index = "1")
        String profile = "";

        Take(Surroundings around) {
            this.output = new Output(around);
            this.connection = new Connection(around);
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

    @Command(name = "members", description = "Lists who is in a cohort.")
    static final class Members implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Mixin
        final Listing listing = new Listing();

        @Parameters(paramLabel = "NAME")
        String name = "";

        Members(Surroundings around) {
            this.output = new Output(around);
            this.connection = new Connection(around);
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
                    "nobody. Add somebody: semel cohort add " + Shell.word(name) + " PROFILE");
            return Exit.DONE;
        }
    }
}
