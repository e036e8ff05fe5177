package dev.semel.server.auth;

import dev.semel.server.http.Scope;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What a person may do on the pages, in the scopes that tokens have. */
public enum Role {
    /** Looks. */
    VIEWER(EnumSet.of(Scope.READ)),
    /** Sends, cancels, pauses, releases. */
    OPERATOR(EnumSet.of(Scope.READ, Scope.TRIGGER, Scope.OPERATE)),
    /** Looks, and decides what waits for a person. */
    REVIEWER(EnumSet.of(Scope.READ, Scope.REVIEW)),
    /** Everything. */
    ADMIN(EnumSet.complementOf(EnumSet.of(Scope.OPEN)));

    private final Set<Scope> scopes;

    Role(Set<Scope> scopes) {
        this.scopes = Set.copyOf(scopes);
    }

    public Set<Scope> scopes() {
        return scopes;
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The role of this word; null where there is none. */
    public static @Nullable Role of(String word) {
        for (Role role : values()) {
            if (role.word().equals(word)) {
                return role;
            }
        }
        return null;
    }
}
