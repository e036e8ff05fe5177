package dev.semel.server.connectors.outbound;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** It checks the resolved bytes, so spellings such as `2130706433` or `localhost.` do not matter. */
final class PublicIpAddressCheck {
    static final String LOOPBACK = "loopback";

    /** Special-purpose IPv4 blocks that requests must not reach (RFC 6890). */
    private static final List<AddressBlock> FOUR = List.of(
            new AddressBlock("reserved for the local network", 8, 0, 0, 0, 0),
            new AddressBlock("private", 8, 10, 0, 0, 0),
            new AddressBlock("shared carrier-grade NAT", 10, 100, 64, 0, 0),
            new AddressBlock(LOOPBACK, 8, 127, 0, 0, 0),
            new AddressBlock("link-local, used for cloud metadata", 16, 169, 254, 0, 0),
            new AddressBlock("the platform service of Azure", 32, 168, 63, 129, 16),
            new AddressBlock("private", 12, 172, 16, 0, 0),
            new AddressBlock("reserved", 24, 192, 0, 0, 0),
            new AddressBlock("reserved for documentation", 24, 192, 0, 2, 0),
            new AddressBlock("reserved", 24, 192, 88, 99, 0),
            new AddressBlock("private", 16, 192, 168, 0, 0),
            new AddressBlock("reserved for benchmarks", 15, 198, 18, 0, 0),
            new AddressBlock("reserved for documentation", 24, 198, 51, 100, 0),
            new AddressBlock("reserved for documentation", 24, 203, 0, 113, 0),
            new AddressBlock("multicast", 4, 224, 0, 0, 0),
            new AddressBlock("reserved", 4, 240, 0, 0, 0));

    /** IPv6 allocates only 2000::/3; these parts of it are not public. */
    private static final List<AddressBlock> SIX = List.of(
            new AddressBlock("reserved", 23, 0x20, 0x01, 0, 0),
            new AddressBlock("reserved for documentation", 32, 0x20, 0x01, 0x0d, 0xb8),
            new AddressBlock("an embedded IPv4 address", 16, 0x20, 0x02, 0, 0),
            new AddressBlock("reserved for documentation", 20, 0x3f, 0xff, 0, 0));

    private static final byte[] TRANSLATED = {0, 0x64, (byte) 0xff, (byte) 0x9b, 0, 0, 0, 0, 0, 0, 0, 0};

    private PublicIpAddressCheck() {}

    private record AddressBlock(String what, int bits, int a, int b, int c, int d) {
        boolean holds(byte[] address) {
            int[] front = {a, b, c, d};
            for (int i = 0; i < 4; i++) {
                int counted = Math.clamp(bits - 8L * i, 0, 8);
                int mask = 0xff << (8 - counted) & 0xff;
                if ((address[i] & mask) != (front[i] & mask)) {
                    return false;
                }
            }
            return true;
        }
    }

    /** The reason why the address is blocked; null if it is public. */
    static @Nullable String blockedReason(InetAddress address) {
        byte[] bytes = address.getAddress();
        return address instanceof Inet4Address ? findBlock(FOUR, bytes) : blockedIpv6Reason(address, bytes);
    }

    private static @Nullable String blockedIpv6Reason(InetAddress address, byte[] bytes) {
        if (Arrays.equals(bytes, 0, 12, TRANSLATED, 0, 12)) {
            // NAT64 embeds the IPv4 address; the embedded address decides.
            return findBlock(FOUR, Arrays.copyOfRange(bytes, 12, 16));
        }
        if (address.isLoopbackAddress()) {
            return LOOPBACK;
        }
        if (address.isMulticastAddress()) {
            return "multicast";
        }
        if (address.isLinkLocalAddress()) {
            return "link-local";
        }
        if ((bytes[0] & 0xfe) == 0xfc) {
            return "private";
        }
        // Also ::, ::a.b.c.d, ::ffff:a.b.c.d where it reaches us unmapped, 64:ff9b:1::/48, 100::/64, fec0::/10.
        return (bytes[0] & 0xe0) == 0x20 ? findBlock(SIX, bytes) : "reserved";
    }

    private static @Nullable String findBlock(List<AddressBlock> blocks, byte[] address) {
        for (AddressBlock block : blocks) {
            if (block.holds(address)) {
                return block.what();
            }
        }
        return null;
    }

    /** Converts an IPv4-mapped IPv6 address to IPv4. */
    static InetAddress unmapped(InetAddress address) {
        byte[] bytes = address.getAddress();
        boolean mapped = bytes.length == 16 && bytes[10] == -1 && bytes[11] == -1;
        for (int i = 0; mapped && i < 10; i++) {
            mapped = bytes[i] == 0;
        }
        try {
            return mapped ? InetAddress.getByAddress(Arrays.copyOfRange(bytes, 12, 16)) : address;
        } catch (UnknownHostException e) {
            throw new IllegalStateException("four bytes must be an IPv4 address", e);
        }
    }
}
