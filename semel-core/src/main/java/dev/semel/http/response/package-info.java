/** Reads responses of HTTP calls. */
@NullMarked
package dev.semel.http.response;

import org.jspecify.annotations.NullMarked;
