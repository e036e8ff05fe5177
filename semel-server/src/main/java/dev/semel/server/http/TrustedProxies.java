package dev.semel.server.http;

import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** For all other peers the server ignores `X-Forwarded-For` and uses the address of the connection. */
public record TrustedProxies(List<AddressRange> trusted) {
    private static final Pattern FOUR_NUMBERS = Pattern.compile("[0-9]{1,3}(\\.[0-9]{1,3}){3}");
    public static final TrustedProxies NONE = new TrustedProxies(List.of());

    public TrustedProxies {
        trusted = List.copyOf(trusted);
    }

    /** @throws IllegalArgumentException if a text is not an address or range; host names are not resolved */
    public static TrustedProxies of(List<String> texts) {
        return new TrustedProxies(texts.stream().map(AddressRange::of).toList());
    }

    /** A CIDR range: addresses that begin with the same bits. */
    public record AddressRange(InetAddress start, int bits) {
        static AddressRange of(String text) {
            int slash = text.indexOf('/');
            InetAddress start = address(slash < 0 ? text : text.substring(0, slash));
            int most = start == null ? 0 : start.getAddress().length * Byte.SIZE;
            String length = slash < 0 ? String.valueOf(most) : text.substring(slash + 1);
            boolean valid = length.matches("[1-9][0-9]{0,2}") && Integer.parseInt(length) <= most;
            if (start == null || !valid) { // 0 bits would trust every client
                throw new IllegalArgumentException("a trusted proxy is an address such as 10.0.0.7 or a range such as"
                        + " 10.0.0.0/24, not " + text);
            }
            return new AddressRange(start, Integer.parseInt(length));
        }

        boolean contains(InetAddress address) {
            byte[] one = start.getAddress();
            byte[] other = address.getAddress();
            if (one.length != other.length) {
                return false;
            }
            int whole = bits / Byte.SIZE;
            int rest = bits % Byte.SIZE;
            return Arrays.equals(one, 0, whole, other, 0, whole)
                    && (rest == 0 || (one[whole] ^ other[whole]) >> (Byte.SIZE - rest) == 0);
        }
    }

    /**
     * The client's address: read from the end, the first address that is not a trusted proxy. Clients can forge all
     * entries before it.
     *
     * @param peer the remote address of the connection
     * @param forwarded the `X-Forwarded-For` headers in the order received
     */
    public String clientAddress(String peer, List<String> forwarded) {
        InetAddress nearest = trusted.isEmpty() ? null : address(peer);
        if (nearest == null) {
            return peer;
        }
        String[] hops = String.join(",", forwarded).split(",", -1);
        for (int i = hops.length - 1; i >= 0 && trusts(nearest); i--) {
            InetAddress hop = address(withoutPort(hops[i].strip()));
            if (hop == null) {
                break; // the proxy sent no address, so the proxy's own address is the nearest known one
            }
            nearest = hop;
        }
        return nearest.getHostAddress();
    }

    /** @param peer the remote address of a connection */
    public boolean trusts(String peer) {
        InetAddress known = trusted.isEmpty() ? null : address(peer);
        return known != null && trusts(known);
    }

    private boolean trusts(InetAddress address) {
        return trusted.stream().anyMatch(range -> range.contains(address));
    }

    private static String withoutPort(String hop) {
        if (hop.startsWith("[")) {
            return hop.substring(1, Math.max(1, hop.indexOf(']')));
        }
        return hop.indexOf(':') == hop.lastIndexOf(':') ? hop.replaceFirst(":.*$", "") : hop;
    }

    /** Accepts only complete addresses; Java would read 10.7 as 10.0.0.7. */
    private static @Nullable InetAddress address(String text) {
        boolean whole = text.indexOf(':') >= 0 || FOUR_NUMBERS.matcher(text).matches();
        try {
            return whole ? InetAddress.ofLiteral(text) : null;
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
