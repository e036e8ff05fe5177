/** Provider webhooks: who really sent it, what it is called, and what it says. Decides and sends nothing. */
@org.jspecify.annotations.NullMarked
package dev.semel.server.hooks;
