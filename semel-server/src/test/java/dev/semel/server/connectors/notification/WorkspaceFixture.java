package dev.semel.server.connectors.notification;

import dev.semel.Semel;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.connectors.channel.ChannelTestClient;
import dev.semel.server.connectors.channel.NotificationChannelFactory;
import dev.semel.server.connectors.channel.NotificationHttpClient;
import dev.semel.server.connectors.template.NotificationTemplate;
import dev.semel.server.settings.RecipientTopicSubscriptionStore;
import dev.semel.server.settings.SecretEncryptionKeys;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import dev.semel.server.settings.WorkspaceSettingRepository;
import dev.semel.store.StoreWriteCommand;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A workspace in a store of its own, with its settings and a provider that writes down what it is called with. */
public final class WorkspaceFixture implements AutoCloseable {
    final ChannelTestClient post = new ChannelTestClient();
    final List<NotificationHttpClient.Call> calls = new ArrayList<>();
    public final WorkspaceSettingRepositories settings;

    /** What the provider does instead of taking a message; null where it takes it. */
    @Nullable
    RuntimeException failure;

    private final SemelRuntime semel;
    private final int id;

    public WorkspaceFixture(Path folder) {
        semel = SemelRuntime.of(Semel.sqlite(folder.resolve("semel.db")).open());
        id = semel.change(new StoreWriteCommand.CreateWorkspace("default", semel.newSecret(32)))
                .ws();
        settings = new WorkspaceSettingRepositories(
                semel,
                SecretEncryptionKeys.of(""),
                new WorkspaceSettingRepositories.DocumentChecks(
                        NotificationTemplate::check, NotificationChannelFactory::check));
    }

    NotificationDispatcher outbox() {
        return new NotificationDispatcher(
                id,
                settings,
                new NotificationChannelFactory.ChannelServices(post.line(), (step, call) -> {
                    calls.add(call);
                    if (failure != null) {
                        throw failure;
                    }
                    return StrictJsonCodec.parse("{\"id\": \"m_1\"}");
                }),
                UnsubscribeLinks.NONE);
    }

    WorkspaceFixture template(String name, String document) {
        return put(settings.templates(), name, document);
    }

    WorkspaceFixture channel(String name, String document) {
        return put(settings.channels(), name, document);
    }

    WorkspaceFixture route(String event, String document) {
        return put(settings.routes(), event, document);
    }

    private WorkspaceFixture put(WorkspaceSettingRepository<?> repository, String name, String document) {
        var draft =
                new WorkspaceSettingRepository.SettingDraft(id, name, StrictJsonCodec.parse(document), null, "test");
        repository.parse(draft.document());
        semel.change(repository.preparePut(draft));
        return this;
    }

    WorkspaceFixture profile(String name, String document) {
        semel.change(settings.profiles()
                .preparePut(new WorkspaceSettingRepository.SettingDraft(
                        id, name, StrictJsonCodec.parse(document), null, "test")));
        return this;
    }

    WorkspaceFixture unsubscribed(String profile, String topic) {
        semel.change(settings.subscriptions()
                .preparePut(new RecipientTopicSubscriptionStore.SubscriptionChange(id, profile, topic, false, "test")));
        return this;
    }

    @Override
    public void close() throws java.io.IOException {
        semel.close();
        post.close();
    }
}
