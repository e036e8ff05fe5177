package dev.semel.server.cli.setting;

import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.GenericApiCallCommand;
import dev.semel.server.cli.command.ShellQuoting;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.util.List;
import picocli.CommandLine;

/** The commands of `semel profile` and `semel cohort` that other settings do not have: subscriptions and members. */
public final class CliRecipientProfileCommands {
    private CliRecipientProfileCommands() {}

    public static CommandLine subscribe() {
        return GenericApiCallCommand.create(
                "subscribe PROFILE TOPIC",
                "Subscribes a profile to a topic again. A topic is a channel kind, a channel, or a notification.",
                arguments -> changeSubscription(arguments, true),
                (arguments, _) -> arguments.get(0) + " gets " + arguments.get(1));
    }

    public static CommandLine unsubscribe() {
        return GenericApiCallCommand.create(
                "unsubscribe PROFILE TOPIC",
                "Unsubscribes a profile from a topic. A topic is a channel kind, a channel, or a notification.",
                arguments -> changeSubscription(arguments, false),
                (arguments, _) -> arguments.get(0) + " gets no " + arguments.get(1));
    }

    private static CliApiRequest changeSubscription(List<String> arguments, boolean subscribed) {
        return CliApiRequest.put("v1", "profiles", arguments.get(0), "subscriptions", arguments.get(1))
                .withJson(TerminalJsonFormatter.newObject().put("subscribed", subscribed));
    }

    public static CommandLine addMember() {
        return GenericApiCallCommand.create(
                "add COHORT PROFILE",
                "Adds a profile to a cohort.",
                arguments -> CliApiRequest.put(member(arguments)).withJson("{}"),
                (arguments, _) -> arguments.get(1) + " is in " + arguments.get(0));
    }

    public static CommandLine removeMember() {
        return GenericApiCallCommand.create(
                "remove COHORT PROFILE",
                "Removes a profile from a cohort.",
                arguments -> CliApiRequest.delete(member(arguments)),
                (arguments, _) -> arguments.get(1) + " is not in " + arguments.get(0));
    }

    private static String[] member(List<String> arguments) {
        return new String[] {"v1", "cohorts", arguments.get(0), "members", arguments.get(1)};
    }

    public static CommandLine members() {
        return CliListCommand.create(
                "members COHORT",
                "Lists the members of a cohort.",
                arguments -> CliListDefinition.of(
                                CliApiRequest.get("v1", "cohorts", arguments.getFirst(), "members"),
                                "cohort members " + ShellQuoting.quote(arguments.getFirst()),
                                "no members. Add one: semel cohort add " + ShellQuoting.quote(arguments.getFirst())
                                        + " PROFILE")
                        .addText("PROFILE", "profile_id"));
    }
}
