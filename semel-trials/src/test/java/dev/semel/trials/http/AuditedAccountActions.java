package dev.semel.trials.http;

import dev.semel.server.access.UserRole;
import dev.semel.trials.support.ServerFixture;
import java.util.Map;

/** What is somebody's own, their password and what names them, as {@link AuditTest} does it. */
record AuditedAccountActions(ServerFixture stage) {
    void addTo(Map<String, AuditTest.AuditedAction> actions) {
        var people = stage.server().serve().users();
        String link = people.invitations().create(1, UserRole.VIEWER, false, "paula");
        people.acceptInvitation(link, "paula", "correct horse battery", "");
        String passwords = "{\"old\":\"correct horse battery\",\"new\":\"another horse battery\"}";
        actions.put(
                "POST /v1/users/{name}/password",
                new AuditTest.AuditedAction(
                        "user.put", // and user.password below it, of the same moment
                        "paula",
                        () -> stage.admin().post("/v1/users/paula/password", passwords)));
        stage.admin().put("/v1/profiles/cus_9", "{\"email\":\"a@b.example\"}").expect(200);
        actions.put(
                "POST /v1/profiles/{profile}/reveal",
                new AuditTest.AuditedAction(
                        "profile.reveal",
                        "cus_9",
                        () -> stage.admin().post("/v1/profiles/cus_9/reveal", "{\"reason\":\"ticket 4711\"}")));
    }
}
