package dev.semel.server.channel;

import dev.semel.server.settings.RouteSetting;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Decides which way a notification goes. A route is a row of legs; each leg is one channel with its fallbacks, and
 * reaches the person over one of them. Every channel has its reason, taken or not.
 */
public final class Routing {
    private Routing() {}

    /** What became of one channel of a route. */
    public sealed interface Choice {
        RouteSetting.Leg hop();

        String reason();
    }

    /** It is sent over this one. */
    public record Taken(RouteSetting.Leg hop, String to, String reason) implements Choice {}

    /** It is sent over this one if those before it certainly did not take it. */
    public record Reserve(RouteSetting.Leg hop, String to, String reason) implements Choice {}

    /** @param broken whether that is a mistake in the settings and not a wish of the person */
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

        /** Whether nothing is sent; the reasons say why. */
        public boolean silent() {
            return legs.stream().noneMatch(leg -> leg.taken().isPresent());
        }

        /** Whether a mistake in the settings is among the reasons. */
        public boolean broken() {
            return legs.stream()
                    .flatMap(leg -> leg.choices().stream())
                    .anyMatch(choice -> choice instanceof Skipped skipped && skipped.broken());
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

    /** What is set up in the workspace: the medium of each channel, and the templates there are. */
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
            return new Skipped(hop, "the channel is not set up", true);
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
