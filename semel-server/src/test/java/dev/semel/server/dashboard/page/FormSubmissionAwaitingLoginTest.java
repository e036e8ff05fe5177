package dev.semel.server.dashboard.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What goes along through a log-in, and what must not. */
final class FormSubmissionAwaitingLoginTest {
    private static final Pattern FIELD = Pattern.compile("<input[^>]*type=\"password\"[^>]*>");
    private static final Pattern NAME = Pattern.compile("name=\"([a-z_]+)\"");

    @Test
    void password_fields_are_not_kept_through_a_login() throws IOException {
        List<String> kept = new ArrayList<>();
        int found = 0;
        try (Stream<Path> templates = Files.list(Path.of("src/main/jte"))) {
            for (Path template : templates.toList()) {
                Matcher field = FIELD.matcher(Files.readString(template));
                while (field.find()) {
                    Matcher name = NAME.matcher(field.group());
                    assertTrue(name.find(), template + ": " + field.group());
                    found++;
                    String path = template.endsWith("secrets.jte") ? "/settings/secrets" : "/webhooks";
                    if (!FormSubmissionAwaitingLogin.isSecret(path, name.group(1))) {
                        kept.add(template.getFileName() + " " + name.group(1));
                    }
                }
            }
        }
        assertTrue(found >= 8, "fields were found: " + found);
        assertEquals(List.of(), kept);
    }

    @Test
    void the_text_of_a_workflow_about_passwords_is_kept_through_a_login() {
        assertFalse(FormSubmissionAwaitingLogin.isSecret("/workflows/password_reset/publish", "text"));
        assertFalse(FormSubmissionAwaitingLogin.isSecret("/settings/templates/password_reset", "document"));
    }
}
