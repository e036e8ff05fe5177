package dev.semel.replay;

import dev.semel.journal.Entry;
import dev.semel.journal.Memory;
import dev.semel.json.Json;
import dev.semel.run.RunState;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The predicted actions of a safe replay for one run.
 *
 * @param open the list may be incomplete, because the workflow is Java code or calls another one; unlisted effects
 *     without a record are sent for the first time
 * @param blocked why the run cannot be replayed now; null if it can
 */
public record Outlook(
        List<Foretold> steps, boolean open, @Nullable String blocked) {
    private static final Set<Entry.Kind> AGAIN = Set.of(Entry.Kind.STEP, Entry.Kind.EFFECT, Entry.Kind.TX);

    public Outlook {
        steps = List.copyOf(steps);
    }

    public static Outlook blocked(String why) {
        return new Outlook(List.of(), false, why);
    }

    public static Outlook of(Past past, Terms terms) {
        boolean known = terms.from().isEmpty() || terms.from().equals(Terms.START);
        boolean there =
                known || past.entries().stream().anyMatch(entry -> entry.path().equals(terms.from()));
        if (!there) {
            return blocked("the run did not reach step \"" + terms.from() + "\"");
        }
        Memory memory = new Memory(past.entries());
        List<String> sent = terms.telling() == Notify.AGAIN ? Notifications.sent(past) : List.of();
        for (String again : terms.redo()) {
            if (sent.contains(again)) {
                continue; // sent by a run of the lineage, if not by the last one
            }
            Memory.Trace trace = memory.at(again);
            if (trace == null || !AGAIN.contains(trace.kind())) {
                return blocked("step \"" + again + "\" cannot be repeated: "
                        + (trace == null
                                ? "the run did not reach it"
                                : "it is a " + trace.kind().word()));
            }
        }
        boolean ended = past.state() == RunState.COMPLETED && terms.carriesAll();
        List<Foretold> steps = Foresight.of(past, terms);
        boolean calls = steps.stream().anyMatch(step -> step.kind().equals("call") && step.action() == Action.SEND);
        return new Outlook(steps, calls || (past.versions().next() == null && !ended), null);
    }

    /** The same preview if a user supplies the result of that step. */
    public Outlook skipping(String path) {
        List<Foretold> others = new ArrayList<>();
        for (Foretold one : steps) {
            others.add(one.step().equals(path) ? one.instead(Action.REUSE, "a user supplied its result") : one);
        }
        return new Outlook(others, open, blocked);
    }

    /** The riskiest action; null for a blocked run. */
    public @Nullable Action worst() {
        if (blocked != null) {
            return null;
        }
        Action worst = Action.REUSE;
        for (Foretold step : steps) {
            worst = step.action().isWorseThan(worst) ? step.action() : worst;
        }
        return worst;
    }

    /** All actions as a bit set. */
    public int actions() {
        int bits = 0;
        for (Foretold step : steps) {
            bits |= step.action().bit();
        }
        return bits;
    }

    /** The differences of the other preview in words; empty if both predict the same actions. Times are ignored. */
    public List<String> against(Outlook other) {
        List<String> differences = new ArrayList<>();
        if (blocked != null || other.blocked != null) {
            return Objects.equals(blocked, other.blocked)
                    ? differences
                    : List.of(other.blocked == null ? "it can be replayed now" : other.blocked);
        }
        for (Foretold now : other.steps) {
            Foretold before = same(steps, now);
            if (before == null || before.action() != now.action()) {
                String was = before == null ? "not there" : before.action().word();
                differences.add(
                        now.step() + " was " + was + " and is " + now.action().word());
            } else if (before.certain() != now.certain()) {
                differences.add(
                        now.step() + (now.certain() ? " was possible and is certain" : " was certain and is possible"));
            }
        }
        for (Foretold then : steps) {
            if (same(other.steps, then) == null) {
                differences.add(then.step() + " was " + then.action().word() + " and is not there");
            }
        }
        if (open != other.open) {
            differences.add(
                    other.open
                            ? "its further actions can no longer be predicted"
                            : "its further actions can be predicted now");
        }
        return differences;
    }

    /** The same step in another preview; two versions may have steps of different kinds at one path. */
    private static @Nullable Foretold same(List<Foretold> steps, Foretold wanted) {
        for (Foretold step : steps) {
            if (step.step().equals(wanted.step()) && step.kind().equals(wanted.kind())) {
                return step;
            }
        }
        return null;
    }

    public ObjectNode toJson() {
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        if (blocked != null) {
            out.put("blocked", blocked);
        }
        out.put("incomplete", open);
        var list = out.putArray("steps");
        for (Foretold step : steps) {
            ObjectNode one = list.addObject();
            one.put("step", step.step())
                    .put("kind", step.kind())
                    .put("action", step.action().word())
                    .put("why", step.why());
            if (step.until() != 0) {
                one.put("until", step.until());
            }
            if (!step.certain()) {
                one.put("certain", false);
            }
        }
        return out;
    }

    /** Reads what {@link #toJson} wrote. */
    public static Outlook parse(String text) {
        JsonNode json = Json.parse(text);
        List<Foretold> steps = new ArrayList<>();
        for (JsonNode one : json.required("steps")) {
            steps.add(new Foretold(
                    one.required("step").asString(),
                    one.required("kind").asString(),
                    Action.of(one.required("action").asString()),
                    one.required("why").asString(),
                    one.path("until").asLong(0),
                    one.path("certain").asBoolean(true)));
        }
        boolean blocked = json.has("blocked");
        return new Outlook(
                steps,
                json.required("incomplete").asBoolean(),
                blocked ? json.required("blocked").asString() : null);
    }
}
