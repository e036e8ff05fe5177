package dev.semel.server.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RoutingTest {
    private static final Map<String, Medium> CHANNELS =
            Map.of("email", Medium.EMAIL, "sms", Medium.SMS, "whatsapp", Medium.WHATSAPP, "chat", Medium.CHAT);

    /**
     * Routes are written as channels, a fallback with a question mark; addresses and opt-outs by their medium. In the
     * plan + is taken, ? held in reserve, - skipped, and | stands between legs.
     */
    @ParameterizedTest
    @CsvSource({
        "email,              EMAIL,      '',    +email",
        "email,              '',         '',    -email",
        "email,              EMAIL,      EMAIL, -email",
        "email sms?,         EMAIL SMS,  '',    +email ?sms",
        "email sms?,         SMS,        '',    -email +sms",
        "email sms?,         EMAIL SMS,  EMAIL, -email +sms",
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
        Routing.Plan plan = Routing.plan(route(route), profile(addresses, optOuts), CHANNELS);
        String written = plan.legs().stream()
                .map(leg -> leg.choices().stream().map(RoutingTest::written).collect(Collectors.joining(" ")))
                .collect(Collectors.joining(" | "));
        assertEquals(expected, written);
        assertEquals(!expected.contains("+"), plan.silent());
        assertTrue(plan.legs().stream()
                .flatMap(leg -> leg.choices().stream())
                .noneMatch(choice -> choice.reason().isBlank()));
    }

    @Test
    void every_channel_has_its_reason() {
        Routing.Plan plan = Routing.plan(
                route("email sms? whatsapp? fax?"), profile("EMAIL SMS WHATSAPP", "EMAIL"), CHANNELS);
        assertEquals(
                List.of(
                        "unsubscribed from e-mail on 12 May 2026",
                        "has not unsubscribed; stands in for what was skipped",
                        "only if sms does not take it",
                        "the channel is not set up"),
                plan.legs().getFirst().choices().stream()
                        .map(Routing.Choice::reason)
                        .toList());
        assertEquals("to-SMS", plan.legs().getFirst().taken().orElseThrow().to());
    }

    @Test
    void a_fallback_follows_a_certain_failure_and_never_a_doubt() {
        Routing.Leg leg = Routing.plan(route("email fax? sms? whatsapp?"), profile("EMAIL SMS WHATSAPP", ""), CHANNELS)
                .legs()
                .getFirst();
        Routing.Choice mail = leg.choices().getFirst();
        assertEquals(Optional.empty(), Routing.next(leg, mail, Routing.Ended.ACCEPTED));
        assertEquals(Optional.empty(), Routing.next(leg, mail, Routing.Ended.IN_DOUBT));
        Routing.Reserve second = Routing.next(leg, mail, Routing.Ended.FAILED).orElseThrow();
        assertEquals("sms", second.hop().channel());
        Routing.Reserve third = Routing.next(leg, second, Routing.Ended.FAILED).orElseThrow();
        assertEquals("whatsapp", third.hop().channel());
        assertEquals(Optional.empty(), Routing.next(leg, third, Routing.Ended.FAILED));
        assertEquals(Optional.empty(), Routing.next(leg, second, Routing.Ended.IN_DOUBT));
    }

    @Test
    void an_essential_event_passes_a_wish_for_no_news() {
        Route route = new Route("receipt", true, route("email").hops());
        Routing.Plan plan = Routing.plan(route, profile("EMAIL", "EMAIL"), CHANNELS);
        assertEquals(
                "unsubscribed from e-mail on 12 May 2026, and receipt is essential",
                plan.legs().getFirst().taken().orElseThrow().reason());
    }

    @Test
    void a_route_begins_with_a_channel_that_is_no_fallback() {
        assertThrows(IllegalArgumentException.class, () -> route("sms?"));
        assertThrows(IllegalArgumentException.class, () -> new Route("e", false, List.of()));
        assertThrows(IllegalArgumentException.class, () -> route("sms ".repeat(21)));
    }

    private static String written(Routing.Choice choice) {
        String sign = switch (choice) {
            case Routing.Taken _ -> "+";
            case Routing.Reserve _ -> "?";
            case Routing.Skipped _ -> "-";
        };
        return sign + choice.hop().channel();
    }

    private static Route route(String hops) {
        List<Route.Hop> list = new ArrayList<>();
        for (String hop : hops.strip().split(" ")) {
            String channel = hop.replace("?", "");
            list.add(new Route.Hop(channel, channel + "-v1", hop.endsWith("?")));
        }
        return new Route("lead.welcome", false, list);
    }

    private static Profile profile(String addresses, String optOuts) {
        Map<Medium, String> known = new EnumMap<>(Medium.class);
        for (String medium : addresses.isBlank() ? new String[0] : addresses.split(" ")) {
            known.put(Medium.valueOf(medium), "to-" + medium);
        }
        List<Profile.OptOut> wishes = new ArrayList<>();
        for (String medium : optOuts.isBlank() ? new String[0] : optOuts.split(" ")) {
            wishes.add(new Profile.OptOut(Medium.valueOf(medium), null, LocalDate.of(2026, 5, 12)));
        }
        return new Profile("p1", known, wishes);
    }
}
