package dev.semel.trials.crash;

import dev.semel.trials.support.TcpProxy;
import java.io.IOException;
import java.net.Socket;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Stands between a server and PostgreSQL, reads their protocol, and cuts connections at the one moment that matters:
 * around COMMIT, where both sides may believe something else afterwards.
 */
final class CommitProxy extends TcpProxy {
    /** What a cut does to the transaction. */
    enum Cut {
        NONE,
        /** In the middle of the transaction; it is rolled back. */
        BEFORE,
        /** COMMIT never arrives; the transaction is rolled back. */
        COMMIT,
        /** COMMIT is done and nobody is notified. */
        ANSWER
    }

    /** What a transaction writes, as far as its statements tell. */
    enum Kind {
        ADMIT("INSERT INTO semel_run ("),
        APPEND("INSERT INTO semel_journal"),
        RESERVE("INSERT INTO semel_effect ("),
        SETTLE("UPDATE semel_effect e SET"),
        REST("CASE WHEN u.suspect = 1 THEN"),
        END("INSERT INTO semel_finished_run"),
        TALLY("INSERT INTO semel_duplicate_request"),
        CLAIM("FOR UPDATE SKIP LOCKED"),
        SIGNAL("INSERT INTO semel_signal ("),
        CANCEL("SET cancel_requested = 1"),
        DECIDE("UPDATE semel_effect SET reservation = reservation"),
        RELEASE("SET flags = flags | 4"),
        PUBLISH("INSERT INTO semel_workflow_version"),
        TX("INSERT INTO cut_row"),
        START_LEASE("INSERT INTO semel_lease"),
        RENEW("UPDATE semel_lease SET expires_at"),
        END_LEASE("DELETE FROM semel_lease"),
        LEASE("semel_lease");

        final String mark;

        Kind(String mark) {
            this.mark = mark;
        }
    }

    /**
     * A transaction on its way through.
     *
     * @param number counts transactions over all connections
     * @param values all bound values, one character a byte; keys stand in it as they are
     */
    record Transaction(long number, Set<Kind> kinds, String values) {}

    /** Says where to cut. Asked before every statement, and once more when COMMIT arrives. */
    interface Plan {
        Cut decide(Transaction transaction, boolean commit);
    }

    private static final Plan NEVER = (_, _) -> Cut.NONE;

    private final Set<ProxiedConnection> open = ConcurrentHashMap.newKeySet();
    private final Map<String, AtomicLong> happened = new ConcurrentHashMap<>();
    private final AtomicLong transactions = new AtomicLong();
    private volatile Plan plan = NEVER;
    private volatile Cut leavingAfter = Cut.NONE;
    private volatile boolean away;

    CommitProxy(int target) {
        super(target);
        start();
    }

    void follow(Plan next) {
        plan = next;
    }

    void leaveInPeace() {
        plan = NEVER;
    }

    /** From now on the database cannot be reached; what is open is cut. */
    void goAway() {
        away = true;
        open.forEach(ProxiedConnection::cut);
    }

    /** As soon as this cut has happened. */
    void goAwayAfter(Cut cut) {
        leavingAfter = cut;
    }

    void comeBack() {
        away = false;
    }

    /** How often this cut met a transaction of this kind. */
    long happened(Cut cut, Kind kind) {
        AtomicLong count = happened.get(cut + " of " + kind);
        return count == null ? 0 : count.get();
    }

    Map<String, AtomicLong> happened() {
        return new TreeMap<>(happened);
    }

    Cut decide(Transaction transaction, boolean commit) {
        return plan.decide(transaction, commit);
    }

    long nextTransaction() {
        return transactions.incrementAndGet();
    }

    void note(Cut cut, Transaction transaction) {
        for (Kind kind : transaction.kinds()) {
            happened.computeIfAbsent(cut + " of " + kind, _ -> new AtomicLong()).incrementAndGet();
        }
        if (cut == leavingAfter) {
            leavingAfter = Cut.NONE;
            goAway();
        }
    }

    void gone(ProxiedConnection connection) {
        open.remove(connection);
    }

    @Override
    protected void connected(Socket client) throws IOException {
        if (away) {
            client.close();
            return;
        }
        ProxiedConnection connection = new ProxiedConnection(this, client, connect());
        open.add(connection);
        connection.start();
    }

    @Override
    public void close() {
        super.close();
        open.forEach(ProxiedConnection::cut);
    }
}
