package dev.semel.server.http.transport;

import dev.semel.error.SemelException;
import dev.semel.server.http.HttpProblemResponseMapper;
import dev.semel.server.http.ServerHttpRequestObserver;
import dev.semel.server.http.ServerHttpResponse;
import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderValues;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.helidon.webserver.http.DirectHandlers;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Turns errors that Helidon detects before routing into problem responses, then closes the connection. */
record HttpServerTransportErrorHandler(ServerHttpRequestObserver observer, RequestIdGenerator ids)
        implements DirectHandler {

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
            observer.onError(ServerHttpRequestDispatcher.NO_ROUTE, id, problem);
        }
        ServerHttpResponse answer = HttpProblemResponseMapper.toResponse(problem, id);
        observer.onResponse(ServerHttpRequestDispatcher.NO_ROUTE, answer.status(), 0);
        TransportResponse.Builder out = TransportResponse.builder()
                .status(Status.create(answer.status()))
                .keepAlive(false)
                .header(HelidonExchangeAdapter.NO_SNIFF)
                .entity(answer.body());
        for (ServerHttpResponse.HeaderField field : answer.fields()) {
            out.header(HeaderValues.create(field.name(), field.value()));
        }
        return out.build();
    }

    /** Uses the message only to recognize our own faults, because Helidon's texts may quote the request. */
    SemelException toException(int status, @Nullable String message) {
        return status >= 500 && status != 505
                ? InboundRequestErrorFactory.internal()
                : HttpRequestSyntaxError.forText(message).toException();
    }
}
