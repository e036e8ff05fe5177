package dev.semel.server.connectors.outbound;

import dev.semel.error.RequestNotSent;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Decides which addresses outbound requests may reach (SSRF protection). Without it workflow files and payloads could
 * reach internal services and cloud metadata.
 *
 * @param loopback whether loopback addresses are allowed, as in `semel dev`
 * @param allowed hosts that the operator allows whatever they resolve to
 */
public record OutboundAddressGuard(boolean loopback, Set<AllowedHost> allowed) {
    private static final Pattern HOST = Pattern.compile("(\\[[0-9a-f:.]+]|[a-z0-9.-]+)(?::([0-9]{1,5}))?");

    public OutboundAddressGuard {
        allowed = Set.copyOf(allowed);
    }

    /** @param port 0 for every port */
    public record AllowedHost(String name, int port) {}

    /**
     * @param hosts as given to `--allow-host`: `NAME` or `NAME:PORT`
     * @throws IllegalArgumentException if one of them is neither
     */
    public static OutboundAddressGuard of(boolean loopback, List<String> hosts) {
        Set<AllowedHost> allowed = new HashSet<>();
        for (String host : hosts) {
            Matcher parts = HOST.matcher(host.toLowerCase(Locale.ROOT));
            if (!parts.matches()) {
                throw new IllegalArgumentException("an allowed host must be NAME or NAME:PORT, with IPv6 in brackets");
            }
            int port = parts.group(2) == null ? 0 : Integer.parseInt(parts.group(2));
            if (port > 65_535 || (parts.group(2) != null && port == 0)) {
                throw new IllegalArgumentException("the port of an allowed host must be between 1 and 65535");
            }
            String name = Objects.requireNonNull(parts.group(1)).replaceAll("^\\[|]$|\\.$", "");
            allowed.add(new AllowedHost(name, port));
        }
        return new OutboundAddressGuard(loopback, allowed);
    }

    /** @throws RequestNotSent if no address is allowed */
    List<InetAddress> admit(OutboundRequestUrl target, List<InetAddress> addresses) {
        boolean trusted = allowed.contains(new AllowedHost(target.host(), 0))
                || allowed.contains(new AllowedHost(target.host(), target.port()));
        List<InetAddress> open = new ArrayList<>();
        String why = "";
        for (InetAddress address : addresses) {
            InetAddress plain = PublicIpAddressCheck.unmapped(address);
            String closed = trusted ? null : PublicIpAddressCheck.blockedReason(plain);
            if (closed == null || (loopback && closed.equals(PublicIpAddressCheck.LOOPBACK))) {
                open.add(plain);
            } else {
                why = closed;
            }
        }
        if (open.isEmpty()) {
            throw new RequestNotSent(
                    "the host " + target.authority() + " resolves to an address that this server may not call ("
                            + (why.isEmpty() ? "none" : why) + "). Nothing was sent. To allow it, start the server with"
                            + " --allow-host " + target.authority() + ".",
                    null);
        }
        return open;
    }
}
