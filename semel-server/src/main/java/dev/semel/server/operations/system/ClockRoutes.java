package dev.semel.server.operations.system;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ActionResult;
import dev.semel.server.operations.AuditNote;
import dev.semel.server.operations.CommandDeclaration;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.operations.Operation;
import dev.semel.server.operations.OperationRouter;
import dev.semel.server.query.StoreReader;
import dev.semel.server.query.view.ClockView;
import dev.semel.server.query.view.StoreTime;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.TrustedClock;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Serves `/v1/clock`: shows whether the machine's clock jumped, and lets an operator confirm it. */
public record ClockRoutes(SemelRuntime semel, IdempotentInboundRequestExecutor actions) {
    static final Operation<ClockView> GET = Operation.get("getClock", "/v1/clock", TokenScope.READ)
            .tag("Operate")
            .summary("Show whether the store follows the machine's clock")
            .command(CommandDeclaration.of(
                            "clock show", "Shows whether the store follows the clock of the server's machine.")
                    .line(clock -> clock.path("trusted").asBoolean(false)
                            ? "the store follows the clock of the machine: "
                                    + clock.path("store_time").asString("")
                            : "the clock of the machine jumped to "
                                    + clock.path("machine_time").asString("") + "; the store continues with "
                                    + clock.path("store_time").asString("")
                                    + ". If the machine is right, run `semel clock confirm`; otherwise correct its"
                                    + " clock"))
            .returns(ClockView.class, "The clock.");

    static final Operation<ClockView> CONFIRM = Operation.post("confirmClock", "/v1/clock/confirm", TokenScope.SERVER)
            .tag("Operate")
            .summary("Confirm the machine's clock after a jump")
            .description("Retention and key windows then follow the machine's clock again. Without a jump it changes"
                    + " nothing.")
            .storesResponse()
            .command(CommandDeclaration.of(
                            "clock confirm",
                            "Confirms that the clock of the server's machine is right. Retention and key windows"
                                    + " follow it again.")
                    .line(clock -> "confirmed: the store follows the clock of the machine, "
                            + clock.path("store_time").asString("")))
            .returns(ClockView.class, "The clock, trusted.");

    public static final List<Operation<?>> OPERATIONS = List.of(GET, CONFIRM);

    public void addTo(OperationRouter router) {
        router.add(GET, _ -> get()).addResponse(CONFIRM, this::confirm);
    }

    private ClockView get() {
        TrustedClock.ClockJump jump = semel.workerStatus().clockJump();
        return view(jump, jump == null ? now() : jump.storeTime());
    }

    private ServerHttpResponse confirm(ServerHttpRequest request) {
        TrustedClock.ClockJump jump = semel.workerStatus().clockJump();
        long confirmed = jump == null ? now() : jump.machineTime();
        String reason = jump == null ? "there was no jump" : jump.text();
        StoreWriteCommand<Integer> nothing = new StoreWriteCommand.WakeRuns(List.of());
        ActionResult result = actions.runOnce(
                request,
                new ActionRequest("clock.confirm"),
                actions.withAudit(request, new AuditNote("clock.confirm", "clock", reason), nothing, _ -> true),
                _ -> {
                    // Only in the first execution of this request: a repeated one must not confirm a later jump.
                    semel.confirmClock();
                    return CONFIRM.toJson(view(null, confirmed));
                });
        return Objects.requireNonNull(result).toResponse();
    }

    private long now() {
        return StoreReader.read(semel, reads -> reads.now());
    }

    private static ClockView view(TrustedClock.@Nullable ClockJump jump, long storeTime) {
        return new ClockView(
                jump == null,
                StoreTime.instant(storeTime),
                jump == null ? null : StoreTime.instantOrNull(jump.machineTime()),
                jump == null ? null : StoreTime.instantOrNull(jump.trustedAt()));
    }
}
