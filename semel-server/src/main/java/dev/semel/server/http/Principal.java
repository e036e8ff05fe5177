package dev.semel.server.http;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who is asking. Identity comes from the credential alone, never from a path, a header or a body.
 *
 * @param tokenId the token's public id, fit for logs and audit rows; never the token
 * @param attachment whatever the authenticator wants its own room to find again, e.g. a quota
 */
public record Principal(
        String tokenId,
        int workspace,
        String workspaceName,
        Set<Scope> scopes,
        @Nullable Object attachment) {
    public Principal {
        scopes = Set.copyOf(scopes);
        if (scopes.contains(Scope.OPEN)) {
            throw new IllegalArgumentException("OPEN is a scope of routes, not of token " + tokenId);
        }
    }

    public Principal(String tokenId, int workspace, String workspaceName, Set<Scope> scopes) {
        this(tokenId, workspace, workspaceName, scopes, null);
    }

    public boolean may(Scope scope) {
        return scope == Scope.OPEN || scopes.contains(scope);
    }
}
