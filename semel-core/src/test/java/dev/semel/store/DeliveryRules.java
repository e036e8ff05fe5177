package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.InboundWebhookDelivery.DeliveryOutcome;
import dev.semel.store.InboundWebhookDelivery.SignatureReuse;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Deliveries of webhooks: which id and which signature came first, and how long anything of them is kept. */
interface DeliveryRules {
    TestStoreClient client();

    private InboundWebhookDelivery row(String id, DeliveryOutcome deliveryOutcome) {
        return new InboundWebhookDelivery(
                client().id(), client().ws, "hook", 0, id, "paid", deliveryOutcome, "", "{\"id\":\"" + id + "\"}");
    }

    private StoreWriteCommand.RecordDelivery receive(String id, @Nullable String signature, SignatureReuse reuse) {
        return new StoreWriteCommand.RecordDelivery(
                row(id, DeliveryOutcome.ACCEPTED),
                new InboundWebhookDelivery.DedupSettings(
                        signature, reuse, TestStoreClient.WINDOW, TestStoreClient.WINDOW / 2));
    }

    private InboundWebhookDelivery received(String id, @Nullable String signature, SignatureReuse reuse) {
        InboundWebhookDelivery delivery = client().change(receive(id, signature, reuse));
        assertNotNull(delivery);
        return delivery;
    }

    private DeliveryOutcome verdict(String id, @Nullable String signature, SignatureReuse reuse) {
        return received(id, signature, reuse).outcome();
    }

    @Test
    default void the_first_delivery_of_an_id_is_accepted_and_later_ones_are_repeats() {
        assertEquals(DeliveryOutcome.ACCEPTED, verdict("evt_1", null, SignatureReuse.FLAG));
        assertEquals(DeliveryOutcome.REPLAYED, verdict("evt_1", null, SignatureReuse.FLAG));
        assertEquals(DeliveryOutcome.ACCEPTED, verdict("evt_2", null, SignatureReuse.FLAG));
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW);
        assertEquals(DeliveryOutcome.ACCEPTED, verdict("evt_1", null, SignatureReuse.FLAG), "its window is over");
        assertEquals(DeliveryOutcome.REPLAYED, verdict("evt_1", null, SignatureReuse.FLAG));
    }

    @Test
    default void a_reused_signature_is_handled_as_the_webhook_says() {
        assertEquals(DeliveryOutcome.ACCEPTED, verdict("evt_1", "s", SignatureReuse.FLAG));
        assertEquals(DeliveryOutcome.REPLAYED, verdict("evt_1", "s", SignatureReuse.FLAG), "a provider sends again");
        assertEquals(DeliveryOutcome.FLAGGED, verdict("evt_2", "s", SignatureReuse.FLAG));
        assertEquals(DeliveryOutcome.REJECTED, verdict("evt_3", "s", SignatureReuse.REJECT));
        assertEquals(
                DeliveryOutcome.REJECTED,
                verdict("evt_3", "s", SignatureReuse.REJECT),
                "the refused one left no mark of its id");
        assertEquals(DeliveryOutcome.ACCEPTED, verdict("evt_3", "t", SignatureReuse.REJECT));
        assertEquals(DeliveryOutcome.ACCEPTED, verdict("evt_4", "s", SignatureReuse.ALLOW));
    }

    @Test
    default void a_replayed_signature_is_a_duplicate_under_every_id_and_claims_no_id() {
        assertEquals(DeliveryOutcome.ACCEPTED, verdict("evt_1", "s", SignatureReuse.REPLAY));
        InboundWebhookDelivery captured = received("evt_2", "s", SignatureReuse.REPLAY);
        assertEquals(DeliveryOutcome.REPLAYED, captured.outcome());
        assertEquals("the same signature came before with another id", captured.note());
        assertNull(captured.payload());
        assertEquals(DeliveryOutcome.REPLAYED, verdict("evt_1", "s", SignatureReuse.REPLAY), "a provider sends again");
        assertEquals(DeliveryOutcome.ACCEPTED, verdict("evt_2", "t", SignatureReuse.REPLAY), "the id stayed free");
        InboundWebhookDelivery first =
                client().reads.firstDelivery(client().ws, "hook", InboundWebhookDelivery.signatureKey("s"));
        assertNotNull(first);
        assertEquals("evt_1", first.eventId());
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW);
        assertEquals(DeliveryOutcome.ACCEPTED, verdict("evt_3", "s", SignatureReuse.REPLAY), "its window is over");
    }

    @Test
    default void a_replayed_signature_starts_each_type_once_if_bodies_may_have_several_types() {
        assertEquals(
                DeliveryOutcome.ACCEPTED,
                typed("evt_1", "push", SignatureReuse.REPLAY_SAME_TYPE).outcome());
        assertEquals(
                DeliveryOutcome.FLAGGED,
                typed("evt_2", "paid", SignatureReuse.REPLAY_SAME_TYPE).outcome());
        for (String id : List.of("evt_1", "evt_2", "evt_3")) {
            for (String type : List.of("push", "paid")) {
                assertEquals(
                        DeliveryOutcome.REPLAYED,
                        typed(id, type, SignatureReuse.REPLAY_SAME_TYPE).outcome(),
                        id + " " + type);
            }
        }
        assertEquals(
                DeliveryOutcome.REPLAYED,
                typed("evt_4", "other", SignatureReuse.REPLAY).outcome());
    }

    private InboundWebhookDelivery typed(String id, String type, SignatureReuse reuse) {
        InboundWebhookDelivery webhookDelivery = row(id, DeliveryOutcome.ACCEPTED);
        var row = new InboundWebhookDelivery(
                webhookDelivery.id(),
                webhookDelivery.ws(),
                webhookDelivery.source(),
                0,
                id,
                type,
                DeliveryOutcome.ACCEPTED,
                "",
                webhookDelivery.payload());
        InboundWebhookDelivery reported = client().change(new StoreWriteCommand.RecordDelivery(
                row,
                new InboundWebhookDelivery.DedupSettings("s", reuse, TestStoreClient.WINDOW, TestStoreClient.WINDOW)));
        assertNotNull(reported);
        return reported;
    }

    @Test
    default void a_signature_repeated_with_another_type_is_no_repeat() {
        assertEquals(
                DeliveryOutcome.ACCEPTED,
                typed("evt_1", "push", SignatureReuse.FLAG).outcome());
        assertEquals(
                DeliveryOutcome.REPLAYED,
                typed("evt_1", "push", SignatureReuse.FLAG).outcome());
        InboundWebhookDelivery other = typed("evt_1", "release", SignatureReuse.FLAG);
        assertEquals(DeliveryOutcome.FLAGGED, other.outcome());
        assertEquals("the same signature came before with another type", other.note());
        assertEquals(
                DeliveryOutcome.REJECTED,
                typed("evt_1", "release", SignatureReuse.REJECT).outcome());
        assertEquals(
                DeliveryOutcome.REPLAYED,
                typed("evt_1", "release", SignatureReuse.ALLOW).outcome());
    }

    @Test
    default void an_id_of_any_length_is_recognized_and_its_first_delivery_is_found() {
        String longest = "é".repeat(4_000);
        InboundWebhookDelivery first = received(longest, null, SignatureReuse.FLAG);
        assertEquals(DeliveryOutcome.ACCEPTED, first.outcome());
        assertEquals(DeliveryOutcome.REPLAYED, verdict(longest, null, SignatureReuse.FLAG));
        assertEquals(DeliveryOutcome.ACCEPTED, verdict(longest + "!", null, SignatureReuse.FLAG));
        assertEquals(
                first, client().reads.firstDelivery(client().ws, "hook", InboundWebhookDelivery.dedupKey(longest)));
        assertNull(
                client().reads.firstDelivery(client().ws + 1, "hook", InboundWebhookDelivery.dedupKey(longest)),
                "another workspace's");
        assertNull(
                client().reads.firstDelivery(client().ws, "other", InboundWebhookDelivery.dedupKey(longest)),
                "another hook's");
        assertNull(client().reads.firstDelivery(client().ws, "hook", InboundWebhookDelivery.dedupKey("never")));
    }

    @Test
    default void a_delivery_applied_again_returns_the_same() {
        var edit = receive("evt_1", "s", SignatureReuse.REJECT);
        InboundWebhookDelivery first = client().change(edit);
        assertEquals(first, client().change(edit));
        assertEquals(1, client().fixture.count("semel_webhook_delivery"));
    }

    @Test
    default void only_deliveries_that_start_something_keep_their_payload() {
        assertNotNull(received("evt_1", "s", SignatureReuse.FLAG).payload());
        assertNull(received("evt_1", "s", SignatureReuse.FLAG).payload(), "the first one has it");
        assertNotNull(received("evt_2", "s", SignatureReuse.FLAG).payload());
        assertNull(received("evt_3", "s", SignatureReuse.REJECT).payload());
        List<InboundWebhookDelivery> page = client().reads.deliveries(client().ws, "hook", null, 10);
        assertEquals(
                List.of(
                        DeliveryOutcome.REJECTED,
                        DeliveryOutcome.FLAGGED,
                        DeliveryOutcome.REPLAYED,
                        DeliveryOutcome.ACCEPTED),
                page.stream().map(InboundWebhookDelivery::outcome).toList());
        assertTrue(page.stream().allMatch(one -> one.payload() == null), "lists are short");
        InboundWebhookDelivery oldest = page.getLast();
        InboundWebhookDelivery whole = client().reads.delivery(client().ws, "hook", oldest.id());
        assertNotNull(whole);
        assertEquals("{\"id\":\"evt_1\"}", whole.payload());
        assertNull(client().reads.delivery(client().ws + 1, "hook", oldest.id()), "another workspace's");
        assertNull(client().reads.delivery(client().ws, "other", oldest.id()), "another hook's");
        assertEquals(
                List.of(oldest.id()),
                client().reads.deliveries(client().ws, "hook", page.get(2).id(), 10).stream()
                        .map(InboundWebhookDelivery::id)
                        .toList());
    }

    @Test
    default void only_some_rejected_deliveries_are_kept_per_hour() {
        var memory = new InboundWebhookDelivery.DedupSettings(
                null, SignatureReuse.FLAG, TestStoreClient.WINDOW, TestStoreClient.WINDOW);
        for (int i = 0; i < InboundWebhookDelivery.MAX_REJECTED_PER_HOUR; i++) {
            InboundWebhookDelivery webhookDelivery = client().change(
                            new StoreWriteCommand.RecordDelivery(row("", DeliveryOutcome.INVALID_SIGNATURE), memory));
            assertNotNull(webhookDelivery);
            assertNull(webhookDelivery.payload());
        }
        for (DeliveryOutcome deliveryOutcome : List.of(DeliveryOutcome.INVALID_SIGNATURE, DeliveryOutcome.STALE)) {
            Object answer = client().change(new StoreWriteCommand.RecordDelivery(row("", deliveryOutcome), memory));
            assertEquals(StoreWriteCommand.NullResult.NOTHING, answer);
        }
        assertEquals(
                DeliveryOutcome.ACCEPTED, verdict("evt_1", null, SignatureReuse.FLAG), "a genuine one is always kept");
        client().fixture.setTime(InboundWebhookDelivery.hourOf(StoreFixture.START) + InboundWebhookDelivery.HOUR);
        assertNotNull(client().change(
                        new StoreWriteCommand.RecordDelivery(row("", DeliveryOutcome.INVALID_SIGNATURE), memory)));
    }

    @Test
    default void payloads_are_deleted_first_and_rows_at_the_end_of_the_window() {
        InboundWebhookDelivery first = received("evt_1", "s", SignatureReuse.FLAG);
        assertFalse(client().reads.hasExpiredDelivery());
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW / 2);
        assertTrue(client().reads.hasExpiredDelivery());
        assertEquals(1, client().change(new StoreWriteCommand.DeleteExpiredDeliveries(10)));
        assertFalse(client().reads.hasExpiredDelivery());
        InboundWebhookDelivery webhookDelivery = client().reads.delivery(client().ws, "hook", first.id());
        assertNotNull(webhookDelivery);
        assertNull(webhookDelivery.payload());
        client().fixture.setTime(StoreFixture.START + TestStoreClient.WINDOW);
        assertTrue(client().reads.hasExpiredDelivery());
        assertEquals(
                3,
                client().change(new StoreWriteCommand.DeleteExpiredDeliveries(10)),
                "the row, and the marks of id and signature");
        assertEquals(0, client().fixture.count("semel_webhook_delivery"));
        assertEquals(0, client().fixture.count("semel_webhook_dedup"));
    }
}
