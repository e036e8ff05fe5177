package dev.semel.server.http.transport;

import dev.semel.error.SemelException;
import dev.semel.server.http.SharedLimit;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Limits the requests in progress, in all and of each caller, so that no caller shuts out the others. */
final class ConcurrentRequestLimit {
    private final int most;
    private final SharedLimit requests = new SharedLimit();

    ConcurrentRequestLimit(int most) {
        this.most = most;
    }

    /** A request that has no place yet. */
    RequestPlace open() {
        return new RequestPlace();
    }

    /** The place of one request until the end of its response. One thread uses it. */
    final class RequestPlace implements AutoCloseable {
        private final List<SharedLimit.Owner> owners = new ArrayList<>(3);

        /** @throws SemelException `overloaded` */
        void takeOfServer() {
            requireTaken(List.of(new SharedLimit.Owner("The server", most)));
        }

        /** A workspace may have three quarters of the places. @throws SemelException `overloaded` */
        void takeOfWorkspace(String workspace) {
            requireTaken(List.of(new SharedLimit.Owner("Workspace " + workspace, share(4) * 3)));
        }

        /** Callers without a token or session may have half of the places, and one address an eighth. */
        boolean tryTakeOfAddress(String network) {
            return tryTake(ofAddress(network)) == null;
        }

        /** @throws SemelException `overloaded` */
        void takeOfAddress(String network) {
            requireTaken(ofAddress(network));
        }

        private List<SharedLimit.Owner> ofAddress(String network) {
            return List.of(
                    new SharedLimit.Owner("The group of callers without a token or session", share(2)),
                    new SharedLimit.Owner("Address " + network, share(8)));
        }

        private int share(int part) {
            return Math.max(1, most / part);
        }

        private SharedLimit.@Nullable Owner tryTake(List<SharedLimit.Owner> wanted) {
            SharedLimit.Owner full = requests.tryTake(wanted);
            if (full == null) {
                owners.addAll(wanted);
            }
            return full;
        }

        private void requireTaken(List<SharedLimit.Owner> wanted) {
            SharedLimit.Owner full = tryTake(wanted);
            if (full != null) {
                throw InboundRequestErrorFactory.overloaded(full.name(), full.most());
            }
        }

        @Override
        public void close() {
            requests.release(owners);
        }
    }
}
