package dev.semel.server.services;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.channel.TimeoutTimer;
import dev.semel.server.channel.ChannelHttpClient;
import dev.semel.server.channel.ChannelFactory;
import dev.semel.server.channel.SmtpChannel;
import dev.semel.server.channel.MessageDispatcher;
import dev.semel.server.channel.AllowedAddressResolver;
import dev.semel.server.expressions.EvaluationException;
import dev.semel.server.outbound.OutboundResponse;
import dev.semel.server.outbound.RequestAuth;
import dev.semel.server.outbound.OutboundHttpClient;
import dev.semel.server.outbound.OutboundRequest;
import dev.semel.server.settings.WorkspaceSettings;
import dev.semel.server.steps.DigestCollector;
import dev.semel.server.steps.JavaStep;
import dev.semel.server.steps.MessageGateway;
import dev.semel.server.steps.StepServices;
import dev.semel.server.steps.ProfileDirectory;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Map;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/** The external services that steps of one workspace may use: HTTP, messages, profiles, digests, secrets. */
public final class WorkspaceStepServices implements StepServices {
    private final SharedServices means;
    private final int workspace;
    private final MessageDispatcher messageDispatcher;
    private final MessageGateway messages;
    private final ProfileDirectory people;
    private final DigestCollector digests;

    /**
     * Services shared by all workspaces.
     *
     * @param mailAddressResolver addresses that mail servers may have
     * @param tls decides which certificates to trust
     * @param allowsSql whether workflow files may run SQL in the store's database
     * @param javaSteps by name
     */
    public record SharedServices(
            SemelRuntime semel,
            WorkspaceSettings settings,
            OutboundHttpClient outbound,
            AllowedAddressResolver mailAddressResolver,
            SSLSocketFactory tls,
            TimeoutTimer timer,
            InstantSource clock,
            boolean allowsSql,
            Map<String, JavaStep> javaSteps) {
        public SharedServices {
            javaSteps = Map.copyOf(javaSteps);
        }
    }

    public WorkspaceStepServices(SharedServices means, int workspace) {
        this.means = means;
        this.workspace = workspace;
        var line = new SmtpChannel.ConnectionServices(
                name -> means.settings().secrets().reveal(workspace, name),
                means.mailAddressResolver(),
                means.tls(),
                means.timer(),
                means.clock());
        ChannelHttpClient calls = new OutboundChannelHttpClient(means.outbound());
        this.messageDispatcher = new MessageDispatcher(workspace, means.settings(), new ChannelFactory.ChannelServices(line, calls));
        this.messages = new WorkspaceMessages(messageDispatcher);
        this.people = new WorkspaceProfiles(means.semel(), means.settings(), workspace);
        this.digests = new WorkspaceDigests(means.semel(), workspace, means.clock());
    }

    /** Sends the messages of this workspace. */
    public MessageDispatcher messageDispatcher() {
        return messageDispatcher;
    }

    @Override
    public boolean allowsSql() {
        return means.allowsSql();
    }

    @Override
    public MessageGateway messages() {
        return messages;
    }

    @Override
    public ProfileDirectory profiles() {
        return people;
    }

    @Override
    public DigestCollector digests() {
        return digests;
    }

    @Override
    public @Nullable JavaStep javaStep(String name) {
        return means.javaSteps().get(name);
    }

    @Override
    public OutboundResponse send(OutboundRequest request, RequestAuth auth) throws IOException {
        return means.outbound().send(request, auth);
    }

    @Override
    public String secret(String name) {
        try {
            return means.settings().secrets().reveal(workspace, name);
        } catch (SemelException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                throw new EvaluationException("there is no secret " + name);
            }
            throw e;
        }
    }

    @Override
    public String redact(String text) {
        return means.settings().redaction().redact(workspace, text);
    }
}
