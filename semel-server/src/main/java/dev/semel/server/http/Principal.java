package dev.semel.server.http;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who is asking. Identity comes from the credential alone, never from a path, a header or a body.
 *
 * @param tokenId the token's public id, fit for logs and audit rows; never the token
 * @param called what else they answer to where somebody is named: their name, and `role:…` for each role that they have
 * @param attachment whatever the authenticator wants its own room to find again, e.g. a quota
 */
public record Principal(
        String tokenId,
        int workspace,
        String workspaceName,
        Set<Scope> scopes,
        Set<String> called,
        @Nullable Object attachment) {
    public Principal {
        scopes = Set.copyOf(scopes);
        called = Set.copyOf(called);
        if (scopes.contains(Scope.OPEN)) {
            throw new IllegalArgumentException("OPEN is a scope of routes, not of token " + tokenId);
        }
    }

    public Principal(String tokenId, int workspace, String workspaceName, Set<Scope> scopes) {
        this(tokenId, workspace, workspaceName, scopes, Set.of(), null);
    }

    public boolean may(Scope scope) {
        return scope == Scope.OPEN || scopes.contains(scope);
    }
}
