package dev.semel.server.auth;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.store.Edit;
import dev.semel.store.Edit.Placed;
import dev.semel.store.SettingName;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Sees to it that somebody is left who can administer. Those who are left are counted at a number of the catalog, and the
 * change is done only where the catalog is still at it: of two administrators who demote each other at once one wins.
 */
public final class Administrators {
    private static final int AT_ONCE = 100;
    private static final int MOST_TRIES = 20;

    private final Semel semel;
    private final People people;

    Administrators(Semel semel, People people) {
        this.semel = semel;
        this.people = people;
    }

    /**
     * Does the change of a person.
     *
     * @param place an {@link Edit.Put} or {@link Edit.Remove} over the version of them that was read
     * @param act does what it is handed; null where nothing was done
     * @return null where the person was changed since they were read
     */
    public <T> @Nullable T safely(Edit<Placed> place, Function<Edit<Placed>, @Nullable T> act) {
        Wanted wanted = Wanted.of(place);
        SettingName who = wanted.who();
        for (int i = 0; i < MOST_TRIES; i++) {
            // The number first: whoever is changed in between makes the change fail, and not the count.
            long change = Objects.requireNonNull(semel.view(reads -> reads.catalogChange()));
            People.Person person = people.find(who.workspace(), who.text());
            boolean takesOne = person != null && administers(person) && !wanted.administers();
            if (takesOne && !othersThan(who)) {
                throw lastOne(who.text());
            }
            T done = act.apply(takesOne ? new Edit.PlaceAsOf(place, change) : place);
            if (done != null || person == null || !takesOne || !Objects.equals(person.version(), wanted.over())) {
                return done;
            }
        }
        throw new SemelException(
                ErrorCode.OVERLOADED,
                "Others changed settings all the time, so that those who administer could not be counted. Nothing was"
                        + " changed.",
                "Ask again in a moment.");
    }

    private boolean administers(People.Person person) {
        return person.role() == Role.ADMIN && !person.disabled() && (!person.fromOutside() || people.voucher() != null);
    }

    /**
     * What is to be.
     *
     * @param over the version of the person that it replaces
     */
    private record Wanted(SettingName who, @Nullable Integer over, boolean administers) {
        static Wanted of(Edit<Placed> place) {
            return switch (place) {
                case Edit.Put put -> new Wanted(put.name(), put.expected(), administers(Json.parse(put.body())));
                case Edit.Remove remove -> new Wanted(remove.name(), remove.expected(), false);
                default -> throw new IllegalArgumentException("a person is put or removed");
            };
        }

        private static boolean administers(JsonNode person) {
            return person.path("role").asString("").equals(Role.ADMIN.word())
                    && !person.path(People.DISABLED).asBoolean(false);
        }
    }

    private boolean othersThan(SettingName who) {
        String after = "";
        while (true) {
            List<People.Person> page = people.list(who.workspace(), after, AT_ONCE);
            if (page.stream().anyMatch(one -> administers(one) && !one.name().equals(who.text()))) {
                return true;
            }
            if (page.size() < AT_ONCE) {
                return false;
            }
            after = page.getLast().name();
        }
    }

    private static SemelException lastOne(String name) {
        return new SemelException(
                ErrorCode.LAST_ADMIN,
                name + " is the last one who can log in as an administrator. Nothing was changed.",
                "Give somebody else the role admin first, or let one who has it log in again.");
    }
}
