/** Login with an OpenID Connect provider: authorization code flow with PKCE and ID token verification. */
@NullMarked
package dev.semel.server.access.oidc;

import org.jspecify.annotations.NullMarked;
