import { SpanKind } from '@opentelemetry/api';
import { openSpan, outsideTraces, type OpenSpan } from '@longwave/service-kit';
import type { BusMessage, DeliveredMessage, EventBus, SerialisedMessage, SubscribeOptions } from './port.ts';

/** The engine's name in spans; of Kafka that of the semantic conventions, which know no Redis Streams. */
type MessagingSystem = 'kafka' | 'redis_streams';

/** The part of a `traceparent` that all places of one trace have in common. */
const traceOf = ({ traceparent = '' }: BusMessage): string => traceparent.slice(0, 35);

const isTraced = ({ traceparent }: Pick<BusMessage, 'traceparent'>) => traceparent !== undefined;

/**
 * The same bus, which carries traces from publishers to followers: a message with a `traceparent` makes a span `send TOPIC` there, and the
 * followers' spans `process TOPIC` continue it. Names and attributes are those of OpenTelemetry for messaging
 * (https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/). Messages without a trace make no span.
 */
export function traceMessages(bus: EventBus, system: MessagingSystem): EventBus {
  const attributesOf = (topic: string, operation: 'send' | 'process') => ({
    'messaging.system': system,
    'messaging.destination.name': topic,
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
  });

  function openSend({ topic, id, traceparent }: BusMessage | SerialisedMessage): OpenSpan | undefined {
    const attributes = { ...attributesOf(topic, 'send'), 'messaging.message.id': id };
    return openSpan(traceparent, `send ${topic}`, { kind: SpanKind.PRODUCER, attributes });
  }

  /** Spans of one batch: one for each trace that its messages belong to. */
  function openProcess({ topic, group }: SubscribeOptions, messages: readonly DeliveredMessage[]): OpenSpan[] {
    return [...Map.groupBy(messages.filter(isTraced), traceOf).values()].flatMap(([first, ...others]) => {
      const attributes = {
        ...attributesOf(topic, 'process'),
        'messaging.consumer.group.name': group,
        'messaging.batch.message_count': messages.length,
        ...(messages.length === 1 && { 'messaging.message.id': first!.id }),
      };
      const links = others.flatMap(({ traceparent }) => traceparent ?? []);
      return openSpan(first!.traceparent, `process ${topic}`, { kind: SpanKind.CONSUMER, attributes, links }) ?? [];
    });
  }

  async function handleTraced(options: SubscribeOptions, messages: readonly DeliveredMessage[]): Promise<void> {
    const spans = openProcess(options, messages);
    const [only, ...others] = spans;
    const handle = () => options.handle(messages);
    try {
      // What is done for messages of several traces at once is part of none of them.
      await (only && others.length === 0 ? only.run(handle) : outsideTraces(handle));
    } catch (error) {
      for (const span of spans) span.end(error);
      throw error;
    }
    for (const span of spans) span.end();
  }

  return {
    ...bus,
    async publish(messages) {
      if (!messages.some(isTraced)) return await bus.publish(messages);
      const spans = messages.map(openSend);
      const sent = messages.map((message, at) => {
        const traceparent = spans[at]?.position;
        return traceparent === undefined ? message : { ...message, traceparent };
      });
      try {
        await bus.publish(sent);
      } catch (error) {
        for (const span of spans) span?.end(error);
        throw error;
      }
      for (const span of spans) span?.end();
    },
    subscribe: (options) =>
      bus.subscribe({
        ...options,
        handle: async (messages) => {
          if (!options.oneByOne) return await handleTraced(options, messages);
          for (const message of messages) await handleTraced(options, [message]);
        },
      }),
  };
}
