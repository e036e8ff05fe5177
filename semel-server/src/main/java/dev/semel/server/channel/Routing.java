package dev.semel.server.channel;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides which way a notification goes. A route is a row of legs; each leg is one channel with its fallbacks, and
 * reaches the person over one of them. Every channel has its reason, taken or not.
 */
public final class Routing {
    private Routing() {}

    /** What became of one channel of a route. */
    public sealed interface Choice {
        Route.Hop hop();

        String reason();
    }

    /** It is sent over this one. */
    public record Taken(Route.Hop hop, String to, String reason) implements Choice {}

    /** It is sent over this one if those before it certainly did not take it. */
    public record Reserve(Route.Hop hop, String to, String reason) implements Choice {}

    public record Skipped(Route.Hop hop, String reason) implements Choice {}

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

        /** Whether nobody is written to; the reasons say why. */
        public boolean silent() {
            return legs.stream().noneMatch(leg -> leg.taken().isPresent());
        }
    }

    /** How a send over a channel ended. */
    public enum Ended {
        ACCEPTED,
        /** Certainly not taken. */
        FAILED,
        /** Nobody knows. */
        IN_DOUBT
    }

    /** @param channels the medium of each channel that is set up, by its name */
    public static Plan plan(Route route, Profile profile, Map<String, Medium> channels) {
        var event = new MayWrite.Event(route.event(), route.essential());
        List<List<Choice>> legs = new ArrayList<>();
        for (Route.Hop hop : route.hops()) {
            if (!hop.fallback()) {
                legs.add(new ArrayList<>());
            }
            List<Choice> leg = legs.getLast();
            leg.add(choice(hop, leg, profile, new Way(event, channels.get(hop.channel()))));
        }
        return new Plan(legs.stream().map(Leg::new).toList());
    }

    private record Way(MayWrite.Event event, @Nullable Medium medium) {}

    private static Choice choice(Route.Hop hop, List<Choice> before, Profile profile, Way way) {
        Medium medium = way.medium();
        if (medium == null) {
            return new Skipped(hop, "the channel is not set up");
        }
        return switch (MayWrite.decide(profile, medium, way.event())) {
            case MayWrite.Refused(String reason) -> new Skipped(hop, reason);
            case MayWrite.Allowed(String reason) -> {
                String to = String.valueOf(profile.addresses().get(medium));
                Optional<Choice> first =
                        before.stream().filter(Taken.class::isInstance).findFirst();
                if (first.isPresent()) {
                    String other = first.get().hop().channel();
                    yield new Reserve(hop, to, "only if %s does not take it".formatted(other));
                }
                yield new Taken(hop, to, before.isEmpty() ? reason : reason + "; stands in for what was skipped");
            }
        };
    }

    /**
     * What comes after a send: the next reserve after a certain failure, and otherwise nothing. A message in doubt may
     * have arrived, so a second one over another channel is not sent by itself.
     *
     * @param tried the choice that was sent over
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
