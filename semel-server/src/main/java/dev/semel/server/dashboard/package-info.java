/**
 * The routes of the dashboard. Every page reads and changes data only through API calls on behalf of the signed-in
 * user.
 */
@NullMarked
package dev.semel.server.dashboard;

import org.jspecify.annotations.NullMarked;
