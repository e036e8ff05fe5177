package dev.semel.server.connectors.notification;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.server.connectors.template.NotificationMedium;
import java.time.LocalDate;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NotificationOptOutPolicyTest {
    private static final LocalDate DAY = LocalDate.of(2026, 5, 12);

    @ParameterizedTest
    @CsvSource({
        "'',                  EMAIL, false, true,  the recipient has not unsubscribed",
        "'',                  SMS,   false, false, the recipient has no address for SMS",
        "'',                  SMS,   true,  false, the recipient has no address for SMS",
        "'',                  CHAT,  false, false, the recipient has no address for chat",
        "email,               EMAIL, false, false, the recipient unsubscribed from e-mail on 12 May 2026",
        "sms,                 EMAIL, false, true,  the recipient has not unsubscribed",
        "all,                 EMAIL, false, false, the recipient unsubscribed from everything on 12 May 2026",
        "news,                EMAIL, false, false, the recipient unsubscribed from news on 12 May 2026",
        "other-channel,       EMAIL, false, true,  the recipient has not unsubscribed",
        "lead.welcome,        EMAIL, false, false, the recipient unsubscribed from lead.welcome on 12 May 2026",
        "lead.other,          EMAIL, false, true,  the recipient has not unsubscribed",
        "email,               EMAIL, true,  true,  'the recipient unsubscribed from e-mail on 12 May 2026, and"
                + " lead.welcome is essential'",
        "all,                 EMAIL, true,  true,  'the recipient unsubscribed from everything on 12 May 2026, and"
                + " lead.welcome is essential'",
        "news,                EMAIL, true,  true,  'the recipient unsubscribed from news on 12 May 2026, and"
                + " lead.welcome is essential'",
        "lead.welcome,        EMAIL, true,  false, the recipient unsubscribed from lead.welcome on 12 May 2026",
        "sms email,           EMAIL, false, false, the recipient unsubscribed from e-mail on 12 May 2026",
        "email lead.welcome,  EMAIL, true,  false, the recipient unsubscribed from lead.welcome on 12 May 2026",
    })
    void an_opt_out_is_honoured_and_named(
            String optOuts, NotificationMedium medium, boolean essential, boolean allowed, String reason) {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.GERMANY);
        try {
            NotificationOptOutPolicy.Decision answer = NotificationOptOutPolicy.decide(
                    recipient(optOuts),
                    new NotificationOptOutPolicy.TargetChannel("news", medium),
                    new NotificationOptOutPolicy.Notification("lead.welcome", essential));
            assertEquals(
                    allowed
                            ? new NotificationOptOutPolicy.Allowed(reason)
                            : new NotificationOptOutPolicy.Denied(reason),
                    answer);
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void a_message_without_an_event_is_checked_only_against_channels() {
        var way = new NotificationOptOutPolicy.TargetChannel("news", NotificationMedium.EMAIL);
        assertEquals(
                new NotificationOptOutPolicy.Denied("the recipient unsubscribed from e-mail on 12 May 2026"),
                NotificationOptOutPolicy.decide(recipient("email"), way, null));
        assertEquals(
                new NotificationOptOutPolicy.Allowed("the recipient has not unsubscribed"),
                NotificationOptOutPolicy.decide(recipient("lead.welcome"), way, null));
    }

    @Test
    void the_kind_of_an_address_is_recognized() {
        assertEquals(
                "a@b.example",
                NotificationRecipient.ofAddress("a@b.example").addresses().get(NotificationMedium.EMAIL));
        assertEquals(
                "+4930", NotificationRecipient.ofAddress("+4930").addresses().get(NotificationMedium.WHATSAPP));
        assertEquals(
                "#leads", NotificationRecipient.ofAddress("#leads").addresses().get(NotificationMedium.CHAT));
        assertEquals(
                Map.of(NotificationMedium.WEBHOOK, "cust_7"),
                NotificationRecipient.ofAddress("cust_7").addresses());
    }

    private static NotificationRecipient recipient(String optOuts) {
        List<NotificationRecipient.OptOut> claims = Stream.of(optOuts.split(" "))
                .filter(topic -> !topic.isBlank())
                .map(topic -> new NotificationRecipient.OptOut(topic, DAY))
                .toList();
        return new NotificationRecipient(
                Map.of(NotificationMedium.EMAIL, "ann@example.com", NotificationMedium.CHAT, " "), claims);
    }
}
