package dev.semel.server.channel;

import dev.semel.server.settings.RouteSetting;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Decides which channels deliver a notification. A route has legs, each one channel with its fallbacks. Every channel
 * gets a recorded reason.
 */
public final class Routing {
    private Routing() {}

    /** The decision for one channel of a route. */
    public sealed interface Choice {
        RouteSetting.Leg hop();

        String reason();
    }

    /** This channel sends the message. */
    public record Taken(RouteSetting.Leg hop, String to, String reason) implements Choice {}

    /** This channel sends the message if the channels before it certainly failed. */
    public record Reserve(RouteSetting.Leg hop, String to, String reason) implements Choice {}

    /** @param broken whether a configuration error caused it, not an opt-out */
    public record Skipped(RouteSetting.Leg hop, String reason, boolean broken) implements Choice {}

    /** One channel and its fallbacks, in the order of the route. */
    public record Leg(List<Choice> choices) {
        public Leg {
            choices = List.copyOf(choices);
        }

        public Optional<Taken> taken() {
            return choices.stream()
                    .filter(Taken.class::isInstance)
                    .map(Taken.class::cast)
                    .findFirst();
        }
    }

    public record Plan(List<Leg> legs) {
        public Plan {
            legs = List.copyOf(legs);
        }

        /** Whether no channel sends; the reasons say why. */
        public boolean silent() {
            return legs.stream().noneMatch(leg -> leg.taken().isPresent());
        }

        /** Whether a configuration error is among the reasons. */
        public boolean broken() {
            return legs.stream()
                    .flatMap(leg -> leg.choices().stream())
                    .anyMatch(choice -> choice instanceof Skipped skipped && skipped.broken());
        }
    }

    /** The outcome of a send over a channel. */
    public enum Ended {
        ACCEPTED,
        /** Certainly not delivered. */
        FAILED,
        /** Outcome unknown. */
        IN_DOUBT
    }

    /** The channels of the workspace with their medium, and its templates. */
    public record SetUp(Map<String, Medium> channels, Set<String> templates) {}

    public static Plan plan(RouteSetting route, Recipient recipient, SetUp setUp) {
        var event = new MayWrite.Event(route.event(), route.essential());
        List<List<Choice>> legs = new ArrayList<>();
        for (RouteSetting.Leg hop : route.legs()) {
            if (legs.isEmpty() || hop.when() == RouteSetting.When.ALWAYS) {
                legs.add(new ArrayList<>());
            }
            List<Choice> leg = legs.getLast();
            leg.add(choice(hop, leg, setUp, new Asked(recipient, event)));
        }
        return new Plan(legs.stream().map(Leg::new).toList());
    }

    private record Asked(Recipient recipient, MayWrite.Event event) {}

    private static Choice choice(RouteSetting.Leg hop, List<Choice> before, SetUp setUp, Asked asked) {
        Medium medium = setUp.channels().get(hop.channel());
        if (medium == null) {
            return new Skipped(hop, "the channel does not exist", true);
        }
        if (!setUp.templates().contains(hop.template())) {
            return new Skipped(hop, "there is no template " + hop.template(), true);
        }
        var way = new MayWrite.Way(hop.channel(), medium);
        return switch (MayWrite.decide(asked.recipient(), way, asked.event())) {
            case MayWrite.Refused(String reason) -> new Skipped(hop, reason, false);
            case MayWrite.Allowed(String reason) -> {
                String to = String.valueOf(asked.recipient().addresses().get(medium));
                Optional<Choice> first =
                        before.stream().filter(Taken.class::isInstance).findFirst();
                if (first.isPresent()) {
                    String other = first.get().hop().channel();
                    yield new Reserve(hop, to, "only if %s fails".formatted(other));
                }
                yield new Taken(hop, to, before.isEmpty() ? reason : reason + "; replaces the skipped channel");
            }
        };
    }

    /**
     * Returns the next fallback after a certain failure, otherwise nothing. A message in doubt may have arrived, so no
     * fallback sends it again.
     *
     * @param tried the channel that was tried
     */
    public static Optional<Reserve> next(Leg leg, Choice tried, Ended ended) {
        return switch (ended) {
            case ACCEPTED, IN_DOUBT -> Optional.empty();
            case FAILED -> {
                int from = leg.choices().indexOf(tried) + 1;
                yield leg.choices().subList(from, leg.choices().size()).stream()
                        .filter(Reserve.class::isInstance)
                        .map(Reserve.class::cast)
                        .findFirst();
            }
        };
    }
}
