package dev.semel.server.connectors.notification;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.connectors.template.NotificationMedium;
import dev.semel.server.settings.NotificationRouteSetting;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NotificationRouterTest {
    private static final Map<String, NotificationMedium> CHANNELS = Map.of(
            "email",
            NotificationMedium.EMAIL,
            "sms",
            NotificationMedium.SMS,
            "whatsapp",
            NotificationMedium.WHATSAPP,
            "chat",
            NotificationMedium.CHAT);
    private static final NotificationRouter.AvailableChannels SET_UP = new NotificationRouter.AvailableChannels(
            CHANNELS, Set.of("email-v1", "sms-v1", "whatsapp-v1", "chat-v1", "fax-v1"));

    /**
     * Routes are written as channels, a fallback with a question mark; addresses and opt-outs by their medium. In the
     * plan + is taken, ? held in reserve, - skipped, and | stands between legs.
     */
    @ParameterizedTest
    @CsvSource({
        "email,              EMAIL,      '',    +email",
        "email,              '',         '',    -email",
        "email,              EMAIL,      email, -email",
        "email sms?,         EMAIL SMS,  '',    +email ?sms",
        "email sms?,         SMS,        '',    -email +sms",
        "email sms?,         EMAIL SMS,  email, -email +sms",
        "email sms?,         EMAIL,      '',    +email -sms",
        "email sms?,         '',         '',    -email -sms",
        "email sms? whatsapp?, EMAIL SMS WHATSAPP, '',  +email ?sms ?whatsapp",
        "email sms? whatsapp?, EMAIL WHATSAPP, '',      +email -sms ?whatsapp",
        "email sms? whatsapp?, SMS WHATSAPP, '',        -email +sms ?whatsapp",
        "email chat,         EMAIL CHAT, '',    +email | +chat",
        "email sms? chat,    SMS CHAT,   '',    -email +sms | +chat",
        "email sms? chat sms?, SMS,      '',    -email +sms | -chat +sms",
        "fax email?,         EMAIL,      '',    -fax +email",
        "email fax?,         EMAIL,      '',    +email -fax",
    })
    void a_route_is_planned_leg_by_leg(String route, String addresses, String optOuts, String expected) {
        NotificationRouter.RoutePlan plan =
                NotificationRouter.plan(route(route), recipient(addresses, optOuts), SET_UP);
        String written = plan.legs().stream()
                .map(leg -> leg.decisions().stream()
                        .map(NotificationRouterTest::written)
                        .collect(Collectors.joining(" ")))
                .collect(Collectors.joining(" | "));
        assertEquals(expected, written);
        assertEquals(!expected.contains("+"), plan.sendsNothing());
        assertTrue(plan.legs().stream()
                .flatMap(leg -> leg.decisions().stream())
                .noneMatch(choice -> choice.reason().isBlank()));
    }

    @Test
    void every_channel_has_its_reason() {
        NotificationRouter.RoutePlan plan = NotificationRouter.plan(
                route("email sms? whatsapp? fax?"), recipient("EMAIL SMS WHATSAPP", "email"), SET_UP);
        assertEquals(
                List.of(
                        "the recipient unsubscribed from e-mail on 12 May 2026",
                        "the recipient has not unsubscribed; this channel replaces the skipped one",
                        "only if sms fails",
                        "the channel does not exist"),
                plan.legs().getFirst().decisions().stream()
                        .map(NotificationRouter.ChannelDecision::reason)
                        .toList());
        assertEquals("to-SMS", plan.legs().getFirst().selected().orElseThrow().to());
    }

    @Test
    void a_fallback_follows_a_certain_failure_and_never_a_send_in_doubt() {
        NotificationRouter.RouteLeg leg = NotificationRouter.plan(
                        route("email fax? sms? whatsapp?"), recipient("EMAIL SMS WHATSAPP", ""), SET_UP)
                .legs()
                .getFirst();
        NotificationRouter.ChannelDecision mail = leg.decisions().getFirst();
        assertEquals(Optional.empty(), NotificationRouter.next(leg, mail, NotificationRouter.SendOutcome.ACCEPTED));
        assertEquals(Optional.empty(), NotificationRouter.next(leg, mail, NotificationRouter.SendOutcome.IN_DOUBT));
        NotificationRouter.Fallback second = NotificationRouter.next(leg, mail, NotificationRouter.SendOutcome.FAILED)
                .orElseThrow();
        assertEquals("sms", second.entry().channel());
        NotificationRouter.Fallback third = NotificationRouter.next(leg, second, NotificationRouter.SendOutcome.FAILED)
                .orElseThrow();
        assertEquals("whatsapp", third.entry().channel());
        assertEquals(Optional.empty(), NotificationRouter.next(leg, third, NotificationRouter.SendOutcome.FAILED));
        assertEquals(Optional.empty(), NotificationRouter.next(leg, second, NotificationRouter.SendOutcome.IN_DOUBT));
    }

    @Test
    void an_essential_event_overrides_an_opt_out() {
        NotificationRouteSetting route =
                new NotificationRouteSetting("receipt", true, route("email").entries());
        NotificationRouter.RoutePlan plan = NotificationRouter.plan(route, recipient("EMAIL", "email"), SET_UP);
        assertEquals(
                "the recipient unsubscribed from e-mail on 12 May 2026, and receipt is essential",
                plan.legs().getFirst().selected().orElseThrow().reason());
    }

    @Test
    void a_settings_mistake_is_distinguished_from_an_opt_out() {
        assertFalse(NotificationRouter.plan(route("email"), recipient("", ""), SET_UP)
                .hasConfigurationError());
        assertTrue(NotificationRouter.plan(route("fax email"), recipient("EMAIL", ""), SET_UP)
                .hasConfigurationError());
        var without = new NotificationRouter.AvailableChannels(CHANNELS, Set.of());
        NotificationRouter.RoutePlan plan = NotificationRouter.plan(route("email"), recipient("EMAIL", ""), without);
        assertTrue(plan.hasConfigurationError() && plan.sendsNothing());
        assertEquals(
                "there is no template email-v1",
                plan.legs().getFirst().decisions().getFirst().reason());
    }

    private static String written(NotificationRouter.ChannelDecision choice) {
        String sign = switch (choice) {
            case NotificationRouter.Selected _ -> "+";
            case NotificationRouter.Fallback _ -> "?";
            case NotificationRouter.Skipped _ -> "-";
        };
        return sign + choice.entry().channel();
    }

    private static NotificationRouteSetting route(String hops) {
        List<NotificationRouteSetting.RouteEntry> legs = new ArrayList<>();
        for (String hop : hops.strip().split(" ")) {
            String channel = hop.replace("?", "");
            NotificationRouteSetting.When when =
                    hop.endsWith("?") ? NotificationRouteSetting.When.FALLBACK : NotificationRouteSetting.When.ALWAYS;
            legs.add(new NotificationRouteSetting.RouteEntry(channel, channel + "-v1", when));
        }
        return new NotificationRouteSetting("lead.welcome", false, legs);
    }

    private static NotificationRecipient recipient(String addresses, String optOuts) {
        Map<NotificationMedium, String> known = new EnumMap<>(NotificationMedium.class);
        for (String medium : addresses.isBlank() ? new String[0] : addresses.split(" ")) {
            known.put(NotificationMedium.valueOf(medium), "to-" + medium);
        }
        List<NotificationRecipient.OptOut> claims = new ArrayList<>();
        for (String topic : optOuts.isBlank() ? new String[0] : optOuts.split(" ")) {
            claims.add(new NotificationRecipient.OptOut(topic, LocalDate.of(2026, 5, 12)));
        }
        return new NotificationRecipient(known, claims);
    }
}
