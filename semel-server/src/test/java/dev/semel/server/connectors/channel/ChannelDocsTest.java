package dev.semel.server.connectors.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.StrictJsonCodec;
import dev.semel.server.connectors.notification.WorkspaceFixture;
import dev.semel.server.connectors.template.NotificationTemplate;
import dev.semel.server.connectors.template.RenderedMessage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** Every document on the page about channels can be stored as it stands there. */
class ChannelDocsTest {
    private static final Pattern BLOCK = Pattern.compile("```json\n(.*?)\n```", Pattern.DOTALL);

    @TempDir
    Path folder;

    @Test
    void the_documents_on_the_docs_page_can_be_stored() throws IOException {
        List<JsonNode> documents = BLOCK.matcher(page())
                .results()
                .map(MatchResult::group)
                .map(block -> StrictJsonCodec.parse(block.substring(8, block.length() - 4)))
                .toList();
        assertTrue(documents.size() >= 7, () -> documents.size() + " documents");
        try (var workspace = new WorkspaceFixture(folder)) {
            for (JsonNode document : documents) {
                if (document.has("kind")) {
                    var channel = workspace.settings.channels().parse(document);
                    assertEquals(List.of(), NotificationChannelFactory.check(channel), document::toString);
                } else if (document.has("notification")) {
                    workspace.settings.routes().parse(document);
                } else {
                    var template = workspace.settings.templates().parse(document);
                    assertEquals(List.of(), NotificationTemplate.check(template), document::toString);
                }
            }
        }
    }

    @Test
    void the_template_on_the_docs_page_renders_as_shown() throws IOException {
        JsonNode template = BLOCK.matcher(page())
                .results()
                .map(block -> StrictJsonCodec.parse(block.group(1)))
                .filter(document -> document.has("subject"))
                .findFirst()
                .orElseThrow();
        JsonNode data = StrictJsonCodec.parse("""
            {"payment": "pay_1", "currency": "eur", "lines": [{"title": "Tea & more", "amount": 250}],
             "license": "LIC-1", "link": "https://acme.example/?a=1&b=2"}
            """);
        RenderedMessage rendered = NotificationTemplate.of("receipt", template).render(data);
        assertEquals("Receipt for pay_1", rendered.subject());
        assertEquals("Dear customer,\n\n- Tea & more: 2.50 EUR\nYour license is LIC-1.\n", rendered.text());
        assertEquals(
                "<p>Dear customer,</p><ul><li>Tea &amp; more</li></ul>"
                        + "<p><a href=\"https://acme.example/?a=1&amp;b=2\">Open</a></p>",
                rendered.html());
    }

    private static String page() throws IOException {
        try (InputStream in = ChannelDocsTest.class.getResourceAsStream("/dev/semel/server/docs/channels.md")) {
            if (in == null) {
                throw new IOException("the page is not in the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
