package dev.semel.server.demo;

import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import dev.semel.server.settings.WorkspaceSettingRepository;
import dev.semel.store.DatabaseRows;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import tools.jackson.databind.JsonNode;

/** The example workflow files of `semel dev --demo`, and the channels, templates and routes that they use. */
public record DemoDataSeeder(SemelRuntime semel, WorkspaceSettingRepositories settings, int workspace) {
    /** Child workflows come before the workflows that call them. */
    private static final List<String> FILES = List.of("receipt_and_license", "new_lead", "ship_parcel", "fulfil_order");

    private static final String ACTOR = "demo";

    public record ExampleFile(String name, String text) {}

    /** The example files, changed to call the demo providers at this address. */
    public static List<ExampleFile> examples(String playground) {
        return FILES.stream()
                .map(name -> new ExampleFile(
                        name,
                        resource("/examples/" + name + ".yaml").replace(DemoExternalApiServer.DEFAULT_URL, playground)))
                .toList();
    }

    /** A file from the jar. */
    public static String resource(String path) {
        try (InputStream in = DemoDataSeeder.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new IllegalStateException("no " + path + " in the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException(path + " cannot be read", e);
        }
    }

    /** Saves the demo settings. Idempotent unless the address of the demo providers changed. */
    public void save(String playground) {
        save(settings.channels(), "email", """
            {"kind": "webhook", "url": "PLAYGROUND/mail"}\
            """.replace("PLAYGROUND", playground));
        save(settings.channels(), "chat", """
            {"kind": "chat", "url": "PLAYGROUND/chat"}\
            """.replace("PLAYGROUND", playground));
        save(settings.templates(), "receipt", """
            {"channel": "webhook", "text": "Thank you for {{ amount }} ({{ payment }}). Your license is {{ license }}."}\
            """);
        save(settings.templates(), "welcome", """
            {"channel": "webhook", "text": "Welcome! You have chosen {{ plan }}."}\
            """);
        save(settings.templates(), "leads-digest", """
            {"channel": "chat", "text": "{{ count }} new leads:{{#each items as lead}} {{ lead }}{{/each}}"}\
            """);
        save(settings.routes(), "lead.welcome", """
            {"notification": "lead.welcome", "channels": [{"channel": "email", "template": "welcome"}]}\
            """);
        save(settings.cohorts().documents(), "do-not-mail", """
            {"description": "Recipients who get no messages"}\
            """);
    }

    /** Does not overwrite a setting that another user changed. */
    private <T> void save(WorkspaceSettingRepository<T> repository, String name, String text) {
        JsonNode document = StrictJsonCodec.parse(text);
        repository.parse(document);
        DatabaseRows.SettingRow before = repository.findRow(workspace, name);
        boolean unchanged = before == null || before.changedBy().equals(ACTOR);
        if (unchanged
                && (before == null || !StrictJsonCodec.parse(before.body()).equals(document))) {
            int version = before == null ? 0 : before.version();
            semel.change(repository.preparePut(
                    new WorkspaceSettingRepository.SettingDraft(workspace, name, document, version, ACTOR)));
        }
    }
}
