package dev.semel.server.connectors.notification;

import dev.semel.server.connectors.template.NotificationMedium;
import dev.semel.server.settings.NotificationRouteSetting;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A route has legs, each one channel with its fallbacks. Every channel gets a recorded reason. */
public final class NotificationRouter {
    private NotificationRouter() {}

    public sealed interface ChannelDecision {
        NotificationRouteSetting.RouteEntry entry();

        String reason();
    }

    public record Selected(NotificationRouteSetting.RouteEntry entry, String to, String reason)
            implements ChannelDecision {}

    /** This channel sends the message if the channels before it certainly failed. */
    public record Fallback(NotificationRouteSetting.RouteEntry entry, String to, String reason)
            implements ChannelDecision {}

    /** @param configurationError whether a configuration error caused it, not an opt-out */
    public record Skipped(NotificationRouteSetting.RouteEntry entry, String reason, boolean configurationError)
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

    public enum SendOutcome {
        ACCEPTED,
        /** Certainly not delivered. */
        FAILED,
        IN_DOUBT
    }

    public record AvailableChannels(Map<String, NotificationMedium> channels, Set<String> templates) {}

    public static RoutePlan plan(
            NotificationRouteSetting route, NotificationRecipient recipient, AvailableChannels setUp) {
        var notification = new NotificationOptOutPolicy.Notification(route.notification(), route.essential());
        List<List<ChannelDecision>> legs = new ArrayList<>();
        for (NotificationRouteSetting.RouteEntry hop : route.entries()) {
            if (legs.isEmpty() || hop.when() == NotificationRouteSetting.When.ALWAYS) {
                legs.add(new ArrayList<>());
            }
            List<ChannelDecision> leg = legs.getLast();
            leg.add(choice(hop, leg, setUp, new RoutedNotification(recipient, notification)));
        }
        return new RoutePlan(legs.stream().map(RouteLeg::new).toList());
    }

    private record RoutedNotification(
            NotificationRecipient recipient, NotificationOptOutPolicy.Notification notification) {}

    private static ChannelDecision choice(
            NotificationRouteSetting.RouteEntry hop,
            List<ChannelDecision> before,
            AvailableChannels setUp,
            RoutedNotification routedNotification) {
        NotificationMedium medium = setUp.channels().get(hop.channel());
        if (medium == null) {
            return new Skipped(hop, "the channel does not exist", true);
        }
        if (!setUp.templates().contains(hop.template())) {
            return new Skipped(hop, "there is no template " + hop.template(), true);
        }
        var way = new NotificationOptOutPolicy.TargetChannel(hop.channel(), medium);
        return switch (NotificationOptOutPolicy.decide(
                routedNotification.recipient(), way, routedNotification.notification())) {
            case NotificationOptOutPolicy.Denied(String reason) -> new Skipped(hop, reason, false);
            case NotificationOptOutPolicy.Allowed(String reason) -> {
                String to = String.valueOf(
                        routedNotification.recipient().addresses().get(medium));
                Optional<ChannelDecision> first =
                        before.stream().filter(Selected.class::isInstance).findFirst();
                if (first.isPresent()) {
                    String other = first.get().entry().channel();
                    yield new Fallback(hop, to, "only if %s fails".formatted(other));
                }
                yield new Selected(
                        hop, to, before.isEmpty() ? reason : reason + "; this channel replaces the skipped one");
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
