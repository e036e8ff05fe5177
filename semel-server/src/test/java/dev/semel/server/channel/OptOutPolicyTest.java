package dev.semel.server.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.LocalDate;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OptOutPolicyTest {
    private static final LocalDate DAY = LocalDate.of(2026, 5, 12);

    @ParameterizedTest
    @CsvSource({
        "'',                  EMAIL, false, true,  has not unsubscribed",
        "'',                  SMS,   false, false, has no address for SMS",
        "'',                  SMS,   true,  false, has no address for SMS",
        "'',                  CHAT,  false, false, has no address for chat",
        "email,               EMAIL, false, false, unsubscribed from e-mail on 12 May 2026",
        "sms,                 EMAIL, false, true,  has not unsubscribed",
        "all,                 EMAIL, false, false, unsubscribed from everything on 12 May 2026",
        "news,                EMAIL, false, false, unsubscribed from news on 12 May 2026",
        "other-channel,       EMAIL, false, true,  has not unsubscribed",
        "lead.welcome,        EMAIL, false, false, unsubscribed from lead.welcome on 12 May 2026",
        "lead.other,          EMAIL, false, true,  has not unsubscribed",
        "email,               EMAIL, true,  true,  'unsubscribed from e-mail on 12 May 2026, and lead.welcome is"
                + " essential'",
        "all,                 EMAIL, true,  true,  'unsubscribed from everything on 12 May 2026, and lead.welcome is"
                + " essential'",
        "news,                EMAIL, true,  true,  'unsubscribed from news on 12 May 2026, and lead.welcome is"
                + " essential'",
        "lead.welcome,        EMAIL, true,  false, unsubscribed from lead.welcome on 12 May 2026",
        "sms email,           EMAIL, false, false, unsubscribed from e-mail on 12 May 2026",
        "email lead.welcome,  EMAIL, true,  false, unsubscribed from lead.welcome on 12 May 2026",
    })
    void an_opt_out_is_honoured_and_named(
            String optOuts, Medium medium, boolean essential, boolean allowed, String reason) {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.GERMANY);
        try {
            OptOutPolicy.Decision answer = OptOutPolicy.decide(
                    recipient(optOuts),
                    new OptOutPolicy.TargetChannel("news", medium),
                    new OptOutPolicy.NotificationEvent("lead.welcome", essential));
            assertEquals(allowed ? new OptOutPolicy.Allowed(reason) : new OptOutPolicy.Denied(reason), answer);
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void a_message_without_an_event_is_checked_only_against_channels() {
        var way = new OptOutPolicy.TargetChannel("news", Medium.EMAIL);
        assertEquals(
                new OptOutPolicy.Denied("unsubscribed from e-mail on 12 May 2026"),
                OptOutPolicy.decide(recipient("email"), way, null));
        assertEquals(
                new OptOutPolicy.Allowed("has not unsubscribed"),
                OptOutPolicy.decide(recipient("lead.welcome"), way, null));
    }

    @Test
    void the_kind_of_an_address_is_recognized() {
        assertEquals(
                "a@b.example", Recipient.ofAddress("a@b.example").addresses().get(Medium.EMAIL));
        assertEquals("+4930", Recipient.ofAddress("+4930").addresses().get(Medium.WHATSAPP));
        assertEquals("#leads", Recipient.ofAddress("#leads").addresses().get(Medium.CHAT));
        assertEquals(
                Map.of(Medium.WEBHOOK, "cust_7"), Recipient.ofAddress("cust_7").addresses());
    }

    private static Recipient recipient(String optOuts) {
        List<Recipient.OptOut> wishes = Stream.of(optOuts.split(" "))
                .filter(topic -> !topic.isBlank())
                .map(topic -> new Recipient.OptOut(topic, DAY))
                .toList();
        return new Recipient(Map.of(Medium.EMAIL, "ann@example.com", Medium.CHAT, " "), wishes);
    }
}
