package dev.semel.server.channel;

import dev.semel.Semel;
import dev.semel.json.Json;
import dev.semel.server.settings.SecretKeys;
import dev.semel.server.settings.Settings;
import dev.semel.server.settings.Shelf;
import dev.semel.server.settings.Subscriptions;
import dev.semel.store.Edit;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A workspace in a store of its own, with its settings and a provider that writes down what it is called with. */
final class Workspace implements AutoCloseable {
    final Post post = new Post();
    final List<Calls.Call> calls = new ArrayList<>();
    final Settings settings;

    /** What the provider does instead of taking a message; null where it takes it. */
    @Nullable
    RuntimeException failure;

    private final Semel semel;
    private final int id;

    Workspace(Path folder) {
        semel = Semel.embedded(folder.resolve("semel.db"));
        id = semel.change(new Edit.OpenWorkspace("default", semel.newSecret(32)))
                .ws();
        settings = new Settings(semel, SecretKeys.none(), new Settings.Checks(MessageTemplate::check, Channels::check));
    }

    Outbox outbox() {
        return new Outbox(id, settings, new Channels.Ports(post.line(), (step, call) -> {
            calls.add(call);
            if (failure != null) {
                throw failure;
            }
            return Json.parse("{\"id\": \"m_1\"}");
        }));
    }

    Workspace template(String name, String document) {
        return put(settings.templates(), name, document);
    }

    Workspace channel(String name, String document) {
        return put(settings.channels(), name, document);
    }

    Workspace route(String event, String document) {
        return put(settings.routes(), event, document);
    }

    private Workspace put(Shelf<?> shelf, String name, String document) {
        var draft = new Shelf.Draft(id, name, Json.parse(document), null, "test");
        shelf.check(draft.document());
        semel.change(shelf.putting(draft));
        return this;
    }

    Workspace profile(String name, String document) {
        semel.change(settings.profiles().putting(new Shelf.Draft(id, name, Json.parse(document), null, "test")));
        return this;
    }

    Workspace unsubscribed(String profile, String topic) {
        semel.change(settings.subscriptions().putting(new Subscriptions.Word(id, profile, topic, false, "test")));
        return this;
    }

    @Override
    public void close() throws java.io.IOException {
        semel.close();
        post.close();
    }
}
