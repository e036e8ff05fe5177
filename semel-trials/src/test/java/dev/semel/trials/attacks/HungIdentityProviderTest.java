package dev.semel.trials.attacks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.server.access.oidc.OidcClientSettings;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.TestServerOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An identity provider that accepts connections and never responds. */
class HungIdentityProviderTest {
    private static final int LOGINS = 100;
    /** So many may wait for the provider; the server rejects the others at once. */
    private static final int WAITING = 20;

    private final Queue<Socket> connections = new ConcurrentLinkedQueue<>();
    private final CountDownLatch connected = new CountDownLatch(1);

    private LiveServer start(Path folder, ServerSocket provider) {
        var access = new OidcClientSettings.AccessRules(
                "default", "profile", "groups", OidcClientSettings.parseGrants("*=viewer"));
        OidcClientSettings settings = new OidcClientSettings(
                "http://127.0.0.1:" + provider.getLocalPort(),
                "client",
                "secret",
                "Hung",
                "http://127.0.0.1:1",
                access);
        Thread.ofVirtual().start(() -> {
            try {
                while (true) {
                    connections.add(provider.accept());
                    connected.countDown();
                }
            } catch (IOException e) {
                return; // the test is over
            }
        });
        ServerOptions base =
                new ServerOptions(false, false, "127.0.0.1", 0, folder, "sqlite:" + folder.resolve("semel.db"), null);
        return LiveServer.first(
                new TestServerOptions(base).identityProvider(settings).build(), _ -> {});
    }

    @Test
    void logins_with_a_hung_provider_share_one_fetch_and_are_rejected_at_once(@TempDir Path folder) throws Exception {
        try (ServerSocket provider = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                LiveServer server = start(folder, provider)) {
            BlockingQueue<HttpReply> replies = new LinkedBlockingQueue<>();
            for (int i = 0; i < LOGINS; i++) {
                Thread.ofVirtual().start(() -> replies.add(server.stranger().get("/login/oidc?next=%2Fruns")));
            }
            connected.await();
            for (int i = 0; i < LOGINS - WAITING; i++) {
                HttpReply reply = replies.poll(30, TimeUnit.SECONDS);
                assertNotNull(reply, "only " + i + " of " + LOGINS + " logins were rejected while the provider hung");
                assertEquals(503, reply.status());
                assertTrue(reply.body().contains("identity provider"), reply.body());
            }
            assertEquals(1, connections.size(), "connections to the provider");
            for (Socket one : connections) {
                one.close();
            }
            for (int i = LOGINS - WAITING; i < LOGINS; i++) {
                assertEquals(503, replies.take().status());
            }
            assertEquals(503, server.stranger().get("/login/oidc").status());
            assertEquals(1, connections.size(), "the server remembers the failure for a moment");
        }
    }
}
