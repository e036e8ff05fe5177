package dev.semel.server.cli;

import java.time.Duration;

/** Sends one trigger until the server answers. It retries only if that cannot start a second run. */
final class Sender {
    private final Api api;
    private final Surroundings environment;
    private final Output output;

    Sender(Api api, Surroundings environment, Output output) {
        this.api = api;
        this.environment = environment;
        this.output = output;
    }

    /** @param named the trigger carries a key or a run id */
    Answer send(Call call, boolean named) {
        for (int retries = 0; ; retries++) {
            switch (attempt(call, named, retries)) {
                case Verdict.Final(Answer answer) -> {
                    return answer;
                }
                case Verdict.GiveUp(boolean unknown, String why) ->
                    throw unknown ? unknown(why) : unreachable(why, named);
                case Verdict.Again(Duration pause, String why) -> {
                    output.talk(why + "; trying again in " + Times.span(pause) + " (" + (retries + 1) + " of "
                            + Verdict.RETRIES + ")" + (named ? ", same key: it cannot start a second run" : ""));
                    pause(pause);
                }
            }
        }
    }

    private Verdict attempt(Call call, boolean named, int retries) {
        try {
            return Verdict.on(api.exchange(call), named, retries, environment.clock().instant());
        } catch (NoAnswer none) {
            return Verdict.on(none, named, retries);
        }
    }

    private void pause(Duration pause) {
        try {
            environment.pause().of(pause);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw unreachable("interrupted between two attempts", true);
        }
    }

    private Failure unknown(String why) {
        return Failure.here(
                Exit.IN_DOUBT,
                "outcome-unknown",
                api.address() + ": " + why + ". The trigger had no key, so it was not sent again: that could start"
                        + " a second run.",
                "Check with `semel runs` whether a run was started. With --key, sending twice is safe.");
    }

    private Failure unreachable(String why, boolean named) {
        String fix = named
                ? "Run the same command again with the same key: if a run was started, you will get that one."
                : "Start a server with `semel dev`, or set another address with --server or SEMEL_SERVER.";
        return Failure.here(Exit.UNREACHABLE, "unreachable", api.address() + ": " + why + ".", fix);
    }
}
