package dev.semel.server.http;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.HexFormat;

/** What limits per address count: an IPv4 address, or an IPv6 network, because one client owns a whole network. */
public final class ClientNetwork {
    private static final int BYTES_OF_A_NETWORK = 8;

    private ClientNetwork() {}

    public static String of(String address) {
        if (address.indexOf(':') < 0) {
            return address;
        }
        try {
            InetAddress known = InetAddress.ofLiteral(address);
            return known instanceof Inet6Address
                    ? HexFormat.of().formatHex(Arrays.copyOf(known.getAddress(), BYTES_OF_A_NETWORK))
                    : known.getHostAddress();
        } catch (IllegalArgumentException e) {
            return address;
        }
    }
}
