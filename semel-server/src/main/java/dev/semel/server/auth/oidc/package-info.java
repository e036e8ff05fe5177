/** Logging in with an OpenID Connect provider: the code flow with PKCE, and the proof of what it says. */
@NullMarked
package dev.semel.server.auth.oidc;

import org.jspecify.annotations.NullMarked;
