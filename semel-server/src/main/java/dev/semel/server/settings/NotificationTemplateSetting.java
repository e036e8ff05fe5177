package dev.semel.server.settings;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * @param channel the channel kind it is written for
 * @param subject for email; null otherwise
 */
public record NotificationTemplateSetting(
        String channel,
        @Nullable String subject,
        @Nullable String text,
        @Nullable String html) {
    static final int LARGEST = 256 << 10;

    /** @param check further validation, such as unclosed placeholders */
    static NotificationTemplateSetting read(
            JsonNode node, Function<NotificationTemplateSetting, List<WorkspaceSettingValidationProblem>> check) {
        WorkspaceSettingJsonParser document = WorkspaceSettingJsonParser.of(node);
        var template = new NotificationTemplateSetting(
                document.choice("channel", NotificationChannelSettingParser.KINDS),
                document.optionalLine("subject", 998),
                document.optionalText("text", LARGEST),
                document.optionalText("html", LARGEST));
        boolean mail = template.channel().equals("email");
        if (mail && template.subject() == null && !document.has("subject")) {
            document.addProblem("subject", "is missing: an email needs a subject");
        }
        if (!mail && document.has("subject")) {
            document.addProblem("subject", "is allowed only in e-mail templates");
        }
        if (!mail && document.has("html")) {
            document.addProblem("html", "is allowed only in e-mail templates");
        }
        if (!document.has("text") && !document.has("html")) {
            document.addProblem("text", "is missing: a message needs text");
        }
        document.rejectUnknownMembers();
        document.addProblem(check.apply(template));
        document.throwIfInvalid("template");
        return template;
    }
}
