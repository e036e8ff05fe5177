/** Login, sessions, and the CSRF check in front of every page. */
@NullMarked
package dev.semel.server.dashboard.login;

import org.jspecify.annotations.NullMarked;
