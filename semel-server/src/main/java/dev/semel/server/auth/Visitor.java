package dev.semel.server.auth;

import dev.semel.server.http.Principal;

/**
 * The user of a dashboard session, with their principal and CSRF token.
 *
 * @param role display name of the role
 * @param csrf the token that each form must send
 */
public record Visitor(String name, String role, Principal principal, String csrf) {}
