package dev.semel.server.channel;

import dev.semel.workflow.Failures;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;

/** Which addresses of a host may be connected to. What is checked is what is connected to. */
@FunctionalInterface
public interface Reach {
    /**
     * @throws Failures.NotSent where none of them may be called
     * @throws IOException where the name has no address
     */
    List<InetAddress> of(String host, int port) throws IOException;

    /** Wherever the name leads. */
    Reach EVERYWHERE = (host, port) -> List.of(InetAddress.getAllByName(host));
}
