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
final class TransportErrorHandler implements DirectHandler {
    private final HttpServerSettings settings;
    private final RequestObserver observer;
    private final RequestIdGenerator ids;

    TransportErrorHandler(HttpServerSettings settings, RequestObserver observer, RequestIdGenerator ids) {
        this.settings = settings;
        this.observer = observer;
        this.ids = ids;
    }

    DirectHandlers forAllEvents() {
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
        SemelException problem = toException(status.code(), message);
        if (problem.code().status() == 500) {
            observer.onError(RequestDispatcher.NO_ROUTE, id, problem);
        }
        HttpResponse answer = ProblemResponses.toResponse(problem, id);
        observer.onResponse(RequestDispatcher.NO_ROUTE, answer.status(), 0);
        TransportResponse.Builder out = TransportResponse.builder()
                .status(Status.create(answer.status()))
                .keepAlive(false)
                .header(HelidonExchange.NO_SNIFF)
                .entity(answer.body());
        for (HttpResponse.HeaderField field : answer.fields()) {
            out.header(HeaderValues.create(field.name(), field.value()));
        }
        return out.build();
    }

    /** Uses the message only to recognize our own faults, because Helidon's texts may quote the request. */
    SemelException toException(int status, @Nullable String message) {
        return switch (status) {
            case 503 -> HttpServerErrors.overloaded(settings.maxConcurrent());
            default ->
                status >= 500 && status != 505
                        ? HttpServerErrors.internal()
                        : RequestSyntaxFault.forText(message).toException();
        };
    }
}
