package dev.semel.server.connectors.outbound;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLSocketFactory;

/** Names that a test makes up, and clients that use them. */
final class OutboundFixture {
    private OutboundFixture() {}

    /** Hosts as they are in a table; each look-up takes the next answer of its host and stays at the last. */
    static final class TableHostResolver implements HostNameResolver {
        private final Map<String, List<String>> answers;
        final List<String> asked = new ArrayList<>();

        TableHostResolver(Map<String, List<String>> answers) {
            this.answers = answers;
        }

        @Override
        public List<InetAddress> resolve(String host, java.time.Duration longest) throws java.io.IOException {
            long before = asked.stream().filter(host::equals).count();
            asked.add(host);
            List<String> known = answers.get(host);
            if (known == null) {
                throw new java.net.UnknownHostException(host);
            }
            List<InetAddress> found = new ArrayList<>();
            for (String address :
                    known.get((int) Math.min(before, known.size() - 1)).split(" ")) {
                found.add(InetAddress.getByName(address));
            }
            return found;
        }
    }

    static OutboundHttpClient dev() {
        return new OutboundHttpClient(OutboundAddressGuard.of(true, List.of()));
    }

    static OutboundHttpClient serve(String... allowed) {
        return new OutboundHttpClient(OutboundAddressGuard.of(false, List.of(allowed)));
    }

    static OutboundHttpClient dev(HostNameResolver names) {
        return new OutboundHttpClient(
                OutboundAddressGuard.of(true, List.of()),
                names,
                (SSLSocketFactory) SSLSocketFactory.getDefault(),
                System::nanoTime);
    }
}
