package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.journal.Entry;
import dev.semel.journal.Journal;
import dev.semel.json.Json;
import dev.semel.run.RunState;
import dev.semel.store.Write;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;

/**
 * Do it once: look, do, record. A step whose result is on record returns that result; any other runs, and its result
 * is handed to the committer before the workflow goes on. Repeatable work does not wait for the disk: the end of the
 * run does, and with it everything that leaves.
 */
final class StepRunner {
    private static final int LONGEST_NAME = 1_000;

    private final RunLoop.Resident run;
    private final Committer committer;
    private final Ambient ambient;
    private final Limits limits;
    private final Map<String, JsonNode> recorded;
    private final Set<String> used = new HashSet<>();
    private final List<Entry> pending = new ArrayList<>();
    private final List<CompletableFuture<Write.Owned>> submitted = new ArrayList<>();
    private int pendingBytes;
    private int nextSeq;
    private String current = "";

    /** @param chunks how many journal chunks are stored already */
    StepRunner(RunLoop.Resident run, RunLoop.Engine engine, Map<String, JsonNode> recorded, int chunks) {
        this.run = run;
        this.committer = engine.committer();
        this.ambient = engine.around().ambient();
        this.limits = engine.limits();
        this.recorded = recorded;
        this.nextSeq = chunks;
    }

    JsonNode step(String path, Supplier<JsonNode> work) {
        refuseUnstorable(path);
        current = path;
        if (!used.add(path)) {
            throw new SemelException(
                    ErrorCode.INVALID_DEFINITION,
                    "Step \"" + path + "\" was used twice in one run. The second one did not run.",
                    "Give each step a name of its own.");
        }
        // look
        JsonNode known = recorded.get(path);
        if (known != null) {
            return known;
        }
        // do
        JsonNode result = work.get();
        // CRASH(step-done): the result is not on record; the step runs again, which repeatable work allows.
        // record
        String text = Json.write(result);
        if (text.length() > limits.stepResultBytes()) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The result of step \"" + path + "\" is larger than " + limits.stepResultBytes()
                            + " bytes. It was not recorded.",
                    "Return a reference to the data instead of the data.");
        }
        // The body gets what a recovery would give it, and may change it: what is recorded is a copy of its own.
        JsonNode kept = Json.parse(text);
        pending.add(new Entry.StepDone(path, ambient.micros(), kept));
        pendingBytes += text.length();
        if (pending.size() >= limits.bufferedEntries() || pendingBytes >= limits.bufferedBytes()) {
            submit();
        }
        return kept.deepCopy();
    }

    /** A name that no store can hold would keep the run from ever ending. */
    private static void refuseUnstorable(String path) {
        boolean unicode = StandardCharsets.UTF_8.newEncoder().canEncode(path);
        if (!unicode || path.indexOf(0) >= 0 || path.length() > LONGEST_NAME) {
            throw new SemelException(
                    ErrorCode.INVALID_DEFINITION,
                    "The name of a step is longer than " + LONGEST_NAME + " characters, or holds a NUL or half of a "
                            + "surrogate pair. The step did not run.",
                    "Give the step a short name of plain characters.");
        }
    }

    /** The step that ran last, for error reports. */
    String current() {
        return current;
    }

    /** Entries that no write holds yet; they go with the end of the run. */
    String rest() {
        return Journal.encode(pending);
    }

    /** True when every submitted write counted; false when another worker drives this run. */
    boolean durable() {
        for (CompletableFuture<Write.Owned> write : submitted) {
            if (!write.join().recorded()) {
                return false;
            }
        }
        submitted.clear();
        return true;
    }

    private void submit() {
        Write.Append append = new Write.Append(run.id(), nextSeq++, Journal.encode(pending), RunState.RUNNING);
        submitted.add(committer.submit(run.lane(), append));
        pending.clear();
        pendingBytes = 0;
        if (submitted.size() >= limits.bufferedEntries() && !durable()) {
            throw new RunLoop.NotOurs();
        }
    }
}
