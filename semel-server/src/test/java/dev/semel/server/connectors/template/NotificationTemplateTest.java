package dev.semel.server.connectors.template;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

class NotificationTemplateTest {
    private static final JsonNode DATA = StrictJsonCodec.parse("""
        {"name": "Ann", "amount": 4900, "currency": "usd", "zero": 0, "no": false, "nothing": null, "empty": "",
         "user": {"city": "Köln", "tags": ["a", "b"]}, "half": 1.50,
         "lines": [{"sku": "s1", "sizes": [1, 2]}, {"sku": "s2", "sizes": []}], "none": []}
        """);

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            quoteCharacter = '\u0001',
            value = {
                "Hello {{ name }}! ~ Hello Ann!",
                "{{name}}{{ name }} ~ AnnAnn",
                "{{ user.city }} {{ user.tags.1 }} ~ Köln b",
                "{{ half }} {{ zero }} {{ no }} ~ 1.50 0 false",
                "{{ nick | default: \"friend\" }} ~ friend",
                "{{ nothing | default: name }} ~ Ann",
                "{{ amount | money: currency }} ~ 49.00 USD",
                "{{ amount | money: 'jpy' }} ~ 4900 JPY",
                "{{ fee | default: 0 | money: 'eur' }} ~ 0.00 EUR",
                "{{#if name}}yes{{else}}no{{/if}} ~ yes",
                "{{#if nick}}yes{{else}}no{{/if}} ~ no",
                "{{#if zero}}yes{{/if}}{{#if no}}yes{{/if}}{{#if nothing}}yes{{/if}}{{#if empty}}yes{{/if}}- ~ -",
                "{{#if none}}yes{{else}}no{{/if}}{{#if lines}}yes{{/if}}{{#if user}}yes{{/if}} ~ noyesyes",
                "{{#each user.tags}}[{{ this }}]{{/each}} ~ [a][b]",
                "{{#each lines as line}}{{ line.sku }}{{#each line.sizes as size}} {{ size }}{{else}}"
                        + " -{{/each}};{{/each}} ~ s1 1 2;s2 -;",
                "{{#each lines}}{{ this.sku }} for {{ name }} {{/each}} ~ s1 for Ann s2 for Ann",
                "{{! a note with 'quotes }}x ~ x",
                "{{ \"{{\" }} ~ {{",
                "{ name } ${ name } #{name} {% name %} ~ { name } ${ name } #{name} {% name %}",
            })
    void a_template_inserts_values(String template, String expected) {
        assertEquals(expected.strip(), text(template.strip()).strip());
    }

    @Test
    void a_block_tag_alone_on_its_line_removes_the_line() {
        String template = "Lines:\n{{#each lines as line}}\n  {{! one }}\n- {{ line.sku }}\n{{/each}}\n{{#if no}}\nno\n"
                + "{{else}}\r\nend\r\n{{/if}}\r\n";
        assertEquals("Lines:\n- s1\n- s2\nend\r\n", text(template));
    }

    @Test
    void html_is_always_escaped_and_text_never() {
        ObjectNode data = JsonNodeFactory.instance.objectNode();
        data.put("name", "<b onclick='x'>\"A&B\"</b>");
        RenderedMessage rendered = template("{{ name }}", "{{ name }}", "<p title=\"{{ name }}\">{{ name }}</p>")
                .render(data);
        String escaped = "&lt;b onclick=&#39;x&#39;&gt;&quot;A&amp;B&quot;&lt;/b&gt;";
        assertEquals("<p title=\"" + escaped + "\">" + escaped + "</p>", rendered.html());
        assertEquals("<b onclick='x'>\"A&B\"</b>", rendered.text());
        assertEquals("<b onclick='x'>\"A&B\"</b>", rendered.subject());
    }

    @Test
    void a_value_in_a_chat_message_cannot_mention_anyone() {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        document.put("channel", "chat").put("text", "<https://acme.example|open> {{ name }}");
        ObjectNode data = JsonNodeFactory.instance.objectNode().put("name", "<!everyone> & <@U1>");
        assertEquals(
                "<https://acme.example|open> &lt;!everyone&gt; &amp; &lt;@U1&gt;",
                NotificationTemplate.of("t", document).render(data).text());
    }

    /** S28. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{{7*7}}",
                "{{''.getClass().forName('java.lang.Runtime')}}",
                "{{ name.getClass() }}",
                "{{ name.class.classLoader() }}",
                "{{ name() }}",
                "{{> other}}",
                "{{{ name }}}",
                "{{& name}}",
                "{{#with name}}x{{/with}}",
                "{{ name | upper }}",
                "{{ name | exec: \"id\" }}",
                "{{ @root.name }}",
                "{{ ../name }}",
                "{{ name = 1 }}",
            })
    void complex_expressions_are_rejected_when_the_template_is_stored(String template) {
        ObjectNode document = JsonNodeFactory.instance.objectNode().put("text", template);
        assertFalse(NotificationTemplate.check(document).isEmpty());
        assertEquals(
                ErrorCode.INVALID_INPUT,
                assertThrows(SemelException.class, () -> NotificationTemplate.of("t", document))
                        .code());
    }

    /** S28: other languages' ways to call something are plain text here, and names reach members of data only. */
    @Test
    void syntax_of_other_template_languages_stays_text() {
        for (String text : new String[] {
            "${7*7}", "#{T(java.lang.Runtime).getRuntime().exec('id')}", "${jndi:ldap://x}", "<%= 7*7 %>"
        }) {
            assertEquals(text, text(text));
        }
        for (String name : new String[] {"class", "getClass", "name.class", "name.length", "user.tags.size"}) {
            assertThrows(SemelException.class, () -> text("{{ " + name + " }}"), name);
        }
    }

    /** S29. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{{secrets.STRIPE}}",
                "{{ name }}",
                "${ secret.STRIPE }",
                "{{#each lines}}{{/each}}",
                "{{",
                "}}",
                "{{! x",
                "\\{{ name }}"
            })
    void data_are_never_evaluated_again(String evil) {
        ObjectNode data = JsonNodeFactory.instance.objectNode().put("name", evil);
        data.put("secrets", "no").putArray("list").add(evil);
        assertEquals(
                evil + evil + evil,
                template(null, "{{ name }}{{#each list}}{{ this }}{{/each}}{{ x | default: name }}", null)
                        .render(data)
                        .text());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            quoteCharacter = '\u0001',
            value = {
                "a\\n  {{ user.street }} ~ text, line 2, column 3: `user.street` is missing",
                "{{ nothing }} ~ text, line 1, column 1: `nothing` is missing",
                "{{ name.first }} ~ `name.first` is missing",
                "{{ user.tags.7 }} ~ `user.tags.7` is missing",
                "{{ nick | default: nothing }} ~ `nick` is missing",
                "{{ nick | money: 'eur' }} ~ `nick` is missing",
                "{{#each nick}}x{{/each}} ~ `nick` is missing, but must be a list",
                "{{#each name}}x{{/each}} ~ `name` is a text, but must be a list",
                "{{ user }} ~ `user` is an object, but must be text",
                "{{ lines }} ~ `lines` is a list, but must be text",
                "{{ half | money: 'eur' }} ~ `half` is not a whole number",
                "{{ amount | money: name }} ~ the currency of `amount` is not an ISO 4217 code",
                "{{ amount | money: nick }} ~ the currency of `amount` is not an ISO 4217 code",
            })
    void a_missing_or_mismatched_value_fails_with_its_position(String template, String expected) {
        SemelException failure =
                assertThrows(SemelException.class, () -> text(template.strip().replace("\\n", "\n")));
        assertTrue(failure.detail().contains(expected.strip()), failure::detail);
        assertTrue(failure.detail().startsWith("Semel could not render template 'welcome' in "), failure::detail);
        assertTrue(failure.detail().endsWith("Nothing was sent."), failure::detail);
        assertEquals("welcome", failure.members().get("template"));
    }

    @Test
    void a_failure_never_shows_a_value() {
        ObjectNode data = JsonNodeFactory.instance.objectNode().put("name", "s3cret\nvalue");
        SemelException failure = assertThrows(
                SemelException.class, () -> template("Hi {{ name }}", "x", null).render(data));
        assertFalse(failure.toString().contains("s3cret"), failure::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\r\nBcc: b@x.example", "a\nb", "a\rb", "a\u0000b", "a\u0085b"})
    void a_subject_stays_one_line(String evil) {
        ObjectNode data = JsonNodeFactory.instance.objectNode().put("name", evil);
        SemelException failure = assertThrows(
                SemelException.class, () -> template("Hi {{ name }}", "x", null).render(data));
        assertTrue(
                failure.detail().contains("subject, line 1, column 4: `name` contains a line break"), failure::detail);
        ObjectNode document =
                JsonNodeFactory.instance.objectNode().put("subject", evil).put("text", "x");
        assertEquals(1, NotificationTemplate.check(document).size());
    }

    @Test
    void output_loops_and_nodes_are_limited() {
        ObjectNode data = JsonNodeFactory.instance.objectNode().put("long", "ä".repeat(300_000));
        var items = data.putArray("items");
        for (int i = 0; i < 200; i++) {
            items.add(i);
        }
        assertEquals(
                "ä".repeat(300_000),
                template(null, "{{ long }}", null).render(data).text());
        refused("{{ long }}{{ long }}", data, "longer than 1048576 bytes");
        refused("{{#each items as a}}{{#each items as b}}{{/each}}{{/each}}", data, "more than 10000 items");
        refused("{{#each items as a}}" + "{{#if a}}{{/if}}".repeat(6_000) + "{{/each}}", data, "1000000 nodes");
        data.set("huge", StrictJsonCodec.parse("1e400"));
        refused("{{ huge }}", data, "too many digits");
        assertTrue(StrictJsonCodec.parse("1e400").isNumber());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            quoteCharacter = '\u0001',
            value = {
                "a\\nb {{ name ~ 2 ~ 3 ~ not closed",
                "{{ name {{ name }} ~ 1 ~ 1 ~ not closed",
                "{{#if name}}x ~ 1 ~ 1 ~ {{/if}} is missing",
                "x{{/if}} ~ 1 ~ 2 ~ no block is open",
                "{{#if name}}{{/each}}{{/if}} ~ 1 ~ 13 ~ {{/if}} was expected",
                "{{else}} ~ 1 ~ 1 ~ may appear only once",
                "{{#if name}}{{else}}{{else}}{{/if}} ~ 1 ~ 21 ~ may appear only once",
                "{{#each}}x{{/each}} ~ 1 ~ 1 ~ a block must be",
                "{{#each lines as}}x{{/each}} ~ 1 ~ 1 ~ a block must be",
                "{{#each lines as 1}}x{{/each}} ~ 1 ~ 1 ~ a block must be",
                "{{#if a b}}x{{/if}} ~ 1 ~ 1 ~ a block must be",
                "{{ }} ~ 1 ~ 1 ~ not a value",
                "{{ this }} ~ 1 ~ 1 ~ a list item",
                "{{ name | default }} ~ 1 ~ 1 ~ after | write",
                "{{ name | }} ~ 1 ~ 1 ~ after | write",
                "{{ name | nope: 1 }} ~ 1 ~ 1 ~ unknown filter",
                "𝄞{{{ name }}} ~ 1 ~ 2 ~ unescaped values are not supported",
            })
    void a_mistake_has_a_line_and_a_column(String template, int line, int column, String message) {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        document.put("text", template.strip().replace("\\n", "\n"));
        NotificationTemplateProblem problem =
                NotificationTemplate.check(document).getFirst();
        assertTrue(problem.message().contains(message.strip()), problem::toString);
        assertEquals(line + ":" + column, problem.line() + ":" + problem.column(), problem::toString);
        assertEquals("text", problem.part());
    }

    @Test
    void blocks_have_a_greatest_depth() {
        String deep = "{{#if name}}".repeat(16) + "x" + "{{/if}}".repeat(16);
        assertEquals("x", text(deep));
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        document.put("text", "{{#if name}}" + deep + "{{/if}}");
        assertTrue(NotificationTemplate.check(document).getFirst().message().contains("nested more than 16 levels"));
    }

    @Test
    void up_to_a_hundred_mistakes_are_reported_together() {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        document.put("subject", "{{ 7*7 }}").put("text", "{{#nope}}").put("html", "<p>{{ }}</p>");
        assertEquals(4, NotificationTemplate.check(document).size());
        document.put("text", "{{ }}".repeat(1_000));
        assertEquals(100, NotificationTemplate.check(document).size());
        assertEquals(
                1,
                NotificationTemplate.check(JsonNodeFactory.instance.objectNode())
                        .size());
        assertEquals(
                2,
                NotificationTemplate.check(StrictJsonCodec.parse("{\"text\": 7}"))
                        .size());
    }

    @Test
    void a_template_lists_the_values_it_reads() {
        String text = "{{ name | default: nick }} {{ amount | money: currency }} {{#if user.city}}{{/if}}"
                + "{{#each lines as line}}{{ line.sku }}{{#each line.sizes}}{{ this }}{{/each}}{{ name }}{{/each}}";
        assertEquals(
                Set.of(
                        "name",
                        "nick",
                        "amount",
                        "currency",
                        "user.city",
                        "lines",
                        "lines[].sku",
                        "lines[].sizes",
                        "lines[].sizes[]"),
                template(null, text, null).referencedPaths());
    }

    @Test
    void a_missing_part_is_not_rendered() {
        RenderedMessage rendered = template(null, "x", null).render(DATA);
        assertNull(rendered.subject());
        assertNull(rendered.html());
    }

    @Test
    void a_large_template_is_read_in_one_pass() {
        String large = "{{ name }}{{#if no}}{{/if}}".repeat(10_000);
        ObjectNode document = JsonNodeFactory.instance.objectNode().put("text", large);
        document.put("html", "<p title=\"{{ name }}\">" + large + "</p>");
        assertEquals(
                "Ann".repeat(10_000),
                NotificationTemplate.of("t", document).render(DATA).text());
    }

    private static void refused(String template, JsonNode data, String why) {
        SemelException failure = assertThrows(
                SemelException.class, () -> template(null, template, null).render(data));
        assertTrue(failure.detail().contains(why), failure::detail);
    }

    private static String text(String template) {
        return String.valueOf(template(null, template, null).render(DATA).text());
    }

    private static NotificationTemplate template(
            @Nullable String subject, @Nullable String text, @Nullable String html) {
        ObjectNode document = JsonNodeFactory.instance.objectNode();
        document.put("subject", subject).put("text", text).put("html", html);
        return NotificationTemplate.of("welcome", document);
    }
}
