/** What all pages share: requests, forms, layout, lists, times, and status labels. */
@NullMarked
package dev.semel.server.dashboard.page;

import org.jspecify.annotations.NullMarked;
