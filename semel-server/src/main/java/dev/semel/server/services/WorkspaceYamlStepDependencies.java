package dev.semel.server.services;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.connectors.channel.AllowedOutboundAddressResolver;
import dev.semel.server.connectors.channel.NotificationChannelFactory;
import dev.semel.server.connectors.channel.NotificationHttpClient;
import dev.semel.server.connectors.channel.SmtpNotificationChannel;
import dev.semel.server.connectors.channel.SmtpTimeoutScheduler;
import dev.semel.server.connectors.ingress.InboundEventProcessor;
import dev.semel.server.connectors.notification.NotificationDispatcher;
import dev.semel.server.connectors.notification.UnsubscribeLinks;
import dev.semel.server.connectors.outbound.OutboundHttpClient;
import dev.semel.server.connectors.outbound.OutboundRequest;
import dev.semel.server.connectors.outbound.OutboundRequestAuth;
import dev.semel.server.connectors.outbound.OutboundRequestUrl;
import dev.semel.server.connectors.outbound.OutboundResponse;
import dev.semel.server.files.expressions.ExpressionEvaluationException;
import dev.semel.server.files.steps.NotificationDigestCollector;
import dev.semel.server.files.steps.NotificationEventPublisher;
import dev.semel.server.files.steps.RecipientProfileDirectory;
import dev.semel.server.files.steps.StepNotificationSender;
import dev.semel.server.files.steps.YamlStepDependencies;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import dev.semel.server.steps.JavaStep;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Map;
import java.util.function.Supplier;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/** The external services that steps of one workspace may use: HTTP, messages, profiles, digests, secrets. */
public final class WorkspaceYamlStepDependencies implements YamlStepDependencies {
    private final SharedServices means;
    private final int workspace;
    private final NotificationDispatcher messageDispatcher;
    private final StepNotificationSender messages;
    private final RecipientProfileDirectory profileDirectory;
    private final NotificationDigestCollector digests;
    private final NotificationEventPublisher events;

    /**
     * Services shared by all workspaces.
     *
     * @param events delivers the events of notifications
     * @param mailAddressResolver addresses that mail servers may have
     * @param tls decides which certificates to trust
     * @param allowsSql whether workflow files may run SQL in the store's database
     * @param javaSteps by name
     */
    public record SharedServices(
            SemelRuntime semel,
            WorkspaceSettingRepositories settings,
            Supplier<InboundEventProcessor> events,
            UnsubscribeLinks unsubscribeLinks,
            OutboundHttpClient outbound,
            AllowedOutboundAddressResolver mailAddressResolver,
            SSLSocketFactory tls,
            SmtpTimeoutScheduler timer,
            InstantSource clock,
            boolean allowsSql,
            Map<String, JavaStep> javaSteps) {
        public SharedServices {
            javaSteps = Map.copyOf(javaSteps);
        }
    }

    public WorkspaceYamlStepDependencies(SharedServices means, int workspace) {
        this.means = means;
        this.workspace = workspace;
        var line = new SmtpNotificationChannel.ConnectionServices(
                (name, host, port) -> host == null
                        ? means.settings().secrets().reveal(workspace, name)
                        : means.settings().secrets().revealTo(workspace, name, host, port),
                means.mailAddressResolver(),
                means.tls(),
                means.timer(),
                means.clock());
        NotificationHttpClient calls = new OutboundNotificationHttpClient(means.outbound());
        this.messageDispatcher = new NotificationDispatcher(
                workspace,
                means.settings(),
                new NotificationChannelFactory.ChannelServices(line, calls),
                means.unsubscribeLinks());
        this.messages = new WorkspaceStepNotificationSender(messageDispatcher);
        this.profileDirectory = new WorkspaceProfileDirectory(means.semel(), means.settings(), workspace);
        this.digests = new WorkspaceDigestCollector(means.semel(), workspace, means.clock());
        this.events = new WorkspaceNotificationEventPublisher(means.events(), workspace);
    }

    public NotificationDispatcher messageDispatcher() {
        return messageDispatcher;
    }

    @Override
    public boolean allowsSql() {
        return means.allowsSql();
    }

    @Override
    public StepNotificationSender messages() {
        return messages;
    }

    @Override
    public NotificationEventPublisher events() {
        return events;
    }

    @Override
    public RecipientProfileDirectory profiles() {
        return profileDirectory;
    }

    @Override
    public NotificationDigestCollector digests() {
        return digests;
    }

    @Override
    public @Nullable JavaStep javaStep(String name) {
        return means.javaSteps().get(name);
    }

    @Override
    public OutboundResponse send(OutboundRequest request, OutboundRequestAuth auth) throws IOException {
        return means.outbound().send(request, auth);
    }

    @Override
    public String secret(String name, OutboundRequestUrl receiver) {
        try {
            return means.settings().secrets().revealTo(workspace, name, receiver.host(), receiver.port());
        } catch (SemelException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                throw new ExpressionEvaluationException("there is no secret " + name);
            }
            throw e;
        }
    }

    @Override
    public String redact(String text) {
        return means.settings().redaction().redact(workspace, text);
    }
}
