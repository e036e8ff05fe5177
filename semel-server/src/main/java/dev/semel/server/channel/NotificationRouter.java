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
public final class NotificationRouter {
    private NotificationRouter() {}

    /** The decision for one channel of a route. */
    public sealed interface ChannelDecision {
        RouteSetting.RouteEntry entry();

        String reason();
    }

    /** This channel sends the message. */
    public record Selected(RouteSetting.RouteEntry entry, String to, String reason) implements ChannelDecision {}

    /** This channel sends the message if the channels before it certainly failed. */
    public record Fallback(RouteSetting.RouteEntry entry, String to, String reason) implements ChannelDecision {}

    /** @param configurationError whether a configuration error caused it, not an opt-out */
    public record Skipped(RouteSetting.RouteEntry entry, String reason, boolean configurationError)
            implements ChannelDecision {}

    /** One channel and its fallbacks, in the order of the route. */
    public record RouteLeg(List<ChannelDecision> decisions) {
        public RouteLeg {
            decisions = List.copyOf(decisions);
        }

        public Optional<Selected> selected() {
            return decisions.stream()
                    .filter(Selected.class::isInstance)
                    .map(Selected.class::cast)
                    .findFirst();
        }
    }

    public record RoutePlan(List<RouteLeg> legs) {
        public RoutePlan {
            legs = List.copyOf(legs);
        }

        /** Whether no channel sends; the reasons say why. */
        public boolean sendsNothing() {
            return legs.stream().noneMatch(leg -> leg.selected().isPresent());
        }

        /** Whether a configuration error is among the reasons. */
        public boolean hasConfigurationError() {
            return legs.stream()
                    .flatMap(leg -> leg.decisions().stream())
                    .anyMatch(choice -> choice instanceof Skipped skipped && skipped.configurationError());
        }
    }

    /** The outcome of a send over a channel. */
    public enum SendOutcome {
        ACCEPTED,
        /** Certainly not delivered. */
        FAILED,
        /** Outcome unknown. */
        IN_DOUBT
    }

    /** The channels of the workspace with their medium, and its templates. */
    public record AvailableChannels(Map<String, Medium> channels, Set<String> templates) {}

    public static RoutePlan plan(RouteSetting route, Recipient recipient, AvailableChannels setUp) {
        var event = new OptOutPolicy.NotificationEvent(route.event(), route.essential());
        List<List<ChannelDecision>> legs = new ArrayList<>();
        for (RouteSetting.RouteEntry hop : route.entries()) {
            if (legs.isEmpty() || hop.when() == RouteSetting.When.ALWAYS) {
                legs.add(new ArrayList<>());
            }
            List<ChannelDecision> leg = legs.getLast();
            leg.add(choice(hop, leg, setUp, new RoutedNotification(recipient, event)));
        }
        return new RoutePlan(legs.stream().map(RouteLeg::new).toList());
    }

    private record RoutedNotification(Recipient recipient, OptOutPolicy.NotificationEvent event) {}

    private static ChannelDecision choice(
            RouteSetting.RouteEntry hop,
            List<ChannelDecision> before,
            AvailableChannels setUp,
            RoutedNotification asked) {
        Medium medium = setUp.channels().get(hop.channel());
        if (medium == null) {
            return new Skipped(hop, "the channel does not exist", true);
        }
        if (!setUp.templates().contains(hop.template())) {
            return new Skipped(hop, "there is no template " + hop.template(), true);
        }
        var way = new OptOutPolicy.TargetChannel(hop.channel(), medium);
        return switch (OptOutPolicy.decide(asked.recipient(), way, asked.event())) {
            case OptOutPolicy.Denied(String reason) -> new Skipped(hop, reason, false);
            case OptOutPolicy.Allowed(String reason) -> {
                String to = String.valueOf(asked.recipient().addresses().get(medium));
                Optional<ChannelDecision> first =
                        before.stream().filter(Selected.class::isInstance).findFirst();
                if (first.isPresent()) {
                    String other = first.get().entry().channel();
                    yield new Fallback(hop, to, "only if %s fails".formatted(other));
                }
                yield new Selected(hop, to, before.isEmpty() ? reason : reason + "; replaces the skipped channel");
            }
        };
    }

    /**
     * Returns the next fallback after a certain failure, otherwise nothing. A message in doubt may have arrived, so no
     * fallback sends it again.
     *
     * @param tried the channel that was tried
     */
    public static Optional<Fallback> next(RouteLeg leg, ChannelDecision tried, SendOutcome ended) {
        return switch (ended) {
            case ACCEPTED, IN_DOUBT -> Optional.empty();
            case FAILED -> {
                int from = leg.decisions().indexOf(tried) + 1;
                yield leg.decisions().subList(from, leg.decisions().size()).stream()
                        .filter(Fallback.class::isInstance)
                        .map(Fallback.class::cast)
                        .findFirst();
            }
        };
    }
}
