package dev.semel.server.http;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The authenticated caller of a request. Identity comes only from the credential, never from path, headers or body.
 *
 * @param tokenId the token's public id, for logs and audit rows; never the token
 * @param called names under which a reviewer setting can address the caller: the user name, and `role:…` per role
 * @param attachment data that the authenticator attaches for its own package, e.g. a quota
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
