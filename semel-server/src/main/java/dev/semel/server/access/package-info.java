/** Access control: dashboard users, login sessions, invitations, API tokens and quotas. */
@NullMarked
package dev.semel.server.access;

import org.jspecify.annotations.NullMarked;
