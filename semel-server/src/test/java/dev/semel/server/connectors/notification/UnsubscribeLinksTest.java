package dev.semel.server.connectors.notification;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;

class UnsubscribeLinksTest {
    private static final UnsubscribeLinks.OptOut ANN =
            new UnsubscribeLinks.OptOut(1, "ann@example.com", "lead.welcome");
    private static final UnsubscribeLinks LINKS =
            new UnsubscribeLinks("https://semel.example.com", ws -> ws == 1 ? new byte[] {1, 2, 3} : null);

    private static String token(UnsubscribeLinks links, UnsubscribeLinks.OptOut optOut) {
        String header = links.headers(optOut).getOrDefault("List-Unsubscribe", "");
        return header.substring(header.lastIndexOf('/') + 1, header.length() - 1);
    }

    @Test
    void a_link_names_the_recipient_and_the_topic_to_this_server_only() {
        Map<String, String> headers = LINKS.headers(ANN);
        assertEquals("List-Unsubscribe=One-Click", headers.get("List-Unsubscribe-Post"));
        String link = headers.getOrDefault("List-Unsubscribe", "");
        assertTrue(link.startsWith("<https://semel.example.com/v1/unsubscribe/1-"), link);
        assertFalse(link.contains("ann"), link);
        assertEquals(ANN, LINKS.parse(token(LINKS, ANN)));
        assertEquals(headers, LINKS.headers(ANN), "every attempt sends the same mail");
    }

    @Test
    void a_changed_or_foreign_link_is_not_valid() {
        String token = token(LINKS, ANN);
        UnsubscribeLinks others = new UnsubscribeLinks("https://semel.example.com", _ -> new byte[] {9});
        assertNull(others.parse(token));
        assertNull(LINKS.parse(token.replace("1-", "2-")));
        assertNull(LINKS.parse(token.substring(0, token.length() - 2)));
        char last = token.charAt(20) == 'A' ? 'B' : 'A';
        assertNull(LINKS.parse(token.substring(0, 20) + last + token.substring(21)));
        assertNull(LINKS.parse(""));
        assertNull(LINKS.parse("1-" + "A".repeat(50)));
        assertNotEquals(token, token(LINKS, new UnsubscribeLinks.OptOut(1, "bob@example.com", "lead.welcome")));
    }

    @Test
    void without_a_public_url_messages_have_no_link() {
        assertEquals(Map.of(), UnsubscribeLinks.NONE.headers(ANN));
        assertEquals(Map.of(), LINKS.headers(new UnsubscribeLinks.OptOut(3, "ann@example.com", "t")));
    }
}
