package dev.semel.server.connectors.template;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

class NotificationHtmlInjectionGuardTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "<p>{{ v }}</p>",
                "<p title=\"{{ v }}\" class='a {{ v }}'>",
                "<title>{{ v }}</title>",
                "<a href=\"https://acme.example/{{ v }}\">x</a>",
                "<a {{#if v}}href=\"https://a.example\"{{else}}name=\"x\"{{/if}}>x</a>",
                "<!-- note {{! note }} --> {{ v }}",
                "a < b {{#if v}}>{{/if}}",
                "<style>p { color: red }</style><p>{{ v }}</p>",
                "<script></script>{{ v }}",
            })
    void between_tags_and_in_quotes_a_value_is_text(String html) {
        assertEquals(List.of(), problems(html));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "<p title={{ v }}>",
                "<{{ v }}>",
                "<p {{ v }}>",
                "<p {{ v }}=\"x\">",
                "<script>var x = \"{{ v }}\";</script>",
                "<SCRIPT type='x'>{{ v }}</SCRIPT>",
                "<style>p { color: {{ v }} }</style>",
                "<!-- {{ v }} -->",
                "<p onclick=\"f('{{ v }}')\">",
                "<p ONCLICK = '{{ v }}'>",
                "<p style=\"color: {{ v }}\">",
                "<iframe srcdoc=\"{{ v }}\"></iframe>",
                "<img srcset=\"{{ v }} 2x\">",
                "<script>{{ v }}",
                "<p \"{{ v }}\">",
                "<p {{#if v}}onclick{{/if}}=\"{{ v }}\">",
            })
    void values_are_rejected_where_they_would_be_code(String html) {
        assertEquals(1, problems(html).size(), () -> problems(html).toString());
    }

    @Test
    void a_link_from_a_value_may_be_http_or_mailto() {
        for (String link : new String[] {"https://a.example/?a=1&b=2", "HTTP://a.example", "mailto:a@b.example"}) {
            assertEquals("<a href=\"" + link.replace("&", "&amp;") + "\">", filled("<a href=\"{{ v }}\">", link));
            filled("<a href=\"{{#if v}}{{ v }}{{/if}}\">", link);
        }
        for (String link :
                new String[] {"javascript:alert(1)", " javascript:x", "data:text/html,x", "//evil.example", ""}) {
            for (String html : new String[] {"<a href=\"{{ v }}\">", "<img src='{{#if no}}{{else}}{{ v }}{{/if}}'>"}) {
                SemelException failure = assertThrows(SemelException.class, () -> filled(html, link));
                assertTrue(failure.detail().contains("`v` begins a link"), failure::detail);
            }
        }
    }

    private static List<NotificationTemplateProblem> problems(String html) {
        return NotificationTemplate.check(JsonNodeFactory.instance.objectNode().put("html", html));
    }

    private static String filled(String html, String value) {
        ObjectNode document = JsonNodeFactory.instance.objectNode().put("html", html);
        ObjectNode data = JsonNodeFactory.instance.objectNode().put("v", value);
        return String.valueOf(
                NotificationTemplate.of("t", document).render(data).html());
    }
}
