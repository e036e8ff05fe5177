package dev.semel.server.http;

import dev.semel.error.SemelException;
import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderValues;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.helidon.webserver.http.DirectHandlers;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Turns errors that Helidon detects before routing into problem responses, then closes the connection. */
final class TransportErrors implements DirectHandler {
    private final Settings settings;
    private final Observer observer;
    private final RequestIds ids;

    TransportErrors(Settings settings, Observer observer, RequestIds ids) {
        this.settings = settings;
        this.observer = observer;
        this.ids = ids;
    }

    DirectHandlers everywhere() {
        DirectHandlers.Builder handlers = DirectHandlers.builder();
        for (EventType type : EventType.values()) {
            handlers.addHandler(type, this);
        }
        return handlers.build();
    }

    @Override
    public TransportResponse handle(
            TransportRequest request,
            EventType type,
            Status status,
            ServerResponseHeaders headers,
            @Nullable String message) {
        UUID id = ids.next();
        SemelException problem = problem(status.code(), message);
        if (problem.code().status() == 500) {
            observer.failed(Dispatch.NO_ROUTE, id, problem);
        }
        Answer answer = Problems.answer(problem, id);
        observer.answered(Dispatch.NO_ROUTE, answer.status(), 0);
        TransportResponse.Builder out = TransportResponse.builder()
                .status(Status.create(answer.status()))
                .keepAlive(false)
                .header(Exchange.NO_SNIFF)
                .entity(answer.body());
        for (Answer.Field field : answer.fields()) {
            out.header(HeaderValues.create(field.name(), field.value()));
        }
        return out.build();
    }

    /** Uses the message only to recognize our own faults, because Helidon's texts may quote the request. */
    SemelException problem(int status, @Nullable String message) {
        return switch (status) {
            case 503 -> Refusals.overloaded(settings.maxConcurrent());
            default ->
                status >= 500 && status != 505
                        ? Refusals.internal()
                        : Fault.of(message).problem();
        };
    }
}
