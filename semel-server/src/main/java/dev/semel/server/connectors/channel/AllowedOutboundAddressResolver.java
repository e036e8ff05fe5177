package dev.semel.server.connectors.channel;

import dev.semel.error.RequestNotSent;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;

/** Resolves a host to the addresses that this server may connect to. Callers connect to exactly these addresses. */
@FunctionalInterface
public interface AllowedOutboundAddressResolver {
    /**
     * @throws RequestNotSent if none of them is allowed
     * @throws IOException if the host name has no address
     */
    List<InetAddress> allowedAddresses(String host, int port) throws IOException;

    AllowedOutboundAddressResolver UNRESTRICTED = (host, port) -> List.of(InetAddress.getAllByName(host));
}
