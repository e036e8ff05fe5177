/** Implementations of the services that steps use: HTTP, messages, profiles and digests of one workspace. */
@NullMarked
package dev.semel.server.services;

import org.jspecify.annotations.NullMarked;
