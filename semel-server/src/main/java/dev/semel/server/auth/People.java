package dev.semel.server.auth;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.http.Principal;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.store.SettingKind;
import dev.semel.store.SettingName;
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

/**
 * User accounts of the dashboard: log-in, sessions, invitations and changes. A user is a document of a workspace and
 * has the scopes of their role.
 */
public final class People {
    static final SettingKind PERSON = new SettingKind("person", false, true);
    static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9._-]{0,63}");

    /** Names of external users: the provider's name, `@` and its host. No invited user has such a name. */
    private static final Pattern OUTSIDE = Pattern.compile("[A-Za-z][A-Za-z0-9._-]{0,63}@[A-Za-z0-9.-]{1,100}");

    public static final String ACTOR = "usr_";
    static final String DISABLED = "disabled";
    private static final String SEPARATOR = "~";

    private final Semel semel;
    private final Sessions sessions;
    private final Invitations invitations;
    private final Identities identities;
    private final Attempts attempts;
    private final Passwords passwords;
    private final KnownBrowsers browsers;
    private final Administrators administrators;
    private final @Nullable Visitor dev;
    private final String devSecret;
    private @Nullable Voucher voucher;
    private String home = "";

    private People(Semel semel, @Nullable Principal dev) {
        this.semel = semel;
        this.sessions = new Sessions(semel);
        this.invitations = new Invitations(semel);
        this.identities = new Identities(semel, PERSON);
        this.attempts = new Attempts(semel::nanos);
        this.passwords = new Passwords(semel, attempts);
        this.browsers = new KnownBrowsers(semel);
        this.administrators = new Administrators(semel, this);
        this.devSecret = Base64.getUrlEncoder().withoutPadding().encodeToString(semel.newSecret(Sessions.SECRET_BYTES));
        this.dev = dev == null ? null : new Visitor("dev", "admin", dev, csrf(devSecret));
    }

    public static People serving(Semel semel) {
        return new People(semel, null);
    }

    /** For `semel dev`: the local developer may also log in with one click. */
    public static People forDev(Semel semel, Principal dev) {
        return new People(semel, dev);
    }

    /** Also accepts logins of this identity provider. Call before the first login. */
    public People with(@Nullable Voucher provider) {
        voucher = provider;
        return this;
    }

    /** Sets the public URL of this server; empty if unknown. Call before the first login. */
    public People foundAt(String address) {
        home = address;
        return this;
    }

    /** The public URL of this server, such as `https://semel.example.com`; empty if unknown. */
    public String home() {
        return home;
    }

    /** The identity provider; null if none is configured. */
    public @Nullable Voucher voucher() {
        return voucher;
    }

    /**
     * A user without credentials.
     *
     * @param groups reviewer groups, e.g. `warehouse`
     * @param disabled cannot log in and has no session
     * @param fromOutside managed by the identity provider: no local password, role set at each login
     */
    public record Person(
            String name,
            Role role,
            List<String> groups,
            boolean disabled,
            boolean fromOutside,
            int version,
            long changedAt) {
        /** The names by which a review may assign this user. */
        Set<String> called() {
            Set<String> all = new TreeSet<>(Set.of(name, "role:" + role.word()));
            groups.forEach(group -> all.add("role:" + group));
            return all;
        }
    }

    /**
     * The credentials of a login request.
     *
     * @param browser value of the {@link KnownBrowsers#cookieName} cookie; null if absent
     */
    public record Entry(
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
    public @Nullable String devEntrance() {
        return dev == null ? null : "dev" + SEPARATOR + devSecret;
    }

    /** The user of this session cookie; null if the session is invalid or has ended. */
    public @Nullable Visitor visitor(String cookie) {
        String[] parts = cookie.split(SEPARATOR, -1);
        if (dev != null && parts.length == 2 && parts[0].equals("dev")) {
            return same(parts[1], devSecret) ? dev : null;
        }
        Sessions.Owner owner = owner(cookie);
        Person person = owner == null ? null : find(owner.ws(), owner.name());
        if (owner == null || person == null || person.disabled() || !sessions.good(owner, parts[2])) {
            return null;
        }
        int ws = owner.ws();
        Rows.Workspace workspace = semel.view(reads -> reads.workspace(ws));
        if (workspace == null) {
            return null;
        }
        Principal principal = new Principal(
                ACTOR + person.name(), ws, workspace.name(), person.role().scopes(), person.called(), null);
        return new Visitor(person.name(), person.role().word(), principal, csrf(parts[2]));
    }

    /**
     * Extends the session of an active user. Not for external users: their role is read at each login, so they must log
     * in again.
     */
    public void used(String cookie) {
        String[] parts = cookie.split(SEPARATOR, -1);
        if (parts.length != 3 || !parts[0].matches("[0-9]{1,9}")) {
            return;
        }
        int ws = Integer.parseInt(parts[0]);
        Person person = find(ws, parts[1]);
        if (person != null && !person.fromOutside()) {
            sessions.used(new Sessions.Owner(ws, person.name()), parts[2]);
        }
    }

    /** Returns the cookie of a new session; null if name or password is wrong. */
    public @Nullable String logIn(Entry entry) {
        var attempt = new Attempts.Try(entry.workspace() + "/" + entry.name(), entry.address(), browsers.mark(entry));
        attempts.begin(attempt);
        Rows.Workspace workspace = semel.view(reads -> reads.workspace(entry.workspace()));
        Rows.Setting row =
                workspace == null || !NAME.matcher(entry.name()).matches() ? null : row(workspace.ws(), entry.name());
        JsonNode known = row == null ? MissingNode.getInstance() : Json.parse(row.body());
        if (workspace == null || row == null || !known.has("password")) {
            Password.pretend(entry.password());
        } else if (Password.read(known.path("password")).fits(entry.password())
                && !known.path(DISABLED).asBoolean(false)) {
            attempts.succeeded(attempt);
            return cookie(workspace.ws(), row.name(), entry.address());
        }
        return null;
    }

    /** Returns the cookie of a new session for a user whom the identity provider just authenticated. */
    public String enter(String workspace, Vouched who, String address) {
        Rows.Workspace found = semel.view(reads -> reads.workspace(workspace));
        if (found == null) {
            throw new SemelException(
                    ErrorCode.FORBIDDEN,
                    "The workspace for users of the identity provider does not exist. You are not logged in.",
                    "Ask the operator of the server to correct SEMEL_OIDC_WORKSPACE.");
        }
        return cookie(found.ws(), identities.name(found.ws(), who), address);
    }

    public void logOut(String cookie) {
        Sessions.Owner owner = owner(cookie);
        if (owner != null && visitor(cookie) != null) {
            sessions.end(owner, cookie.substring(cookie.lastIndexOf(SEPARATOR) + 1));
        }
    }

    /** The user that a cookie claims to belong to; null if it is malformed. */
    static Sessions.@Nullable Owner owner(String cookie) {
        String[] parts = cookie.split(SEPARATOR, -1);
        boolean fits = parts.length == 3 && parts[0].matches("[0-9]{1,9}") && fits(parts[1]);
        return fits ? new Sessions.Owner(Integer.parseInt(parts[0]), parts[1]) : null;
    }

    private String cookie(int ws, String name, String address) {
        String secret = sessions.begin(new Sessions.Owner(ws, name), address);
        return ws + SEPARATOR + name + SEPARATOR + secret;
    }

    public boolean nobodyYet(int ws) {
        return list(ws, "", 1).isEmpty();
    }

    public List<Person> list(int ws, String after, int limit) {
        List<Rows.Setting> rows = semel.view(reads -> reads.settings(ws, PERSON.word(), after, limit));
        return rows == null ? List.of() : rows.stream().map(People::person).toList();
    }

    public @Nullable Person find(int ws, String name) {
        Rows.Setting row = row(ws, name);
        return row == null ? null : person(row);
    }

    Rows.@Nullable Setting row(int ws, String name) {
        return semel.view(reads -> reads.setting(ws, PERSON.word(), name));
    }

    /** Converts a stored document to a user. */
    public static Person person(Rows.Setting row) {
        ObjectNode document = (ObjectNode) Json.parse(row.body());
        Role role = Role.of(document.path("role").asString(""));
        List<String> groups = document.path("groups")
                .valueStream()
                .map(one -> one.asString(""))
                .toList();
        return new Person(
                row.name(),
                role == null ? Role.VIEWER : role,
                groups,
                document.path(DISABLED).asBoolean(false),
                Identities.fromOutside(document),
                row.version(),
                row.changedAt());
    }

    public Invitations invitations() {
        return invitations;
    }

    /** The sessions of a user, without their secrets. */
    public List<Sessions.Session> sessions(int ws, String name) {
        return sessions.list(new Sessions.Owner(ws, name));
    }

    /** Ends one session; false if no session has this id. */
    public boolean endSession(int ws, String name, String id) {
        return sessions.endOne(new Sessions.Owner(ws, name), id);
    }

    /** The session id of this cookie as in {@link #sessions}; empty if it has none. */
    public static String sessionId(String cookie) {
        String[] parts = cookie.split(SEPARATOR, -1);
        return parts.length == 3 ? Sessions.id(Sessions.digest(parts[2])) : "";
    }

    /** Ends all sessions of a user. Call when the user is removed or disabled. */
    public void endSessions(int ws, String name) {
        sessions.endAll(new Sessions.Owner(ws, name));
    }

    /** Ends all sessions of a user except one, by its id; empty: all of them. */
    public void endOtherSessions(int ws, String name, String id) {
        sessions.endAllBut(new Sessions.Owner(ws, name), id);
    }

    /** The current and the new password. */
    public record Choice(String old, String fresh) {
        @Override
        public String toString() {
            return "a password change";
        }
    }

    /** Prepares the change of a user's own password; null if there is no such user. */
    public Edit.@Nullable Put choosing(Principal asks, String name, Choice choice) {
        Rows.Setting row = row(asks.workspace(), name);
        return row == null ? null : passwords.changing(asks, row, choice);
    }

    /** Browsers with an earlier successful login. */
    public KnownBrowsers browsers() {
        return browsers;
    }

    /** Prevents the removal of the last administrator. */
    public Administrators administrators() {
        return administrators;
    }

    /** The user behind this principal; null if it is a token. */
    public static @Nullable String nameOf(Principal who) {
        return who.tokenId().startsWith(ACTOR) ? who.tokenId().substring(ACTOR.length()) : null;
    }

    /** Requested changes of a user; null for what stays. */
    public record Change(
            @Nullable Role role,
            @Nullable Boolean disabled,
            @Nullable List<String> groups) {}

    /** Prepares a change of a user; null if there is no such user. */
    public Edit.@Nullable Put changing(int ws, String name, Change change, String actor) {
        Rows.Setting row = row(ws, name);
        if (row == null) {
            return null;
        }
        ObjectNode document = (ObjectNode) Json.parse(row.body());
        Role role = change.role();
        if (role != null && Identities.fromOutside(document)) {
            throw refused("The identity provider sets the role of " + name + " at each login");
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
        return new Edit.Put(new SettingName(ws, PERSON, name), Json.write(document), row.version(), actor);
    }

    /** @param seen the expected version; null for any */
    public Edit.Remove removing(int ws, String name, @Nullable Integer seen, String actor) {
        return new Edit.Remove(new SettingName(ws, PERSON, name), seen, actor);
    }

    /** Accepts an invitation or reset link and returns the cookie of a new session. */
    public String accept(String token, String name, String password, String address) {
        int ws = new Acceptance(semel, this).accept(token, name, password);
        // Sessions of an earlier user or password must not survive.
        endSessions(ws, name);
        return cookie(ws, name, address);
    }

    static SemelException refused(String rule) {
        return new SemelException(
                ErrorCode.INVALID_INPUT, rule + ". Nothing was changed.", "Correct it and send it again.");
    }

    private static String csrf(String secret) {
        return Sessions.digest("csrf " + secret);
    }

    private static boolean fits(String name) {
        return NAME.matcher(name).matches() || OUTSIDE.matcher(name).matches();
    }

    /** Returns a valid name of a local or external user, or throws. */
    public static String checked(String name) {
        if (!fits(name)) {
            throw refused("A name must have 1 to 64 letters, digits, dots, _ and -, and begin with a letter;"
                    + " names of users from"
                    + " the identity provider end with @ and its host");
        }
        return name;
    }

    private static boolean same(String one, String other) {
        return MessageDigest.isEqual(one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
    }
}
