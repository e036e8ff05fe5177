/** What people see in a browser. Everything here is asked of the API in the name of the person who looks. */
@NullMarked
package dev.semel.server.pages;

import org.jspecify.annotations.NullMarked;
