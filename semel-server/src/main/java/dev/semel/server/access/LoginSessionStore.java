package dev.semel.server.access;

import dev.semel.json.Sha256;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkspaceSettingName;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** One document per user with the digest and expiry of each session secret. The store reveals no usable session. */
public final class LoginSessionStore {
    static final int SECRET_BYTES = 24;
    private static final WorkspaceSettingName.SettingKind KIND =
            new WorkspaceSettingName.SettingKind("session", false, false);

    /** Longest age of a session, whatever its use. */
    public static final Duration MAX_AGE = Duration.ofDays(7);

    private static final long GOOD_FOR = Duration.ofHours(12).toNanos() / 1_000;
    private static final long AT_MOST_FOR = MAX_AGE.toNanos() / 1_000;

    /** Extensions shorter than this are not written. */
    private static final long WORTH_WRITING = Duration.ofMinutes(30).toNanos() / 1_000;

    private static final int AT_MOST = 10;
    private static final int TRIES = 20;
    private static final int ID_LENGTH = 16;

    private final SemelRuntime semel;

    LoginSessionStore(SemelRuntime semel) {
        this.semel = semel;
    }

    record Owner(int ws, String name) {
        private WorkspaceSettingName document() {
            return new WorkspaceSettingName(ws, KIND, name);
        }
    }

    private record StoredSession(String hash, long begun, long until, String address) {
        private Session shown() {
            return new Session(id(hash), begun, until, address);
        }

        private StoredSession usedAt(long now) {
            return new StoredSession(
                    hash, begun, Math.max(until, Math.min(now + GOOD_FOR, begun + AT_MOST_FOR)), address);
        }
    }

    /**
     * A session without its secret.
     *
     * @param id identifies the session; not a secret
     * @param address the client's IP address at login, or its proxy's; empty if unknown
     */
    public record Session(String id, long startedAt, long until, String address) {}

    /** A prefix of the digest is enough, because a user has at most ten sessions. */
    static String id(String hash) {
        return hash.substring(0, ID_LENGTH);
    }

    List<Session> list(Owner owner) {
        long now = now();
        return read(row(owner)).stream()
                .filter(one -> one.until() > now)
                .map(StoredSession::shown)
                .toList();
    }

    /** Starts a session and returns its secret. Ends the oldest if there are too many. */
    String start(Owner owner, String address) {
        String secret = Base64.getUrlEncoder().withoutPadding().encodeToString(semel.newSecret(SECRET_BYTES));
        long now = now();
        change(owner, sessions -> {
            List<StoredSession> all = new ArrayList<>(sessions);
            all.add(new StoredSession(Sha256.hex(secret), now, now + GOOD_FOR, address));
            return all.subList(Math.max(0, all.size() - AT_MOST), all.size());
        });
        return secret;
    }

    boolean isValid(Owner owner, String secret) {
        byte[] given = Sha256.hex(secret).getBytes(StandardCharsets.UTF_8);
        long now = now();
        boolean found = false;
        for (StoredSession one : read(row(owner))) {
            found |= MessageDigest.isEqual(one.hash().getBytes(StandardCharsets.UTF_8), given) && one.until() > now;
        }
        return found;
    }

    /** Extends the session after activity, up to {@link #MAX_AGE} after its start. Writes at most twice an hour. */
    void extend(Owner owner, String secret) {
        String hash = Sha256.hex(secret);
        long now = now();
        boolean gains = read(row(owner)).stream()
                .anyMatch(one -> one.hash().equals(hash)
                        && one.until() > now
                        && one.usedAt(now).until() - one.until() >= WORTH_WRITING);
        if (gains) {
            change(
                    owner,
                    sessions -> sessions.stream()
                            .map(one -> one.hash().equals(hash) ? one.usedAt(now) : one)
                            .toList());
        }
    }

    void end(Owner owner, String secret) {
        String hash = Sha256.hex(secret);
        retain(owner, one -> !one.hash().equals(hash));
    }

    /** Returns whether a session had this id. */
    boolean endOne(Owner owner, String id) {
        if (list(owner).stream().noneMatch(one -> one.id().equals(id))) {
            return false;
        }
        retain(owner, one -> !id(one.hash()).equals(id));
        return true;
    }

    void endAll(Owner owner) {
        retain(owner, one -> false);
    }

    void endAllBut(Owner owner, String id) {
        retain(owner, one -> id(one.hash()).equals(id));
    }

    private void retain(Owner owner, Predicate<StoredSession> kept) {
        change(owner, sessions -> sessions.stream().filter(kept).toList());
    }

    /** Replaces the document with optimistic locking; retries after a concurrent change. */
    private void change(Owner owner, UnaryOperator<List<StoredSession>> how) {
        for (int i = 0; i < TRIES; i++) {
            DatabaseRows.SettingRow row = row(owner);
            long now = now();
            List<StoredSession> good =
                    read(row).stream().filter(one -> one.until() > now).toList();
            ArrayNode list = JsonNodeFactory.instance.arrayNode();
            how.apply(good)
                    .forEach(one -> list.addObject()
                            .put("hash", one.hash())
                            .put("started_at", one.begun())
                            .put("until", one.until())
                            .put("address", one.address()));
            ObjectNode document = JsonNodeFactory.instance.objectNode();
            document.set("sessions", list);
            StoreWriteCommand.SaveSetting put = new StoreWriteCommand.SaveSetting(
                    owner.document(),
                    StrictJsonCodec.write(document),
                    row == null ? 0 : row.version(),
                    "usr_" + owner.name());
            if (semel.change(put) instanceof StoreWriteCommand.SettingResult.Saved) {
                return;
            }
        }
        throw new IllegalStateException("the sessions of one user changed " + TRIES + " times during one update");
    }

    private DatabaseRows.@Nullable SettingRow row(Owner owner) {
        return UserAccountStore.read(semel, owner.document());
    }

    private static List<StoredSession> read(DatabaseRows.@Nullable SettingRow row) {
        List<StoredSession> all = new ArrayList<>();
        if (row != null) {
            for (JsonNode one : StrictJsonCodec.parse(row.body()).path("sessions")) {
                long until = one.path("until").asLong(0);
                all.add(new StoredSession(
                        one.path("hash").asString(""),
                        one.path("started_at").asLong(until - GOOD_FOR), // older documents lack this member
                        until,
                        one.path("address").asString("")));
            }
        }
        return all;
    }

    private long now() {
        return Objects.requireNonNullElse(semel.view(reads -> reads.now()), 0L);
    }
}
