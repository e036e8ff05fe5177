package dev.semel.server.cli.trigger;

import dev.semel.server.cli.command.CliApiClient;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliApiResponse;
import dev.semel.server.cli.command.CliCommandEnvironment;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.CliCommandOutput;
import dev.semel.server.cli.command.CliDurationFormatter;
import dev.semel.server.cli.command.CliNoServerResponseException;
import dev.semel.server.cli.command.ExitCode;
import java.time.Duration;
import tools.jackson.databind.node.ObjectNode;

/** Sends one trigger until the server answers. It retries only if that cannot start a second run. */
record CliWorkflowTriggerClient(CliApiClient api, CliCommandEnvironment environment, CliCommandOutput output) {
    /** @param named the trigger carries a key or a run id */
    private CliApiResponse send(CliApiRequest call, boolean named) {
        for (int retries = 0; ; retries++) {
            switch (attempt(call, named, retries)) {
                case CliTriggerRetryDecision.UseResponse(CliApiResponse answer) -> {
                    return answer;
                }
                case CliTriggerRetryDecision.GiveUp(boolean unknown, String why) ->
                    throw unknown ? unknown(why) : unreachable(why, named);
                case CliTriggerRetryDecision.RetryLater(Duration pause, String why) -> {
                    output.printMessage(
                            why + "; trying again in " + CliDurationFormatter.format(pause) + " (" + (retries + 1)
                                    + " of " + CliTriggerRetryDecision.MAX_RETRIES + ")"
                                    + (named ? ", with the same key, so no second run can start" : ""));
                    environment.pause(pause, () -> unreachable("interrupted between two attempts", true));
                }
            }
        }
    }

    /** @param beforeFailure runs before an error response ends the command */
    ObjectNode sendForObject(CliApiRequest call, boolean named, Runnable beforeFailure) {
        CliApiResponse answer = send(call, named);
        if (answer.isSuccess() && answer.isJson() && answer.body() instanceof ObjectNode body) {
            return body;
        }
        beforeFailure.run();
        throw answer.isSuccess() ? CliCommandException.notSemel(answer) : CliCommandException.from(answer);
    }

    private CliTriggerRetryDecision attempt(CliApiRequest call, boolean named, int retries) {
        try {
            return CliTriggerRetryDecision.decide(
                    api.exchange(call), named, retries, environment.clock().instant());
        } catch (CliNoServerResponseException none) {
            return CliTriggerRetryDecision.decide(none, named, retries);
        }
    }

    private CliCommandException unknown(String why) {
        return CliCommandException.create(
                ExitCode.IN_DOUBT,
                "outcome-unknown",
                api.address() + ": " + why
                        + ". The trigger had no key, so it was not sent again: a repeat could start a second run.",
                "Check with `semel runs` whether a run was started. With --key, sending twice is safe.");
    }

    private CliCommandException unreachable(String why, boolean named) {
        String fix = named
                ? "Run the same command again with the same key. If a run was started, the server returns that run."
                : "Start a server with `semel dev`, or set another address with --server or SEMEL_SERVER.";
        return CliCommandException.create(ExitCode.UNREACHABLE, "unreachable", api.address() + ": " + why + ".", fix);
    }
}
