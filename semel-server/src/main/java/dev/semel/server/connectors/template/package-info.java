/** Templates of messages: parsing, HTML-safe rendering. */
@NullMarked
package dev.semel.server.connectors.template;

import org.jspecify.annotations.NullMarked;
