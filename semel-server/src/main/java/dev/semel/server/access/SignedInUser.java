package dev.semel.server.access;

import dev.semel.server.http.Principal;

/**
 * The user of a dashboard session, with their principal and CSRF token.
 *
 * @param role display name of the role
 * @param csrf the token that each form must send
 */
public record SignedInUser(String name, String role, Principal principal, String csrf) {}
