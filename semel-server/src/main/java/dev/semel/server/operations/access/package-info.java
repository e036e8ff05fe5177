/** Who may do what, and who did what: tokens, users, invitations, passwords, the audit log. */
@NullMarked
package dev.semel.server.operations.access;

import org.jspecify.annotations.NullMarked;
