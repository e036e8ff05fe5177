package dev.semel.server.http;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The authenticated caller of a request. Identity comes only from the credential, never from path, headers or body.
 *
 * @param tokenId the token's public id, for logs and audit rows; never the token
 * @param aliases names under which a reviewer setting can address the caller: the user name, and `role:…` per role
 * @param attachment data that the authenticator attaches for its own package, e.g. a quota
 */
public record Principal(
        String tokenId,
        int workspace,
        String workspaceName,
        Set<TokenScope> scopes,
        Set<String> aliases,
        @Nullable Object attachment) {
    public Principal {
        scopes = Set.copyOf(scopes);
        aliases = Set.copyOf(aliases);
        if (scopes.contains(TokenScope.OPEN)) {
            throw new IllegalArgumentException("OPEN is a scope of routes, not of token " + tokenId);
        }
    }

    public Principal(String tokenId, int workspace, String workspaceName, Set<TokenScope> scopes) {
        this(tokenId, workspace, workspaceName, scopes, Set.of(), null);
    }

    public boolean hasScope(TokenScope scope) {
        return scope == TokenScope.OPEN || scopes.contains(scope);
    }
}
