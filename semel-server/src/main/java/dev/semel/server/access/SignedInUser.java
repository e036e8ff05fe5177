package dev.semel.server.access;

import dev.semel.server.http.Principal;

/**
 * @param role display name of the role
 * @param csrf the token that each form must send
 */
public record SignedInUser(String name, String role, Principal principal, String csrf) {}
