package dev.semel.server.world;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.channel.Alarm;
import dev.semel.server.channel.Calls;
import dev.semel.server.channel.Channels;
import dev.semel.server.channel.Mail;
import dev.semel.server.channel.Outbox;
import dev.semel.server.channel.Reach;
import dev.semel.server.language.Failure;
import dev.semel.server.outbound.Answer;
import dev.semel.server.outbound.Auth;
import dev.semel.server.outbound.Outbound;
import dev.semel.server.outbound.Request;
import dev.semel.server.settings.Settings;
import dev.semel.server.steps.Digests;
import dev.semel.server.steps.JavaStep;
import dev.semel.server.steps.Messages;
import dev.semel.server.steps.Outside;
import dev.semel.server.steps.People;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Map;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/** The external services that steps of one workspace may use: HTTP, messages, profiles, digests, secrets. */
public final class World implements Outside {
    private final Means means;
    private final int workspace;
    private final Outbox outbox;
    private final Messages messages;
    private final People people;
    private final Digests digests;

    /**
     * Services shared by all workspaces.
     *
     * @param reach addresses that mail servers may have
     * @param tls decides which certificates to trust
     * @param allowsSql whether workflow files may run SQL in the store's database
     * @param javaSteps by name
     */
    public record Means(
            Semel semel,
            Settings settings,
            Outbound outbound,
            Reach reach,
            SSLSocketFactory tls,
            Alarm alarm,
            InstantSource clock,
            boolean allowsSql,
            Map<String, JavaStep> javaSteps) {
        public Means {
            javaSteps = Map.copyOf(javaSteps);
        }
    }

    public World(Means means, int workspace) {
        this.means = means;
        this.workspace = workspace;
        var line = new Mail.Line(
                name -> means.settings().secrets().reveal(workspace, name),
                means.reach(),
                means.tls(),
                means.alarm(),
                means.clock());
        Calls calls = new Courier(means.outbound());
        this.outbox = new Outbox(workspace, means.settings(), new Channels.Ports(line, calls));
        this.messages = new Mailroom(outbox);
        this.people = new Register(means.semel(), means.settings(), workspace);
        this.digests = new Gatherings(means.semel(), workspace, means.clock());
    }

    /** Sends the messages of this workspace. */
    public Outbox outbox() {
        return outbox;
    }

    @Override
    public boolean allowsSql() {
        return means.allowsSql();
    }

    @Override
    public Messages messages() {
        return messages;
    }

    @Override
    public People people() {
        return people;
    }

    @Override
    public Digests digests() {
        return digests;
    }

    @Override
    public @Nullable JavaStep java(String name) {
        return means.javaSteps().get(name);
    }

    @Override
    public Answer send(Request request, Auth auth) throws IOException {
        return means.outbound().send(request, auth);
    }

    @Override
    public String secret(String name) {
        try {
            return means.settings().secrets().reveal(workspace, name);
        } catch (SemelException e) {
            if (e.code() == ErrorCode.NOT_FOUND) {
                throw new Failure("there is no secret " + name);
            }
            throw e;
        }
    }

    @Override
    public String redacted(String text) {
        return means.settings().redaction().clean(workspace, text);
    }
}
