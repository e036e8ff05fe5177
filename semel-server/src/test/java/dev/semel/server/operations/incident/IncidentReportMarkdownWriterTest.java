package dev.semel.server.operations.incident;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.StrictJsonCodec;
import dev.semel.server.settings.IncidentReport;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What others named does nothing in a review, and what was not looked at is not called nothing. */
final class IncidentReportMarkdownWriterTest {
    /** A sign that means something, and no backslash in front of it that is not itself one of a pair. */
    private static final Pattern LIVE = Pattern.compile("(?<!\\\\)(?:\\\\\\\\)*[`*\\[\\]|#!~<>]");

    @Test
    void a_name_is_shown_as_written() {
        String[][] cases = {
            {"send_mail", "send_mail"},
            {"run_0AbC9", "run_0AbC9"},
            {"_a_", "\\_a\\_"},
            {"__init__", "\\_\\_init\\_\\_"},
            {"a*b*c", "a\\*b\\*c"},
            {"`x`", "\\`x\\`"},
            {"](javascript:alert(1))", "\\](javascript:alert(1))"},
            {"<img>", "&lt;img&gt;"},
            {"&lt;", "&amp;lt;"},
            {"a|b", "a\\|b"},
            {"a\\", "a\\\\"},
            {"#x", "\\#x"},
            {"- x", "\\- x"},
            {"x-y", "x-y"},
            {"12. x", "12\\. x"},
            {"1.5.2", "1\\.5.2"},
            {"~~x~~", "\\~\\~x\\~\\~"},
            {"![x](y)", "\\!\\[x\\](y)"},
            {"", ""}
        };
        for (String[] one : cases) {
            assertEquals(one[1], MarkdownEscaper.escape(one[0]));
        }
    }

    @Test
    void a_name_stays_on_one_line() {
        assertEquals("a b c d", MarkdownEscaper.escape("a\nb\r\n\u2028c\t\u0000\u202e d\n"));
    }

    private static JsonNode facts(String name) {
        ObjectNode facts = (ObjectNode) StrictJsonCodec.parse("""
            {"failed_runs": 2, "errors": [{"runs": 2}], "audit": [{}], "alerts": [{}], "audit_rows": 1,
             "duplicated": 1, "duplicated_objects": [{}], "possibly_duplicated": 0, "first": {"at": "2026-11-15T08:40:00Z"}}
            """);
        for (String member : new String[] {"run_id", "step", "code", "message"}) {
            ((ObjectNode) facts.get("first")).put(member, name);
        }
        ((ObjectNode) facts.at("/errors/0")).put("code", name).put("step", name);
        ((ObjectNode) facts.at("/audit/0"))
                .put("at", "2026-11-15T08:40:00Z")
                .put("actor_id", name)
                .put("action", name)
                .put("target", name);
        ((ObjectNode) facts.at("/alerts/0")).put("name", name).put("at", "2026-11-15T08:40:00Z");
        ((ObjectNode) facts.at("/duplicated_objects/0")).put("object", name);
        return facts;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "](javascript:alert(1))",
                "![x](https://evil.example/x.png)",
                "<img src=x onerror=alert(1)>",
                "```\ncode",
                "a | b |\n|---|\n| c",
                "\n# heading\n",
                "**bold** __x__ ~~y~~",
                "trailing\\"
            })
    void hostile_names_are_inert_in_an_incident_report(String name) {
        JsonNode facts = facts(name);
        Map<String, String> drafts = IncidentReportMarkdownWriter.draftAnswers(facts);
        IncidentReport hostile =
                new IncidentReport(name, "2026-11-15T08:00:00Z", "2026-11-15T09:00:00Z", name, facts, drafts);
        IncidentReport tame = new IncidentReport(
                "name",
                hostile.since(),
                hostile.until(),
                "name",
                facts("name"),
                IncidentReportMarkdownWriter.draftAnswers(facts("name")));
        String shown = IncidentReportMarkdownWriter.markdown(hostile, 1);
        // Whatever is live is ours, and stands there with a tame name as well.
        assertEquals(live(IncidentReportMarkdownWriter.markdown(tame, 1)), live(shown), shown);
        assertEquals(
                IncidentReportMarkdownWriter.markdown(tame, 1).lines().count(),
                shown.lines().count(),
                shown);
        assertFalse(shown.contains("<"), shown);
    }

    private static long live(String markdown) {
        return LIVE.matcher(markdown).results().count();
    }

    @Test
    void markdown_of_users_is_kept_and_their_html_tags_are_escaped() {
        Map<String, String> answers = new LinkedHashMap<>();
        answers.put("cause", "**Bold**, a < b, <script>alert(1)</script> <https://x.example> <!-- x -->\n\n- one\n");
        IncidentReport incident = new IncidentReport("t", "a", "b", null, null, answers);
        String shown = IncidentReportMarkdownWriter.markdown(incident, 3);
        assertTrue(
                shown.contains("\n**Bold**, a < b, &lt;script>alert(1)&lt;/script> &lt;https://x.example> &lt;!-- x -->"
                        + "\n\n- one\n"),
                shown);
    }

    @Test
    void a_truncated_count_is_shown_as_at_least_or_unknown() {
        JsonNode facts = StrictJsonCodec.parse("""
            {"failed_runs": 100000, "first": {"run_id": "run_1", "step": "pay", "code": "broken", "at": "t"},
             "errors": [], "duplicated": 0, "duplicated_objects": [], "possibly_duplicated": 0, "in_doubt": 0, "decided": 7,
             "expired_key_retries": 5000, "audit_rows": 0, "alerts": [], "replayed_requests": 2,
             "suppressed_effects": 1, "conflicts": 1,
             "at_least": ["alerts", "audit_rows", "decided", "duplicated", "expired_key_retries", "failed_runs",
                          "in_doubt", "possibly_duplicated"]}
            """);
        Map<String, String> drafts = IncidentReportMarkdownWriter.draftAnswers(facts);
        String all = String.join("\n", drafts.values());
        for (String said : new String[] {
            "In total, at least 100000 runs failed.",
            "Whether an object was created twice is not known",
            "it is not known whether effects without a protection took more than one attempt",
            "An unknown number of effects still in doubt, at least 7 effects decided by a user.",
            "At least 5000 retries arrived after",
            "Whether an alert fired is not known",
            "Whether a user acted is not known.",
            "3 duplicates prevented (2 requests replayed, 1 effect suppressed), 1 conflict rejected."
        }) {
            assertTrue(all.contains(said), () -> said + "\n" + all);
        }
        for (String never : new String[] {"No object was", "No alert fired", "No user acted", "No stored run failed"}) {
            assertFalse(all.contains(never), all);
        }
    }
}
