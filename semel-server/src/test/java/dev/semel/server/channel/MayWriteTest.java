package dev.semel.server.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MayWriteTest {
    private static final LocalDate DAY = LocalDate.of(2026, 5, 12);

    /** Opt-outs are written as medium/event, with * for all of them. */
    @ParameterizedTest
    @CsvSource({
        "'',                      EMAIL, false, true,  has not unsubscribed",
        "'',                      SMS,   false, false, has no address for SMS",
        "'',                      SMS,   true,  false, has no address for SMS",
        "'',                      CHAT,  false, false, has no address for chat",
        "EMAIL/*,                 EMAIL, false, false, unsubscribed from e-mail on 12 May 2026",
        "SMS/*,                   EMAIL, false, true,  has not unsubscribed",
        "*/*,                     EMAIL, false, false, unsubscribed from everything on 12 May 2026",
        "*/lead.welcome,          EMAIL, false, false, unsubscribed from lead.welcome on 12 May 2026",
        "*/other,                 EMAIL, false, true,  has not unsubscribed",
        "EMAIL/lead.welcome,      EMAIL, false, false, unsubscribed from lead.welcome by e-mail on 12 May 2026",
        "EMAIL/other,             EMAIL, false, true,  has not unsubscribed",
        "WHATSAPP/lead.welcome,   EMAIL, false, true,  has not unsubscribed",
        "EMAIL/*,                 EMAIL, true,  true,  'unsubscribed from e-mail on 12 May 2026, and lead.welcome is essential'",
        "*/*,                     EMAIL, true,  true,  'unsubscribed from everything on 12 May 2026, and lead.welcome is essential'",
        "*/lead.welcome,          EMAIL, true,  false, unsubscribed from lead.welcome on 12 May 2026",
        "EMAIL/lead.welcome,      EMAIL, true,  false, unsubscribed from lead.welcome by e-mail on 12 May 2026",
        "SMS/* EMAIL/*,           EMAIL, false, false, unsubscribed from e-mail on 12 May 2026",
        "EMAIL/* */lead.welcome,  EMAIL, true,  false, unsubscribed from lead.welcome on 12 May 2026",
    })
    void a_wish_not_to_be_written_to_is_kept_and_named(
            String optOuts, Medium medium, boolean essential, boolean allowed, String reason) {
        List<Profile.OptOut> wishes = new ArrayList<>();
        for (String wish : optOuts.isBlank() ? new String[0] : optOuts.split(" ")) {
            String[] parts = wish.split("/");
            wishes.add(new Profile.OptOut(
                    parts[0].equals("*") ? null : Medium.valueOf(parts[0]),
                    parts[1].equals("*") ? null : parts[1],
                    DAY));
        }
        var profile = new Profile("p1", Map.of(Medium.EMAIL, "ann@example.com", Medium.CHAT, " "), wishes);
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.GERMANY);
        try {
            MayWrite.Answer answer = MayWrite.decide(profile, medium, new MayWrite.Event("lead.welcome", essential));
            assertEquals(allowed ? new MayWrite.Allowed(reason) : new MayWrite.Refused(reason), answer);
        } finally {
            Locale.setDefault(before);
        }
    }
}
