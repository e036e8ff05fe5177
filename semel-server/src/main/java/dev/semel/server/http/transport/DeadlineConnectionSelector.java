package dev.semel.server.http.transport;

import io.helidon.common.buffers.BufferData;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.util.Set;

/** Makes Helidon wrap every new connection in a {@link DeadlineServerConnection}. HTTP/1.1 is the only protocol. */
record DeadlineConnectionSelector(
        ServerConnectionSelector http1,
        HttpServerSettings settings,
        InboundConnectionDeadlineMonitor connections,
        int largestBody)
        implements ServerConnectionSelector {
    @Override
    public int bytesToIdentifyConnection() {
        return 0;
    }

    @Override
    public Support supports(BufferData data) {
        return Support.SUPPORTED;
    }

    @Override
    public Set<String> supportedApplicationProtocols() {
        return http1.supportedApplicationProtocols();
    }

    @Override
    public ServerConnection connection(ConnectionContext context) {
        return new DeadlineServerConnection(context, this);
    }
}
