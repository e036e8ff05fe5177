package dev.semel.server;

import dev.semel.server.outbound.Answer;
import dev.semel.server.outbound.Auth;
import dev.semel.server.outbound.Outbound;
import dev.semel.server.outbound.Request;
import dev.semel.server.steps.Outside;
import java.io.IOException;

/**
 * What the steps of one workspace reach.
 *
 * @param allowsSql whether files may run SQL in the store's database
 * @param outbound the one way out over HTTP
 */
record Reach(boolean allowsSql, Outbound outbound) implements Outside {
    @Override
    public Answer send(Request request, Auth auth) throws IOException {
        return outbound.send(request, auth);
    }
}
