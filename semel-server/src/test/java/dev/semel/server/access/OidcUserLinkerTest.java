package dev.semel.server.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkspaceSettingName;
import dev.semel.testing.WorkflowTestKit;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Names of people for whom a provider vouches; before names had the provider behind them, theirs were plain ones. */
class OidcUserLinkerTest {
    private static final WorkspaceSettingName.SettingKind IDENTITY =
            new WorkspaceSettingName.SettingKind("identity", false, false);
    private static final WorkspaceSettingName.SettingKind PERSON =
            new WorkspaceSettingName.SettingKind("user", false, true);
    private static final String NOW = "alma@id.example.com";

    private final ExternalIdentity alma =
            ExternalIdentity.of("https://id.example.com:8443/realm", "s-7", "alma", UserRole.VIEWER);
    private final WorkflowTestKit kit = new WorkflowTestKit();
    private final UserAccountStore users = UserAccountStore.serving(SemelRuntime.of(kit.semel()));

    @AfterEach
    void close() {
        kit.close();
    }

    private int ws() {
        return SemelRuntime.of(kit.semel()).testAccess().workspace();
    }

    private void keep(WorkspaceSettingName.SettingKind kind, String name, String body) {
        SemelRuntime.of(kit.semel())
                .change(new StoreWriteCommand.SaveSetting(
                        new WorkspaceSettingName(ws(), kind, name), body, null, "test"));
    }

    private String enter(ExternalIdentity who) {
        assertTrue(ws() > 0, "there is a workspace");
        return users.logInExternal("default", who, "here").split("~", -1)[1];
    }

    @Test
    void an_external_name_shows_its_provider_and_a_second_one_gets_a_suffix() {
        assertEquals(NOW, enter(alma));
        ExternalIdentity twin =
                ExternalIdentity.of("https://id.example.com:8443/realm", "s-8", "alma@example.com", UserRole.VIEWER);
        assertEquals("alma-" + twin.identity().substring(0, 8) + "@id.example.com", enter(twin));
        assertEquals(NOW, enter(alma), "the same person as before");
        ExternalIdentity elsewhere = ExternalIdentity.of("https://other.example", "s-7", "alma", UserRole.ADMIN);
        assertEquals("alma@other.example", enter(elsewhere), "the same number at another provider is somebody else");
    }

    @Test
    void an_old_plain_name_is_replaced_and_its_data_move_along() {
        keep(IDENTITY, alma.identity(), "{\"name\":\"alma\"}");
        keep(PERSON, "alma", "{\"role\":\"viewer\",\"identity\":\"" + alma.identity() + "\",\"groups\":[\"ops\"]}");
        assertEquals(NOW, enter(alma));
        assertNull(users.find(ws(), "alma"));
        assertEquals(
                List.of("ops"), Objects.requireNonNull(users.find(ws(), NOW)).groups());
    }

    @Test
    void a_user_disabled_under_a_plain_name_stays_disabled() {
        keep(IDENTITY, alma.identity(), "{\"name\":\"alma\"}");
        keep(PERSON, "alma", "{\"role\":\"viewer\",\"identity\":\"" + alma.identity() + "\",\"disabled\":true}");
        for (int i = 0; i < 2; i++) {
            SemelException refused = assertThrows(SemelException.class, () -> enter(alma));
            assertTrue(refused.detail().contains("is disabled. You are not logged in"), refused.detail());
        }
        assertNull(users.find(ws(), "alma"));
    }

    @Test
    void a_local_user_keeps_the_plain_name_once_linked_to_an_identity() {
        keep(IDENTITY, alma.identity(), "{\"name\":\"alma\"}");
        keep(PERSON, "alma", "{\"role\":\"admin\"}");
        assertEquals(NOW, enter(alma));
        assertEquals(
                UserRole.ADMIN, Objects.requireNonNull(users.find(ws(), "alma")).role());
        assertEquals(
                UserRole.VIEWER, Objects.requireNonNull(users.find(ws(), NOW)).role());
    }
}
