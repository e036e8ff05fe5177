package dev.semel.server.access;

import dev.semel.server.http.TokenScope;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Role of a dashboard user: viewer, operator, reviewer or admin, expressed as token scopes. */
public enum UserRole {
    VIEWER(EnumSet.of(TokenScope.READ)),
    /** May trigger, cancel, pause and release. */
    OPERATOR(EnumSet.of(TokenScope.READ, TokenScope.TRIGGER, TokenScope.OPERATE)),
    REVIEWER(EnumSet.of(TokenScope.READ, TokenScope.REVIEW)),
    ADMIN(EnumSet.complementOf(EnumSet.of(TokenScope.OPEN, TokenScope.SERVER)));

    private final Set<TokenScope> scopes;

    UserRole(Set<TokenScope> scopes) {
        this.scopes = Set.copyOf(scopes);
    }

    public Set<TokenScope> scopes() {
        return scopes;
    }

    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The role of this name; null if there is none. */
    public static @Nullable UserRole of(String word) {
        for (UserRole role : values()) {
            if (role.word().equals(word)) {
                return role;
            }
        }
        return null;
    }
}
