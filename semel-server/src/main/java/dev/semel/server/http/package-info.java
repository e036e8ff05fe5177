@NullMarked
package dev.semel.server.http;

import org.jspecify.annotations.NullMarked;
