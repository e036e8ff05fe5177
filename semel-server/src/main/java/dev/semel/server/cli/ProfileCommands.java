package dev.semel.server.cli;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** The commands of `semel profile` and `semel cohort` that other settings do not have: subscriptions and members. */
final class ProfileCommands {
    private ProfileCommands() {}

    static CommandLine subscribe(CommandEnvironment environment) {
        return CallCommand.create(
                environment,
                "subscribe PROFILE TOPIC",
                "Subscribes a profile to a topic again: a kind of channel, a channel, or an event.",
                arguments -> changeSubscription(arguments, true),
                (arguments, _) -> arguments.get(0) + " gets " + arguments.get(1));
    }

    static CommandLine unsubscribe(CommandEnvironment environment) {
        return CallCommand.create(
                environment,
                "unsubscribe PROFILE TOPIC",
                "Unsubscribes a profile from a topic: a kind of channel, a channel, or an event.",
                arguments -> changeSubscription(arguments, false),
                (arguments, _) -> arguments.get(0) + " gets no " + arguments.get(1));
    }

    private static ApiRequest changeSubscription(List<String> arguments, boolean subscribed) {
        String path = ApiRequest.path("v1", "profiles", arguments.get(0), "subscriptions", arguments.get(1));
        return ApiRequest.put(
                path,
                "application/json",
                TerminalJson.compact(TerminalJson.newObject().put("subscribed", subscribed)));
    }

    static CommandLine addMember(CommandEnvironment environment) {
        return CallCommand.create(
                environment,
                "add COHORT PROFILE",
                "Adds a profile to a cohort.",
                arguments -> ApiRequest.put(member(arguments), "application/json", "{}"),
                (arguments, _) -> arguments.get(1) + " is in " + arguments.get(0));
    }

    static CommandLine removeMember(CommandEnvironment environment) {
        return CallCommand.create(
                environment,
                "remove COHORT PROFILE",
                "Removes a profile from a cohort.",
                arguments -> ApiRequest.delete(member(arguments)),
                (arguments, _) -> arguments.get(1) + " is not in " + arguments.get(0));
    }

    private static String member(List<String> arguments) {
        return ApiRequest.path("v1", "cohorts", arguments.get(0), "members", arguments.get(1));
    }

    @Command(name = "members", description = "Lists the members of a cohort.")
    static final class CohortMembersCommand extends ListCommand {
        @Parameters(paramLabel = "COHORT")
        String name = "";

        CohortMembersCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        ListDefinition listDefinition() {
            return ListDefinition.of(
                            ApiRequest.get(ApiRequest.path("v1", "cohorts", name, "members")),
                            "cohort members " + ShellQuoting.quote(name),
                            "no members. Add one: semel cohort add " + ShellQuoting.quote(name) + " PROFILE")
                    .addText("PROFILE", "profile_id");
        }
    }
}
