package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.Letter.Heard;
import dev.semel.store.Letter.Posted;
import dev.semel.store.Write.Driver;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** On a real PostgreSQL: letters and those who begin to listen, at the same moment on several connections. */
final class LetterMeetingTest {
    private static final int ROUNDS = 60;

    private final Desk desk = new Desk(Dialect.POSTGRES);
    private final Lane second = desk.store.openLane();

    @AfterEach
    void close() {
        second.close();
        desk.close();
    }

    private Letter.Address to(String key) {
        return new Letter.Address(desk.ws, "paid", key);
    }

    private Write<?> post(String key, String letter) {
        return new Write.Change<>(
                new Edit.Mail<>(new Letter.Post(to(key), letter, desk.id(), Desk.bytes(letter), "{}")));
    }

    private Write<?> listen(Driver by, String key) {
        return new Write.Change<>(new Edit.Mail<>(new Letter.Listen(to(key), new Letter.Ear(by, "wait"), false)));
    }

    private Write<?> hush(Driver by) {
        return new Write.Change<>(new Edit.Mail<>(new Letter.Hush(new Letter.Ear(by, "wait"))));
    }

    private Object onSecond(Write<?> write) {
        return second.apply(new Batch(new Batch.Hold(Desk.LEASE, 1), List.of(write)))
                .getFirst();
    }

    private int letters(Driver by) {
        return desk.reads.signals(by.run()).size();
    }

    @Test
    void a_letter_that_comes_while_the_wait_registers_is_never_lost() throws Exception {
        int before = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Driver by = new Driver(desk.fresh(), 1);
            String key = "order " + round;
            Write<?> letter = post(key, "letter " + round);
            FutureTask<Object> posted = Apart.start(() -> onSecond(letter));
            Object heard = desk.apply(listen(by, key));
            boolean delivered = ((Posted.Sent) posted.get()).runs().equals(List.of(by.run()));
            assertEquals(heard == Heard.NOTHING, delivered, "who came second met who came first");
            assertEquals(1, letters(by), "round " + round);
            before += heard == Heard.LETTER ? 1 : 0;
        }
        System.out.println("letters: " + before + " of " + ROUNDS + " came before the wait");
    }

    @Test
    void a_letter_that_comes_while_the_wait_gives_up_is_delivered_or_kept_and_not_both() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            Driver by = new Driver(desk.fresh(), 1);
            String key = "order " + round;
            desk.apply(listen(by, key));
            Write<?> letter = post(key, "letter " + round);
            FutureTask<Object> posted = Apart.start(() -> onSecond(letter));
            Object heard = desk.apply(hush(by));
            boolean delivered = !((Posted.Sent) posted.get()).runs().isEmpty();
            assertEquals(delivered, heard == Heard.LETTER);
            assertEquals(delivered ? 1 : 0, letters(by));
            Driver next = new Driver(desk.fresh(), 1);
            assertEquals(delivered ? Heard.NOTHING : Heard.LETTER, desk.apply(listen(next, key)));
        }
    }

    @Test
    void one_kept_letter_goes_to_one_of_two_who_come_at_once() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            String key = "order " + round;
            desk.apply(post(key, "letter " + round));
            Driver here = new Driver(desk.fresh(), 1);
            Driver there = new Driver(desk.fresh(), 1);
            FutureTask<Object> other = Apart.start(() -> onSecond(listen(there, key)));
            desk.apply(listen(here, key));
            other.get();
            assertEquals(1, letters(here) + letters(there), "round " + round);
        }
    }

    @Test
    void one_letter_sent_by_many_at_once_arrives_once() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            Driver by = new Driver(desk.fresh(), 1);
            String key = "order " + round;
            desk.apply(listen(by, key));
            Write<?> one = post(key, "letter " + round);
            Write<?> two = post(key, "letter " + round);
            FutureTask<Object> other = Apart.start(() -> onSecond(one));
            List<Posted.Sent> answers = new ArrayList<>();
            answers.add((Posted.Sent) desk.apply(two));
            answers.add((Posted.Sent) other.get());
            assertEquals(1, answers.stream().filter(Posted.Sent::repeated).count());
            assertTrue(answers.stream().allMatch(answer -> answer.runs().equals(List.of(by.run()))));
            assertEquals(1, letters(by));
        }
    }
}
