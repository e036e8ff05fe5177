package dev.semel.server.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.settings.RouteSetting;
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

class RoutingTest {
    private static final Map<String, Medium> CHANNELS =
            Map.of("email", Medium.EMAIL, "sms", Medium.SMS, "whatsapp", Medium.WHATSAPP, "chat", Medium.CHAT);
    private static final Routing.SetUp SET_UP =
            new Routing.SetUp(CHANNELS, Set.of("email-v1", "sms-v1", "whatsapp-v1", "chat-v1", "fax-v1"));

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
        Routing.Plan plan = Routing.plan(route(route), recipient(addresses, optOuts), SET_UP);
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
        Routing.Plan plan =
                Routing.plan(route("email sms? whatsapp? fax?"), recipient("EMAIL SMS WHATSAPP", "email"), SET_UP);
        assertEquals(
                List.of(
                        "unsubscribed from e-mail on 12 May 2026",
                        "has not unsubscribed; replaces the skipped channel",
                        "only if sms fails",
                        "the channel does not exist"),
                plan.legs().getFirst().choices().stream()
                        .map(Routing.Choice::reason)
                        .toList());
        assertEquals("to-SMS", plan.legs().getFirst().taken().orElseThrow().to());
    }

    @Test
    void a_fallback_follows_a_certain_failure_and_never_a_doubt() {
        Routing.Leg leg = Routing.plan(route("email fax? sms? whatsapp?"), recipient("EMAIL SMS WHATSAPP", ""), SET_UP)
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
        RouteSetting route = new RouteSetting("receipt", true, route("email").legs());
        Routing.Plan plan = Routing.plan(route, recipient("EMAIL", "email"), SET_UP);
        assertEquals(
                "unsubscribed from e-mail on 12 May 2026, and receipt is essential",
                plan.legs().getFirst().taken().orElseThrow().reason());
    }

    @Test
    void a_mistake_in_the_settings_is_told_from_a_wish_of_the_person() {
        assertFalse(Routing.plan(route("email"), recipient("", ""), SET_UP).broken());
        assertTrue(
                Routing.plan(route("fax email"), recipient("EMAIL", ""), SET_UP).broken());
        var without = new Routing.SetUp(CHANNELS, Set.of());
        Routing.Plan plan = Routing.plan(route("email"), recipient("EMAIL", ""), without);
        assertTrue(plan.broken() && plan.silent());
        assertEquals(
                "there is no template email-v1",
                plan.legs().getFirst().choices().getFirst().reason());
    }

    private static String written(Routing.Choice choice) {
        String sign = switch (choice) {
            case Routing.Taken _ -> "+";
            case Routing.Reserve _ -> "?";
            case Routing.Skipped _ -> "-";
        };
        return sign + choice.hop().channel();
    }

    private static RouteSetting route(String hops) {
        List<RouteSetting.Leg> legs = new ArrayList<>();
        for (String hop : hops.strip().split(" ")) {
            String channel = hop.replace("?", "");
            RouteSetting.When when = hop.endsWith("?") ? RouteSetting.When.FALLBACK : RouteSetting.When.ALWAYS;
            legs.add(new RouteSetting.Leg(channel, channel + "-v1", when));
        }
        return new RouteSetting("lead.welcome", false, legs);
    }

    private static Recipient recipient(String addresses, String optOuts) {
        Map<Medium, String> known = new EnumMap<>(Medium.class);
        for (String medium : addresses.isBlank() ? new String[0] : addresses.split(" ")) {
            known.put(Medium.valueOf(medium), "to-" + medium);
        }
        List<Recipient.OptOut> wishes = new ArrayList<>();
        for (String topic : optOuts.isBlank() ? new String[0] : optOuts.split(" ")) {
            wishes.add(new Recipient.OptOut(topic, LocalDate.of(2026, 5, 12)));
        }
        return new Recipient(known, wishes);
    }
}
