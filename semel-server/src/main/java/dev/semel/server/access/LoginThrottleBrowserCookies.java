package dev.semel.server.access;

import dev.semel.json.Sha256;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.WorkspaceSettingName;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/**
 * Issues and checks signed cookies of browsers from which a user logged in before. Such a browser still needs the
 * password but has its own attempt limit. A cookie is valid for one name and its current password.
 */
public final class LoginThrottleBrowserCookies {
    private static final Duration GOOD_FOR = Duration.ofDays(180);
    private static final int MARK_BYTES = 16;
    private static final Pattern COOKIE = Pattern.compile("([0-9]{1,12})\\.([A-Za-z0-9_-]{22})\\.([A-Za-z0-9_-]{43})");

    private final SemelRuntime semel;

    LoginThrottleBrowserCookies(SemelRuntime semel) {
        this.semel = semel;
    }

    public record BrowserCookie(String cookie, String value, long seconds) {}

    /**
     * @param secret signing secret of the workspace
     * @param account the stored user document
     */
    private record Owner(byte[] secret, int ws, String name, JsonNode account) {
        private String sign(String seconds, String mark) {
            String salt = account.path("password").path("salt").asString("");
            String text = String.join("\n", "known browser", String.valueOf(ws), name, salt, seconds, mark);
            return encode(Sha256.hmac(secret, text));
        }

        @Override
        public String toString() {
            return "the owner " + name;
        }
    }

    /** The cookie name: one per user of a browser, without revealing the user. */
    public static String cookieName(String workspace, String name) {
        return "semel_known_" + Sha256.hex(workspace + "\n" + name).substring(0, 16);
    }

    /** Issues the cookie for a new session; null for a user without a password. */
    public @Nullable BrowserCookie issue(String session) {
        LoginSessionStore.Owner account = UserAccountStore.owner(session);
        DatabaseRows.WorkspaceRow workspace =
                account == null ? null : semel.view(reads -> reads.workspace(account.ws()));
        Owner owner = account == null || workspace == null ? null : owner(workspace, account.name());
        if (workspace == null || owner == null) {
            return null;
        }
        String seconds = String.valueOf(seconds());
        String mark = encode(semel.newSecret(MARK_BYTES));
        String value = seconds + "." + mark + "." + owner.sign(seconds, mark);
        return new BrowserCookie(cookieName(workspace.name(), owner.name()), value, GOOD_FOR.toSeconds());
    }

    /** The browser id; null if the cookie belongs to another user or has expired. */
    @Nullable
    String findBrowserId(UserAccountStore.LoginRequest entry) {
        Matcher parts = COOKIE.matcher(entry.browser() == null ? "" : entry.browser());
        if (!parts.matches() || seconds() - Long.parseLong(parts.group(1)) > GOOD_FOR.toSeconds()) {
            return null;
        }
        DatabaseRows.WorkspaceRow workspace = semel.view(reads -> reads.workspace(entry.workspace()));
        Owner owner = workspace == null ? null : owner(workspace, entry.name());
        if (owner == null) {
            return null;
        }
        byte[] signed = owner.sign(parts.group(1), parts.group(2)).getBytes(StandardCharsets.UTF_8);
        return MessageDigest.isEqual(signed, parts.group(3).getBytes(StandardCharsets.UTF_8)) ? parts.group(2) : null;
    }

    /** Null if there is no user of this name with a password. */
    private @Nullable Owner owner(DatabaseRows.WorkspaceRow workspace, String name) {
        DatabaseRows.SettingRow row =
                UserAccountStore.read(semel, new WorkspaceSettingName(workspace.ws(), UserAccountStore.USER, name));
        JsonNode user = row == null ? MissingNode.getInstance() : StrictJsonCodec.parse(row.body());
        return user.has("password") ? new Owner(workspace.secret(), workspace.ws(), name, user) : null;
    }

    private long seconds() {
        Long now = semel.view(reads -> reads.now());
        return now == null ? 0 : now / 1_000_000;
    }

    private static String encode(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
