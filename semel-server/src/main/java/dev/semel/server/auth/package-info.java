@NullMarked
package dev.semel.server.auth;

import org.jspecify.annotations.NullMarked;
