/** Commands for login, tokens, users, passwords, and the audit log. */
@NullMarked
package dev.semel.server.cli.access;

import org.jspecify.annotations.NullMarked;
