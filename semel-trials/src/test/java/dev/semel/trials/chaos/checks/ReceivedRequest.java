package dev.semel.trials.chaos.checks;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * One request as the receiver noted it, before it answered.
 *
 * @param at microseconds of the machine's clock
 * @param effect the key of the run, or the name that several runs share
 * @param step which effect of the run
 * @param worker the process that sent it
 * @param attempt the number of the reservation that it was sent under, by the word of the sender
 */
public record ReceivedRequest(
        long at,
        String method,
        String effect,
        String step,
        String key,
        String bodyHash,
        String decision,
        String worker,
        int attempt) {
    static ReceivedRequest parse(String line) {
        String[] parts = line.split("\t", -1);
        String[] path = parts[3].split("/", -1); // "", memory, manners, effect, step
        String[] from = parts[7].split(" ", -1);
        return new ReceivedRequest(
                Long.parseLong(parts[0]),
                parts[2],
                path[3],
                path[4],
                parts[4],
                parts[5],
                parts[6],
                from[0],
                Integer.parseInt(from[1]));
    }

    /** The whole log; the receiver must have stopped, or its last line may be half written. */
    public static List<ReceivedRequest> read(Path log) {
        try {
            return Files.readAllLines(log, StandardCharsets.UTF_8).stream()
                    .map(ReceivedRequest::parse)
                    .toList();
        } catch (IOException e) {
            throw new AssertionError("the receiver's log cannot be read", e);
        }
    }

    public boolean isPost() {
        return method.equals("POST");
    }

    public boolean accepted() {
        return decision.equals("accepted");
    }

    String name() {
        return effect + "/" + step;
    }
}
