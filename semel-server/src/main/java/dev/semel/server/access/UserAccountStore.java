package dev.semel.server.access;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Sha256;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ClientNetwork;
import dev.semel.server.http.Principal;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkspaceSettingName;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/** A user is a document of a workspace and has the scopes of their role. */
public final class UserAccountStore {
    static final WorkspaceSettingName.SettingKind USER = new WorkspaceSettingName.SettingKind("user", false, true);
    static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9._-]{0,63}");

    /** Names of external users: the provider's name, `@` and its host. No invited user has such a name. */
    private static final Pattern OUTSIDE = Pattern.compile("[A-Za-z][A-Za-z0-9._-]{0,63}@[A-Za-z0-9.-]{1,100}");

    public static final String ACTOR = "usr_";
    static final String DISABLED = "disabled";
    private static final String SEPARATOR = "~";

    private final SemelRuntime semel;
    private final LoginSessionStore sessions;
    private final UserInvitationStore invitations;
    private final OidcUserLinker identities;
    private final LoginThrottle attempts;
    private final UserPasswordChanger passwords;
    private final LoginThrottleBrowserCookies knownBrowsers;
    private final LastAdministratorGuard lastAdministratorGuard;
    private final @Nullable SignedInUser dev;
    private final String devSecret;
    private @Nullable IdentityProvider identityProvider;
    private String publicUrl = "";

    private UserAccountStore(SemelRuntime semel, @Nullable Principal dev) {
        this.semel = semel;
        this.sessions = new LoginSessionStore(semel);
        this.invitations = new UserInvitationStore(semel);
        this.identities = new OidcUserLinker(semel);
        this.attempts = new LoginThrottle(semel::nanos);
        this.passwords = new UserPasswordChanger(semel, attempts);
        this.knownBrowsers = new LoginThrottleBrowserCookies(semel);
        this.lastAdministratorGuard = new LastAdministratorGuard(semel, this);
        this.devSecret =
                Base64.getUrlEncoder().withoutPadding().encodeToString(semel.newSecret(LoginSessionStore.SECRET_BYTES));
        this.dev = dev == null ? null : new SignedInUser("dev", "admin", dev, csrf(devSecret));
    }

    public static UserAccountStore serving(SemelRuntime semel) {
        return new UserAccountStore(semel, null);
    }

    /** For `semel dev`: the local developer may also log in with one click. */
    public static UserAccountStore forDev(SemelRuntime semel, Principal dev) {
        return new UserAccountStore(semel, dev);
    }

    /** Also accepts logins of this identity provider. Call before the first login. */
    public UserAccountStore withProvider(@Nullable IdentityProvider provider) {
        identityProvider = provider;
        return this;
    }

    /** Sets the public URL of this server; empty if unknown. Call before the first login. */
    public UserAccountStore withPublicUrl(String address) {
        publicUrl = address;
        return this;
    }

    /** The public URL of this server, such as `https://semel.example.com`; empty if unknown. */
    public String publicUrl() {
        return publicUrl;
    }

    /** The identity provider; null if none is configured. */
    public @Nullable IdentityProvider identityProvider() {
        return identityProvider;
    }

    /**
     * A user without credentials.
     *
     * @param groups reviewer groups, e.g. `warehouse`
     * @param disabled cannot log in and has no session
     * @param external managed by the identity provider: no local password, role set at each login
     */
    public record User(
            String name,
            UserRole role,
            List<String> groups,
            boolean disabled,
            boolean external,
            int version,
            long changedAt) {
        /** The names by which a review may assign this user. */
        Set<String> reviewerNames() {
            Set<String> all = new TreeSet<>(Set.of(name, "role:" + role.word()));
            groups.forEach(group -> all.add("role:" + group));
            return all;
        }
    }

    /** @param browser value of the {@link LoginThrottleBrowserCookies#cookieName} cookie; null if absent */
    public record LoginRequest(
            String workspace,
            String name,
            String password,
            String address,
            @Nullable String browser) {
        @Override
        public String toString() {
            return "login of " + name;
        }
    }

    /** The session cookie for the one-click login of `semel dev`; null if not offered. */
    public @Nullable String devSessionCookie() {
        return dev == null ? null : "dev" + SEPARATOR + devSecret;
    }

    /** The user of this session cookie; null if the session is invalid or has ended. */
    public @Nullable SignedInUser findSignedInUser(String cookie) {
        String[] parts = cookie.split(SEPARATOR, -1);
        if (dev != null && parts.length == 2 && parts[0].equals("dev")) {
            return same(parts[1], devSecret) ? dev : null;
        }
        LoginSessionStore.Owner owner = owner(cookie);
        User user = owner == null ? null : find(owner.ws(), owner.name());
        if (owner == null || user == null || user.disabled() || !sessions.isValid(owner, parts[2])) {
            return null;
        }
        int ws = owner.ws();
        DatabaseRows.WorkspaceRow workspace = semel.view(reads -> reads.workspace(ws));
        if (workspace == null) {
            return null;
        }
        Principal principal = new Principal(
                ACTOR + user.name(), ws, workspace.name(), user.role().scopes(), user.reviewerNames(), null);
        return new SignedInUser(user.name(), user.role().word(), principal, csrf(parts[2]));
    }

    /** Not for external users: their role is read at each login, so they must log in again. */
    public void extendSession(String cookie) {
        String[] parts = cookie.split(SEPARATOR, -1);
        if (parts.length != 3 || !parts[0].matches("[0-9]{1,9}")) {
            return;
        }
        int ws = Integer.parseInt(parts[0]);
        User user = find(ws, parts[1]);
        if (user != null && !user.external()) {
            sessions.extend(new LoginSessionStore.Owner(ws, user.name()), parts[2]);
        }
    }

    /** Returns the cookie of a new session; null if name or password is wrong. */
    public @Nullable String logIn(LoginRequest entry) {
        var attempt = new LoginThrottle.LoginAttempt(
                entry.workspace() + "/" + entry.name(), entry.address(), knownBrowsers.findBrowserId(entry));
        attempts.admit(attempt);
        DatabaseRows.WorkspaceRow workspace = semel.view(reads -> reads.workspace(entry.workspace()));
        DatabaseRows.SettingRow row =
                workspace == null || !NAME.matcher(entry.name()).matches() ? null : row(workspace.ws(), entry.name());
        JsonNode known = row == null ? MissingNode.getInstance() : StrictJsonCodec.parse(row.body());
        if (workspace == null || row == null || !known.has("password")) {
            PasswordHash.simulateCheck(entry.password(), ClientNetwork.of(entry.address()));
        } else if (PasswordHash.read(known.path("password"))
                        .matches(entry.password(), ClientNetwork.of(entry.address()))
                && !known.path(DISABLED).asBoolean(false)) {
            attempts.recordSuccess(attempt);
            return cookie(workspace.ws(), row.name(), entry.address());
        }
        return null;
    }

    /** Returns the cookie of a new session for a user whom the identity provider just authenticated. */
    public String logInExternal(String workspace, ExternalIdentity who, String address) {
        DatabaseRows.WorkspaceRow found = semel.view(reads -> reads.workspace(workspace));
        if (found == null) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "The workspace for users of the identity provider does not exist. You are not logged in.",
                    "Ask the operator of the server to correct SEMEL_OIDC_WORKSPACE.");
        }
        return cookie(found.ws(), identities.resolveUserName(found.ws(), who), address);
    }

    public void logOut(String cookie) {
        LoginSessionStore.Owner owner = owner(cookie);
        if (owner != null && findSignedInUser(cookie) != null) {
            sessions.end(owner, cookie.substring(cookie.lastIndexOf(SEPARATOR) + 1));
        }
    }

    /** The user that a cookie claims to belong to; null if it is malformed. */
    static LoginSessionStore.@Nullable Owner owner(String cookie) {
        String[] parts = cookie.split(SEPARATOR, -1);
        boolean fits = parts.length == 3 && parts[0].matches("[0-9]{1,9}") && fits(parts[1]);
        return fits ? new LoginSessionStore.Owner(Integer.parseInt(parts[0]), parts[1]) : null;
    }

    private String cookie(int ws, String name, String address) {
        String secret = sessions.start(new LoginSessionStore.Owner(ws, name), address);
        return ws + SEPARATOR + name + SEPARATOR + secret;
    }

    public boolean hasNoUsers(int ws) {
        return list(ws, "", 1).isEmpty();
    }

    public List<User> list(int ws, String after, int limit) {
        List<DatabaseRows.SettingRow> rows = semel.view(reads -> reads.settings(ws, USER.word(), after, limit));
        return rows == null
                ? List.of()
                : rows.stream().map(UserAccountStore::toUser).toList();
    }

    public @Nullable User find(int ws, String name) {
        DatabaseRows.SettingRow row = row(ws, name);
        return row == null ? null : toUser(row);
    }

    DatabaseRows.@Nullable SettingRow row(int ws, String name) {
        return read(semel, new WorkspaceSettingName(ws, USER, name));
    }

    static DatabaseRows.@Nullable SettingRow read(SemelRuntime semel, WorkspaceSettingName name) {
        return semel.view(reads -> reads.setting(name.workspace(), name.kind().word(), name.text()));
    }

    public static User toUser(DatabaseRows.SettingRow row) {
        ObjectNode document = (ObjectNode) StrictJsonCodec.parse(row.body());
        UserRole role = UserRole.of(document.path("role").asString(""));
        List<String> groups = document.path("groups")
                .valueStream()
                .map(one -> one.asString(""))
                .toList();
        return new User(
                row.name(),
                role == null ? UserRole.VIEWER : role,
                groups,
                document.path(DISABLED).asBoolean(false),
                OidcUserLinker.isExternal(document),
                row.version(),
                row.changedAt());
    }

    public UserInvitationStore invitations() {
        return invitations;
    }

    /** The sessions of a user, without their secrets. */
    public List<LoginSessionStore.Session> sessions(int ws, String name) {
        return sessions.list(new LoginSessionStore.Owner(ws, name));
    }

    /** Ends one session; false if no session has this id. */
    public boolean endSession(int ws, String name, String id) {
        return sessions.endOne(new LoginSessionStore.Owner(ws, name), id);
    }

    /** The session id of this cookie as in {@link #sessions}; empty if it has none. */
    public static String sessionId(String cookie) {
        String[] parts = cookie.split(SEPARATOR, -1);
        return parts.length == 3 ? LoginSessionStore.id(Sha256.hex(parts[2])) : "";
    }

    /** Ends all sessions of a user. Call when the user is removed or disabled. */
    public void endSessions(int ws, String name) {
        sessions.endAll(new LoginSessionStore.Owner(ws, name));
    }

    /** Ends all sessions of a user except one, by its id; empty: all of them. */
    public void endOtherSessions(int ws, String name, String id) {
        sessions.endAllBut(new LoginSessionStore.Owner(ws, name), id);
    }

    public record PasswordChangeRequest(String old, String replacement) {
        @Override
        public String toString() {
            return "a password change";
        }
    }

    /** Prepares the change of a user's own password; null if there is no such user. */
    public StoreWriteCommand.@Nullable SaveSetting preparePasswordChange(
            Principal principal, String name, PasswordChangeRequest choice) {
        DatabaseRows.SettingRow row = row(principal.workspace(), name);
        return row == null ? null : passwords.prepareChange(principal, row, choice);
    }

    public LoginThrottleBrowserCookies knownBrowsers() {
        return knownBrowsers;
    }

    public LastAdministratorGuard lastAdministratorGuard() {
        return lastAdministratorGuard;
    }

    /** The user behind this principal; null if it is a token. */
    public static @Nullable String userNameOf(Principal who) {
        return who.tokenId().startsWith(ACTOR) ? who.tokenId().substring(ACTOR.length()) : null;
    }

    /** Requested changes of a user; null for what stays. */
    public record UserChange(
            @Nullable UserRole role,
            @Nullable Boolean disabled,
            @Nullable List<String> groups) {}

    /** Prepares a change of a user; null if there is no such user. */
    public StoreWriteCommand.@Nullable SaveSetting prepareChange(int ws, String name, UserChange change, String actor) {
        DatabaseRows.SettingRow row = row(ws, name);
        if (row == null) {
            return null;
        }
        ObjectNode document = (ObjectNode) StrictJsonCodec.parse(row.body());
        UserRole role = change.role();
        if (role != null && OidcUserLinker.isExternal(document)) {
            throw rejection("The identity provider sets the role of " + name + " at each login");
        }
        if (role != null) {
            document.put("role", role.word());
        }
        if (change.disabled() != null) {
            document.put(DISABLED, change.disabled());
        }
        if (change.groups() != null) {
            ArrayNode groups = document.putArray("groups");
            change.groups().forEach(groups::add);
        }
        return new StoreWriteCommand.SaveSetting(
                new WorkspaceSettingName(ws, USER, name), StrictJsonCodec.write(document), row.version(), actor);
    }

    /** @param seen the expected version; null for any */
    public StoreWriteCommand.RemoveSetting prepareRemove(int ws, String name, @Nullable Integer seen, String actor) {
        return new StoreWriteCommand.RemoveSetting(new WorkspaceSettingName(ws, USER, name), seen, actor);
    }

    /** Accepts an invitation or reset link and returns the cookie of a new session. */
    public String acceptInvitation(String token, String name, String password, String address) {
        int ws = new InvitationAcceptance(semel, this).accept(token, name, password);
        // Sessions of an earlier user or password must not survive.
        endSessions(ws, name);
        return cookie(ws, name, address);
    }

    static SemelException rejection(String rule) {
        return new SemelException(
                ErrorCode.INVALID_INPUT, rule + ". Nothing was changed.", "Correct the request and send it again.");
    }

    private static String csrf(String secret) {
        return Sha256.hex("csrf " + secret);
    }

    private static boolean fits(String name) {
        return NAME.matcher(name).matches() || OUTSIDE.matcher(name).matches();
    }

    /** Returns a valid name of a local or external user, or throws. */
    public static String requireValidName(String name) {
        if (!fits(name)) {
            throw rejection("A name must have 1 to 64 letters, digits, dots, _ and -, and begin with a letter;"
                    + " names of users from"
                    + " the identity provider end with @ and its host");
        }
        return name;
    }

    static boolean same(String one, String other) {
        return MessageDigest.isEqual(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
    }
}
