package dev.semel.server.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.StoreCommand;
import dev.semel.store.SettingKind;
import dev.semel.store.SettingName;
import dev.semel.testing.WorkflowTestKit;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Names of people for whom a provider vouches; before names had the provider behind them, theirs were plain ones. */
class ExternalIdentitiesTest {
    private static final SettingKind IDENTITY = new SettingKind("identity", false, false);
    private static final SettingKind PERSON = new SettingKind("person", false, true);
    private static final String NOW = "alma@id.example.com";

    private final ExternalIdentity alma = ExternalIdentity.of("https://id.example.com:8443/realm", "s-7", "alma", Role.VIEWER);
    private final WorkflowTestKit lab = new WorkflowTestKit();
    private final UserAccounts people = UserAccounts.serving(SemelRuntime.of(lab.semel()));

    @AfterEach
    void close() {
        lab.close();
    }

    private int ws() {
        return SemelRuntime.of(lab.semel()).testAccess().workspace();
    }

    private void keep(SettingKind kind, String name, String body) {
        SemelRuntime.of(lab.semel()).change(new StoreCommand.SaveSetting(new SettingName(ws(), kind, name), body, null, "test"));
    }

    private String enter(ExternalIdentity who) {
        assertTrue(ws() > 0, "there is a workspace");
        return people.logInExternal("default", who, "here").split("~", -1)[1];
    }

    @Test
    void a_name_says_where_it_comes_from_and_the_second_of_a_name_has_a_mark() {
        assertEquals(NOW, enter(alma));
        ExternalIdentity twin = ExternalIdentity.of("https://id.example.com:8443/realm", "s-8", "alma@example.com", Role.VIEWER);
        assertEquals("alma-" + twin.identity().substring(0, 8) + "@id.example.com", enter(twin));
        assertEquals(NOW, enter(alma), "the same person as before");
        ExternalIdentity elsewhere = ExternalIdentity.of("https://other.example", "s-7", "alma", Role.ADMIN);
        assertEquals("alma@other.example", enter(elsewhere), "the same number at another provider is somebody else");
    }

    @Test
    void a_plain_name_of_before_is_left_and_what_is_known_of_the_person_goes_along() {
        keep(IDENTITY, alma.identity(), "{\"name\":\"alma\"}");
        keep(PERSON, "alma", "{\"role\":\"viewer\",\"identity\":\"" + alma.identity() + "\",\"groups\":[\"ops\"]}");
        assertEquals(NOW, enter(alma));
        assertNull(people.find(ws(), "alma"));
        assertEquals(
                List.of("ops"), Objects.requireNonNull(people.find(ws(), NOW)).groups());
    }

    @Test
    void who_was_disabled_under_a_plain_name_stays_out() {
        keep(IDENTITY, alma.identity(), "{\"name\":\"alma\"}");
        keep(PERSON, "alma", "{\"role\":\"viewer\",\"identity\":\"" + alma.identity() + "\",\"disabled\":true}");
        for (int i = 0; i < 2; i++) {
            SemelException refused = assertThrows(SemelException.class, () -> enter(alma));
            assertTrue(refused.detail().contains("is disabled. You are not logged in"), refused.detail());
        }
        assertNull(people.find(ws(), "alma"));
    }

    @Test
    void somebody_of_this_server_keeps_the_plain_name_that_an_identity_once_led_to() {
        keep(IDENTITY, alma.identity(), "{\"name\":\"alma\"}");
        keep(PERSON, "alma", "{\"role\":\"admin\"}");
        assertEquals(NOW, enter(alma));
        assertEquals(
                Role.ADMIN, Objects.requireNonNull(people.find(ws(), "alma")).role());
        assertEquals(Role.VIEWER, Objects.requireNonNull(people.find(ws(), NOW)).role());
    }
}
