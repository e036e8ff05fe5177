package dev.semel.testing.memory;

import dev.semel.run.RunId;
import dev.semel.store.Letter;
import dev.semel.store.Letter.Heard;
import dev.semel.store.Letter.Posted;
import dev.semel.store.Rows;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Letters and those who listen for them. */
final class Letters {
    static final long BEHIND_MICROS = Letter.BEHIND.toNanos() / 1_000;
    private static final long KEPT_MICROS = Letter.KEPT.toNanos() / 1_000;

    private final Tables tables;
    private final RunEdits runs;
    private final Supplier<RunId> ids;

    Letters(Tables tables, RunEdits runs, Supplier<RunId> ids) {
        this.tables = tables;
        this.runs = runs;
        this.ids = ids;
    }

    Object apply(Letter<?> letter, long now) {
        return switch (letter) {
            case Letter.Post post -> post(post, now);
            case Letter.Listen listen -> listen(listen, now);
            case Letter.Hush hush -> hush(hush.ear());
            case Letter.Delete delete -> delete(delete.limit(), now);
        };
    }

    private Posted post(Letter.Post post, long now) {
        var name = new Pair<>(post.to().workspace(), new Pair<>(post.to().name(), post.letter()));
        Tables.Mail known = tables.letters.get(name);
        if (known != null && known.expiresAt() > now) {
            return Arrays.equals(known.digest(), post.digest())
                    ? new Posted.Sent(
                            known.runs(), known.expiresAt(), !known.id().equals(post.by()))
                    : new Posted.OtherLetter();
        }
        List<Tables.Listener> listeners = tables.listeners.rows().values().stream()
                .filter(one -> one.to().equals(post.to()) && hears(one))
                .sorted(Comparator.comparingLong(Tables.Listener::since)
                        .thenComparing(Tables.Listener::run)
                        .thenComparing(Tables.Listener::path))
                .limit(Letter.MOST_LISTENERS)
                .toList();
        for (Tables.Listener one : listeners) {
            runs.deliver(one.run(), signal(one.path(), post.value(), now));
            tables.listeners.remove(new Pair<>(one.run(), one.path()));
        }
        List<RunId> got =
                listeners.stream().map(Tables.Listener::run).distinct().toList();
        String value = got.isEmpty() ? post.value() : "";
        long until = now + KEPT_MICROS;
        tables.letters.put(
                name,
                new Tables.Mail(
                        post.to(), post.letter(), post.by(), post.digest().clone(), value, got, now, until));
        return new Posted.Sent(got, until, false);
    }

    private boolean hears(Tables.Listener one) {
        Work work = tables.work.get(one.run());
        return work != null && (!work.cancel || one.undoing());
    }

    private Rows.Signal signal(String path, String value, long now) {
        return new Rows.Signal(ids.get(), Letter.SIGNAL + path, Letter.ONLY, value, now);
    }

    private Heard listen(Letter.Listen listen, long now) {
        Letter.Ear ear = listen.ear();
        if (!isDriven(ear)) {
            return Heard.GONE;
        }
        if (hasLetter(ear)) {
            return Heard.LETTER;
        }
        RunId run = ear.by().run();
        Tables.Mail kept = tables.letters.rows().values().stream()
                .filter(one -> one.to().equals(listen.to()) && one.runs().isEmpty() && one.expiresAt() > now)
                .filter(one -> one.at() >= listen.since())
                .min(Comparator.comparingLong(Tables.Mail::at).thenComparing(Tables.Mail::id))
                .orElse(null);
        var place = new Pair<>(run, ear.path());
        if (kept == null) {
            Tables.Listener before = tables.listeners.get(place);
            long since = before != null && before.to().equals(listen.to()) ? before.since() : now;
            tables.listeners.put(place, new Tables.Listener(run, ear.path(), listen.to(), since, listen.undoing()));
            return Heard.NOTHING;
        }
        var name = new Pair<>(kept.to().workspace(), new Pair<>(kept.to().name(), kept.letter()));
        tables.letters.put(
                name,
                new Tables.Mail(
                        kept.to(),
                        kept.letter(),
                        kept.id(),
                        kept.digest(),
                        "",
                        List.of(run),
                        kept.at(),
                        kept.expiresAt()));
        runs.deliver(run, signal(ear.path(), kept.value(), now));
        tables.listeners.remove(place);
        return Heard.LETTER;
    }

    private Heard hush(Letter.Ear ear) {
        if (!isDriven(ear)) {
            return Heard.GONE;
        }
        tables.listeners.remove(new Pair<>(ear.by().run(), ear.path()));
        return hasLetter(ear) ? Heard.LETTER : Heard.NOTHING;
    }

    private boolean isDriven(Letter.Ear ear) {
        Work work = tables.work.get(ear.by().run());
        return work != null && work.claims == ear.by().claim() && work.owner != null;
    }

    private boolean hasLetter(Letter.Ear ear) {
        return tables.signals.has(new Pair<>(ear.by().run(), new Pair<>(ear.signal(), Letter.ONLY)));
    }

    private int delete(int limit, long now) {
        var expired = tables.letters.rows().entrySet().stream()
                .filter(letter -> letter.getValue().expiresAt() <= now - BEHIND_MICROS)
                .sorted(Comparator.comparingLong(letter -> letter.getValue().expiresAt()))
                .limit(limit)
                .map(Map.Entry::getKey)
                .toList();
        expired.forEach(tables.letters::remove);
        return expired.size();
    }
}
