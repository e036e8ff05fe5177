package dev.semel.server.access;

import dev.semel.json.Sha256;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.BearerTokenAuthenticator;
import dev.semel.server.http.Principal;
import dev.semel.server.http.TokenScope;
import dev.semel.store.DatabaseRows;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Creates and authenticates API tokens, stored as SHA-256. A revoked token stops working immediately on this worker and
 * within half a second on others.
 */
public final class ApiTokenStore implements BearerTokenAuthenticator {
    private static final int REMEMBERED_AT_MOST = 10_000;
    private static final int SECRET_BYTES = 24;

    private final SemelRuntime semel;
    private final @Nullable Principal dev;
    private final ConcurrentHashMap<String, CachedToken> cache = new ConcurrentHashMap<>();

    private ApiTokenStore(SemelRuntime semel, @Nullable Principal dev) {
        this.semel = semel;
        this.dev = dev;
    }

    public static ApiTokenStore serving(SemelRuntime semel) {
        return new ApiTokenStore(semel, null);
    }

    /** For `semel dev`: the text `dev` is a token with every scope. It is not stored, so `serve` never accepts it. */
    public static ApiTokenStore forDev(SemelRuntime semel, DatabaseRows.WorkspaceRow workspace) {
        Set<TokenScope> all = EnumSet.complementOf(EnumSet.of(TokenScope.OPEN));
        return new ApiTokenStore(
                semel, new Principal("tok_dev", workspace.ws(), workspace.name(), all, Set.of(), new Quota(0)));
    }

    /** Fresh triggers per minute; 0: unlimited. */
    public record Quota(int perMinute) {}

    /**
     * @param change catalog version read before the lookup: a token revoked in between is cached under an outdated
     *     version and never used
     */
    private record CachedToken(Principal principal, long change) {}

    /** A new token with its secret, which is not stored. */
    public record CreatedToken(DatabaseRows.TokenRow row, String secret) {}

    @Override
    public @Nullable Principal authenticate(String token) {
        if (dev != null && token.equals("dev")) {
            return dev;
        }
        byte[] hash = Sha256.digest(token);
        String name = HexFormat.of().formatHex(hash);
        long change = semel.catalogVersion();
        CachedToken remembered = cache.get(name);
        if (remembered != null && remembered.change() == change) {
            return remembered.principal();
        }
        DatabaseRows.TokenRow row = semel.view(reads -> reads.token(hash));
        if (row == null || !MessageDigest.isEqual(row.hash(), hash)) {
            return null;
        }
        Principal principal = new Principal(
                row.tokenId(),
                row.ws(),
                row.workspace(),
                scopesOf(row),
                reviewerNames(row.name()),
                new Quota(row.quotaPerMinute()));
        if (cache.size() >= REMEMBERED_AT_MOST) {
            cache.clear();
        }
        cache.put(name, new CachedToken(principal, change));
        return principal;
    }

    /** A token named `warehouse` or `warehouse/scanner-3` has the reviewer role `warehouse`, besides its own name. */
    private static Set<String> reviewerNames(String name) {
        int slash = name.indexOf('/');
        String role = slash < 0 ? name : name.substring(0, slash);
        return role.isBlank() ? Set.of() : Set.of(name, "role:" + role);
    }

    /** @param madeBy the actor for the audit log */
    public record TokenRequest(String name, Set<TokenScope> scopes, int quotaPerMinute, String madeBy) {}

    /**
     * Creates a token without storing it.
     *
     * @param ws workspace number; 0 if the workspace does not exist yet
     */
    public CreatedToken draft(int ws, String workspace, TokenRequest wanted) {
        String id = "tok_" + semel.newId().text().substring("run_".length());
        String secret =
                "semel_" + Base64.getUrlEncoder().withoutPadding().encodeToString(semel.newSecret(SECRET_BYTES));
        return new CreatedToken(
                new DatabaseRows.TokenRow(
                        id,
                        ws,
                        workspace,
                        wanted.name(),
                        Sha256.digest(secret),
                        formatScopes(wanted.scopes()),
                        wanted.quotaPerMinute(),
                        0,
                        0,
                        wanted.madeBy()),
                secret);
    }

    /** Actor of the token that `serve` creates in an empty store. No request can have it. */
    public static final String FIRST_TOKEN_ACTOR = "serve";

    /** The scopes of a token. The first token of a store that is older than the scope `server` has it too. */
    public static Set<TokenScope> scopesOf(DatabaseRows.TokenRow row) {
        Set<TokenScope> scopes = parseScopes(row.scopes());
        if (FIRST_TOKEN_ACTOR.equals(row.createdBy())) {
            scopes.add(TokenScope.SERVER);
        }
        return scopes;
    }

    static Set<TokenScope> parseScopes(String words) {
        Set<TokenScope> scopes = EnumSet.noneOf(TokenScope.class);
        for (String word : words.split(",")) {
            scopes.add(TokenScope.valueOf(word.toUpperCase(Locale.ROOT)));
        }
        return scopes;
    }

    public static String formatScopes(Set<TokenScope> scopes) {
        return String.join(
                ",",
                scopes.stream()
                        .sorted()
                        .map(s -> s.name().toLowerCase(Locale.ROOT))
                        .toList());
    }
}
