/** What the server stores, as JSON for readers: personal data is masked here, once, for every reader. */
@NullMarked
package dev.semel.server.query;

import org.jspecify.annotations.NullMarked;
