package dev.semel.server.auth;

import dev.semel.Semel;
import dev.semel.server.http.Authenticator;
import dev.semel.server.http.Principal;
import dev.semel.server.http.Scope;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Base64;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * API tokens: made here, shown once, stored as SHA-256, looked up by that digest. A revoked one stops working at once
 * at this worker and within half a second at the others.
 */
public final class Tokens implements Authenticator {
    private static final int REMEMBERED_AT_MOST = 10_000;
    private static final int SECRET_BYTES = 24;

    private final Semel semel;
    private final @Nullable Principal dev;
    private final ConcurrentHashMap<String, Remembered> known = new ConcurrentHashMap<>();

    private Tokens(Semel semel, @Nullable Principal dev) {
        this.semel = semel;
        this.dev = dev;
    }

    public static Tokens serving(Semel semel) {
        return new Tokens(semel, null);
    }

    /** `semel dev`: the word `dev` is a token with every scope. It is not stored, so `serve` never knows it. */
    public static Tokens forDev(Semel semel, Rows.Workspace workspace) {
        Set<Scope> all = EnumSet.complementOf(EnumSet.of(Scope.OPEN));
        return new Tokens(semel, new Principal("tok_dev", workspace.ws(), workspace.name(), all, new Quota(0)));
    }

    /** How many fresh triggers a minute; 0 means as many as it likes. */
    public record Quota(int perMinute) {}

    /**
     * @param change of the catalog, taken before the store was asked: a token that is revoked in between is remembered
     *     under a number that has passed, and so is never believed again
     */
    private record Remembered(Principal principal, long change) {}

    /** A new token: the only moment its secret is known. */
    public record Made(Rows.Token row, String secret) {}

    @Override
    public @Nullable Principal authenticate(String token) {
        if (dev != null && token.equals("dev")) {
            return dev;
        }
        byte[] hash = hash(token);
        String name = HexFormat.of().formatHex(hash);
        long change = semel.changes();
        Remembered remembered = known.get(name);
        if (remembered != null && remembered.change() == change) {
            return remembered.principal();
        }
        Rows.Token row = semel.view(reads -> reads.token(hash));
        if (row == null || !MessageDigest.isEqual(row.hash(), hash)) {
            return null;
        }
        Principal principal = new Principal(
                row.tokenId(), row.ws(), row.workspace(), scopes(row.scopes()), new Quota(row.quotaPerMinute()));
        if (known.size() >= REMEMBERED_AT_MOST) {
            known.clear();
        }
        known.put(name, new Remembered(principal, change));
        return principal;
    }

    /**
     * What a new token is to be.
     *
     * @param key the caller's idempotency key; asking twice with it makes one token
     */
    public record Wanted(
            String name,
            Set<Scope> scopes,
            int quotaPerMinute,
            @Nullable String key) {}

    /** A token that is not stored yet. */
    public Made draft(Rows.Workspace workspace, Wanted wanted) {
        String id = wanted.key() == null
                ? "tok_" + semel.newId().text().substring("run_".length())
                : idOf(workspace, wanted.key());
        String secret =
                "semel_" + Base64.getUrlEncoder().withoutPadding().encodeToString(semel.newSecret(SECRET_BYTES));
        return new Made(
                new Rows.Token(
                        id,
                        workspace.ws(),
                        workspace.name(),
                        wanted.name(),
                        hash(secret),
                        words(wanted.scopes()),
                        wanted.quotaPerMinute(),
                        0,
                        0),
                secret);
    }

    /** Null where the key has made a token before: its secret was shown then and is known to nobody now. */
    public @Nullable Made create(Rows.Workspace workspace, Wanted wanted) {
        return store(draft(workspace, wanted));
    }

    public @Nullable Made store(Made draft) {
        if (!semel.change(new Edit.CreateToken(draft.row()))) {
            return null;
        }
        Rows.Token stored = semel.view(reads -> reads.token(draft.row().hash())); // with the time by the store's clock
        return new Made(stored == null ? draft.row() : stored, draft.secret());
    }

    /** The id of the token that a key makes: the constraint on ids is what keeps it to one. */
    public static String idOf(Rows.Workspace workspace, String key) {
        byte[] digest = hash(workspace.ws() + "\n" + key);
        return "tok_" + Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(digest, 18));
    }

    static Set<Scope> scopes(String words) {
        Set<Scope> scopes = EnumSet.noneOf(Scope.class);
        for (String word : words.split(",")) {
            scopes.add(Scope.valueOf(word.toUpperCase(Locale.ROOT)));
        }
        return scopes;
    }

    public static String words(Set<Scope> scopes) {
        return String.join(
                ",",
                scopes.stream()
                        .sorted()
                        .map(s -> s.name().toLowerCase(Locale.ROOT))
                        .toList());
    }

    private static byte[] hash(String token) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
