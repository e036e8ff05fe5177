/** Typed views of stored records: what the API, the command line and the dashboard show, with personal data masked. */
@NullMarked
package dev.semel.server.query;

import org.jspecify.annotations.NullMarked;
