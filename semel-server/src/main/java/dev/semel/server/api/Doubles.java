package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.effect.Ledger;
import dev.semel.store.Figures;
import dev.semel.store.Reads;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What was done twice in a span of time, as far as rows can tell: an object that two effects created, and effects without a
 * protection that were sent more than once. What names no object cannot be compared, and what a provider made twice out
 * of one request is not seen from here.
 */
final class Doubles {
    private static final int MOST_OBJECTS = 50;
    private static final int MOST_OF_ONE = 50;
    private static final int PAGE = 200;

    private final Semel semel;
    private final IncidentFacts.Span span;

    Doubles(Semel semel, IncidentFacts.Span span) {
        this.semel = semel;
        this.span = span;
    }

    void tell(ObjectNode out) {
        List<Figures.Thing> often =
                Objects.requireNonNull(semel.view(reads -> reads.figures().objects(span.range(), 1, MOST_OBJECTS)));
        ArrayNode objects = out.putArray("doubled_objects");
        // What is told here is kept and handed on as a text, where no mask could be put on later.
        ObjectMasks shown = new ObjectMasks(semel, span.workspace());
        for (Figures.Thing thing : often) {
            List<Ledger.Row> made = created(thing);
            if (made.size() > 1) {
                ObjectNode one = objects.addObject().put("object", shown.of(thing, made));
                one.put("created", made.size());
                ArrayNode runs = one.putArray("runs");
                made.forEach(row -> runs.add(row.holder().run().text()));
            }
        }
        out.put("doubled", objects.size());
        out.put("perhaps_doubled", sentAgain());
    }

    /** Rows of this object that were created in the span; an update that comes twice is no double. */
    private List<Ledger.Row> created(Figures.Thing thing) {
        Reads.EffectFilter filter = filter(thing.object(), null, MOST_OF_ONE);
        return Objects.requireNonNull(semel.view(reads -> reads.effects(filter))).found().stream()
                .filter(row -> row.facts().does().equals("create"))
                .filter(row -> row.facts().workflowId().equals(thing.workflowId()))
                .filter(row -> span.has(row.acceptedAt()))
                .toList();
    }

    /** Effects with `protect: none` that took more than one attempt: each may have happened. */
    private long sentAgain() {
        Reads.LedgerPage page = Objects.requireNonNull(semel.view(reads -> reads.effects(filter(null, "none", PAGE))));
        List<Ledger.Row> again = new ArrayList<>(page.found());
        again.removeIf(row -> row.attempt() < 2 || !span.has(row.acceptedAt()));
        return again.size();
    }

    private Reads.EffectFilter filter(@Nullable String object, @Nullable String protection, int limit) {
        return new Reads.EffectFilter(
                span.workspace(),
                Ledger.State.DONE,
                span.workflowId(),
                object,
                protection,
                null,
                Reads.Part.DEEDS,
                null,
                limit);
    }
}
