/** Incoming webhooks of providers: signature verification, deduplication and event extraction. */
@org.jspecify.annotations.NullMarked
package dev.semel.server.connectors.webhooks;
