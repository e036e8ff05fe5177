package dev.semel.server.auth;

import dev.semel.server.http.Scope;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Role of a dashboard user: viewer, operator, reviewer or admin, expressed as token scopes. */
public enum Role {
    /** May read. */
    VIEWER(EnumSet.of(Scope.READ)),
    /** May trigger, cancel, pause and release. */
    OPERATOR(EnumSet.of(Scope.READ, Scope.TRIGGER, Scope.OPERATE)),
    /** May read and decide reviews. */
    REVIEWER(EnumSet.of(Scope.READ, Scope.REVIEW)),
    /** May do everything. */
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

    /** The role of this name; null if there is none. */
    public static @Nullable Role of(String word) {
        for (Role role : values()) {
            if (role.word().equals(word)) {
                return role;
            }
        }
        return null;
    }
}
