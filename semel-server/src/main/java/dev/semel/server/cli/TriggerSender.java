package dev.semel.server.cli;

import java.time.Duration;

/** Sends one trigger until the server answers. It retries only if that cannot start a second run. */
final class TriggerSender {
    private final ApiClient api;
    private final CommandEnvironment environment;
    private final CommandOutput output;

    TriggerSender(ApiClient api, CommandEnvironment environment, CommandOutput output) {
        this.api = api;
        this.environment = environment;
        this.output = output;
    }

    /** @param named the trigger carries a key or a run id */
    ApiResponse send(ApiRequest call, boolean named) {
        for (int retries = 0; ; retries++) {
            switch (attempt(call, named, retries)) {
                case RetryDecision.UseResponse(ApiResponse answer) -> {
                    return answer;
                }
                case RetryDecision.GiveUp(boolean unknown, String why) ->
                    throw unknown ? unknown(why) : unreachable(why, named);
                case RetryDecision.RetryLater(Duration pause, String why) -> {
                    output.printMessage(why + "; trying again in " + DurationText.format(pause) + " (" + (retries + 1)
                            + " of " + RetryDecision.MAX_RETRIES + ")"
                            + (named ? ", same key: it cannot start a second run" : ""));
                    pause(pause);
                }
            }
        }
    }

    private RetryDecision attempt(ApiRequest call, boolean named, int retries) {
        try {
            return RetryDecision.decide(
                    api.exchange(call), named, retries, environment.clock().instant());
        } catch (NoResponseException none) {
            return RetryDecision.decide(none, named, retries);
        }
    }

    private void pause(Duration pause) {
        try {
            environment.sleeper().sleep(pause);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw unreachable("interrupted between two attempts", true);
        }
    }

    private CommandFailure unknown(String why) {
        return CommandFailure.create(
                ExitCode.IN_DOUBT,
                "outcome-unknown",
                api.address() + ": " + why + ". The trigger had no key, so it was not sent again: that could start"
                        + " a second run.",
                "Check with `semel runs` whether a run was started. With --key, sending twice is safe.");
    }

    private CommandFailure unreachable(String why, boolean named) {
        String fix = named
                ? "Run the same command again with the same key: if a run was started, you will get that one."
                : "Start a server with `semel dev`, or set another address with --server or SEMEL_SERVER.";
        return CommandFailure.create(ExitCode.UNREACHABLE, "unreachable", api.address() + ": " + why + ".", fix);
    }
}
