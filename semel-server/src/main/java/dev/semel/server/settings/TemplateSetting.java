package dev.semel.server.settings;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Stored message template: subject, text and html with placeholders.
 *
 * @param channel the channel kind it is written for
 * @param subject for email; null otherwise
 */
public record TemplateSetting(
        String channel,
        @Nullable String subject,
        @Nullable String text,
        @Nullable String html) {
    static final int LARGEST = 256 << 10;

    /** @param check further validation, such as unclosed placeholders */
    static TemplateSetting read(JsonNode node, Function<TemplateSetting, List<SettingProblem>> check) {
        SettingDocumentReader document = SettingDocumentReader.of(node);
        var template = new TemplateSetting(
                document.choice("channel", ChannelSettingReader.KINDS),
                document.optionalLine("subject", 998),
                document.optionalText("text", LARGEST),
                document.optionalText("html", LARGEST));
        boolean mail = template.channel().equals("email");
        if (mail && template.subject() == null && !document.has("subject")) {
            document.addProblem("subject", "is missing: an email needs one");
        }
        if (!mail && document.has("subject")) {
            document.addProblem("subject", "belongs to e-mail only");
        }
        if (!mail && document.has("html")) {
            document.addProblem("html", "belongs to e-mail only");
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
