package dev.semel.server.channel;

import dev.semel.Semel;
import dev.semel.runtime.SemelRuntime;
import dev.semel.json.StrictJson;
import dev.semel.server.settings.SecretEncryptionKeys;
import dev.semel.server.settings.WorkspaceSettings;
import dev.semel.server.settings.SettingRepository;
import dev.semel.server.settings.RecipientSubscriptions;
import dev.semel.store.StoreCommand;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A workspace in a store of its own, with its settings and a provider that writes down what it is called with. */
final class Workspace implements AutoCloseable {
    final Post post = new Post();
    final List<ChannelHttpClient.Call> calls = new ArrayList<>();
    final WorkspaceSettings settings;

    /** What the provider does instead of taking a message; null where it takes it. */
    @Nullable
    RuntimeException failure;

    private final SemelRuntime semel;
    private final int id;

    Workspace(Path folder) {
        semel = (SemelRuntime) Semel.sqlite(folder.resolve("semel.db")).open();
        id = semel.change(new StoreCommand.CreateWorkspace("default", semel.newSecret(32)))
                .ws();
        settings = new WorkspaceSettings(semel, SecretEncryptionKeys.none(), new WorkspaceSettings.DocumentChecks(MessageTemplate::check, ChannelFactory::check));
    }

    MessageDispatcher outbox() {
        return new MessageDispatcher(id, settings, new ChannelFactory.ChannelServices(post.line(), (step, call) -> {
            calls.add(call);
            if (failure != null) {
                throw failure;
            }
            return StrictJson.parse("{\"id\": \"m_1\"}");
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

    private Workspace put(SettingRepository<?> shelf, String name, String document) {
        var draft = new SettingRepository.SettingDraft(id, name, StrictJson.parse(document), null, "test");
        shelf.parse(draft.document());
        semel.change(shelf.preparePut(draft));
        return this;
    }

    Workspace profile(String name, String document) {
        semel.change(settings.profiles().preparePut(new SettingRepository.SettingDraft(id, name, StrictJson.parse(document), null, "test")));
        return this;
    }

    Workspace unsubscribed(String profile, String topic) {
        semel.change(settings.subscriptions().preparePut(new RecipientSubscriptions.SubscriptionChange(id, profile, topic, false, "test")));
        return this;
    }

    @Override
    public void close() throws java.io.IOException {
        semel.close();
        post.close();
    }
}
