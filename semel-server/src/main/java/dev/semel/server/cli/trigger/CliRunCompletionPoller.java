package dev.semel.server.cli.trigger;

import dev.semel.server.cli.command.CliApiClient;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliCommandEnvironment;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Polling leaves no trace, while another trigger would count as a Replayed request. */
public record CliRunCompletionPoller(CliApiClient api, CliCommandEnvironment environment) {
    private static final Set<String> ENDED = Set.of("completed", "failed", "cancelled", "in_doubt");

    /** The trigger's response with the run's last known status, and its output or error after its end. */
    public ObjectNode awaitEnd(ObjectNode answer, Instant deadline, Duration betweenLooks) {
        ObjectNode outcome = answer.deepCopy();
        String run = TerminalJsonFormatter.text(answer, "run_id");
        while (!ENDED.contains(TerminalJsonFormatter.text(outcome, "status"))
                && environment.clock().instant().isBefore(deadline)) {
            environment.pause(
                    betweenLooks,
                    () -> CliCommandException.create(
                            ExitCode.FAILED,
                            "interrupted",
                            "This command stopped waiting. The run continues on the server.",
                            "Show its status with `semel run show`."));
            JsonNode seen = look(run);
            for (String member : new String[] {"status", "waiting_for", "output", "error"}) {
                if (seen.has(member)) {
                    outcome.set(member, seen.get(member));
                }
            }
        }
        return outcome;
    }

    /** An unreachable server does not end the wait: the run is durable and continues after a restart. */
    private JsonNode look(String run) {
        try {
            return api.send(CliApiRequest.get("v1", "runs", run)).body();
        } catch (CliCommandException away) {
            if (away.exitCode() == ExitCode.UNREACHABLE) {
                return TerminalJsonFormatter.newObject();
            }
            throw away;
        }
    }

    public static boolean isEnded(String status) {
        return ENDED.contains(status);
    }
}
