package dev.semel.server.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import dev.semel.store.SettingKind;
import dev.semel.store.SettingName;
import dev.semel.store.StoreCommand;
import dev.semel.testing.WorkflowTestKit;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Names of people for whom a provider vouches; before names had the provider behind them, theirs were plain ones. */
class ExternalIdentitiesTest {
    private static final SettingKind IDENTITY = new SettingKind("identity", false, false);
    private static final SettingKind PERSON = new SettingKind("user", false, true);
    private static final String NOW = "alma@id.example.com";

    private final ExternalIdentity alma =
            ExternalIdentity.of("https://id.example.com:8443/realm", "s-7", "alma", Role.VIEWER);
    private final WorkflowTestKit lab = new WorkflowTestKit();
    private final UserAccounts people = UserAccounts.serving(lab.semel());

    @AfterEach
    void close() {
        lab.close();
    }

    private int ws() {
        return lab.semel().testAccess().workspace();
    }

    private void keep(SettingKind kind, String name, String body) {
        lab.semel().change(new StoreCommand.SaveSetting(new SettingName(ws(), kind, name), body, null, "test"));
    }

    private String enter(ExternalIdentity who) {
        assertTrue(ws() > 0, "there is a workspace");
        return people.logInExternal("default", who, "here").split("~", -1)[1];
    }

    @Test
    void an_external_name_shows_its_provider_and_a_second_one_gets_a_suffix() {
        assertEquals(NOW, enter(alma));
        ExternalIdentity twin =
                ExternalIdentity.of("https://id.example.com:8443/realm", "s-8", "alma@example.com", Role.VIEWER);
        assertEquals("alma-" + twin.identity().substring(0, 8) + "@id.example.com", enter(twin));
        assertEquals(NOW, enter(alma), "the same person as before");
        ExternalIdentity elsewhere = ExternalIdentity.of("https://other.example", "s-7", "alma", Role.ADMIN);
        assertEquals("alma@other.example", enter(elsewhere), "the same number at another provider is somebody else");
    }

    @Test
    void an_old_plain_name_is_replaced_and_its_data_move_along() {
        keep(IDENTITY, alma.identity(), "{\"name\":\"alma\"}");
        keep(PERSON, "alma", "{\"role\":\"viewer\",\"identity\":\"" + alma.identity() + "\",\"groups\":[\"ops\"]}");
        assertEquals(NOW, enter(alma));
        assertNull(people.find(ws(), "alma"));
        assertEquals(
                List.of("ops"), Objects.requireNonNull(people.find(ws(), NOW)).groups());
    }

    @Test
    void a_user_disabled_under_a_plain_name_stays_disabled() {
        keep(IDENTITY, alma.identity(), "{\"name\":\"alma\"}");
        keep(PERSON, "alma", "{\"role\":\"viewer\",\"identity\":\"" + alma.identity() + "\",\"disabled\":true}");
        for (int i = 0; i < 2; i++) {
            SemelException refused = assertThrows(SemelException.class, () -> enter(alma));
            assertTrue(refused.detail().contains("is disabled. You are not logged in"), refused.detail());
        }
        assertNull(people.find(ws(), "alma"));
    }

    @Test
    void a_local_user_keeps_the_plain_name_once_linked_to_an_identity() {
        keep(IDENTITY, alma.identity(), "{\"name\":\"alma\"}");
        keep(PERSON, "alma", "{\"role\":\"admin\"}");
        assertEquals(NOW, enter(alma));
        assertEquals(
                Role.ADMIN, Objects.requireNonNull(people.find(ws(), "alma")).role());
        assertEquals(Role.VIEWER, Objects.requireNonNull(people.find(ws(), NOW)).role());
    }
}
