package dev.semel.server.settings;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * @param facts counted when the draft was created; never changed
 * @param answers by question
 */
public record IncidentReport(
        String title,
        String since,
        String until,
        @Nullable String workflow,
        @Nullable JsonNode facts,
        Map<String, String> answers) {
    /** Most bytes. */
    static final int LARGEST = 128 << 10;

    /** The questions, in the order of the form. */
    public static final List<String> QUESTIONS = List.of("trigger", "cause", "safe", "visible", "add");

    private static final int LONGEST_TITLE = 200;
    private static final int LONGEST_ANSWER = 8_000;

    static IncidentReport read(JsonNode node) {
        WorkspaceSettingJsonParser document = WorkspaceSettingJsonParser.of(node);
        String title = document.line("title", LONGEST_TITLE);
        String since = document.line("since", 40);
        String until = document.line("until", 40);
        String workflow = document.optionalLine("workflow", 100);
        JsonNode facts = document.any("facts");
        WorkspaceSettingJsonParser settingDocumentReader = document.object("answers");
        Map<String, String> answers = new LinkedHashMap<>();
        for (String question : QUESTIONS) {
            String answer = settingDocumentReader.optionalText(question, LONGEST_ANSWER);
            answers.put(question, answer == null ? "" : answer);
        }
        settingDocumentReader.rejectUnknownMembers();
        return document.finish("incident", new IncidentReport(title, since, until, workflow, facts, answers));
    }
}
