/** Typed views of stored records, with personal data masked: what the API returns, and its schemas. */
@NullMarked
package dev.semel.server.query.view;

import org.jspecify.annotations.NullMarked;
