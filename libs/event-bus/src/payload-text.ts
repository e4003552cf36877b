import type { BusMessage, SerialisedMessage } from './port.ts';

/** The payload of a message as the engines store it. */
export const payloadText = (message: BusMessage | SerialisedMessage): string =>
  'json' in message ? message.json : JSON.stringify(message.payload ?? null);
