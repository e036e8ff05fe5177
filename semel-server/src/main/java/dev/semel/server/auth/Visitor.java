package dev.semel.server.auth;

import dev.semel.server.http.Principal;

/**
 * Somebody who is logged in.
 *
 * @param role a word for people
 * @param csrf what each of their forms must carry
 */
public record Visitor(String name, String role, Principal principal, String csrf) {}
