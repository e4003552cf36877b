import type { IHeaders, KafkaMessage, Message } from 'kafkajs';
import { z } from 'zod';
import type { HeldMessage } from '../deliver-in-order.ts';
import { payloadText } from '../payload-text.ts';
import type { BusMessage, DeadLetter, SerialisedMessage } from '../port.ts';

const stored = { id: z.string(), type: z.string() };
const headersSchema = z.object({ ...stored, traceparent: z.string().optional() });
const deadHeadersSchema = z.object({ ...stored, error: z.string(), failed_at: z.iso.datetime() });

/** A record: the key is the message key, the value its payload as JSON; the timestamp is the time of publication. */
export function toRecord(
  message: BusMessage | SerialisedMessage,
  publishedAt: Date,
  more: Record<string, string> = {},
): Message {
  const { key, id, type, traceparent } = message;
  return {
    key,
    value: payloadText(message),
    timestamp: String(publishedAt.getTime()),
    headers: { id, type, ...(traceparent !== undefined && { traceparent }), ...more },
  };
}

export function toDeadRecord(held: HeldMessage, error: string, failedAt: Date): Message {
  return toRecord(held.message, held.publishedAt, { error, failed_at: failedAt.toISOString() });
}

/** A foreign record becomes an unreadable message that keeps the raw value as payload, so that it can be buried, not lost. */
export function tryParseRecord(topic: string, record: KafkaMessage, tries: number): HeldMessage {
  const held = { publishedAt: new Date(Number(record.timestamp)), position: record.offset, tries };
  const key = record.key?.toString() ?? '';
  const value = record.value?.toString() ?? '';
  const headers = headersSchema.safeParse(textHeaders(record.headers));
  try {
    if (headers.success) return { ...held, message: { topic, key, ...headers.data, payload: JSON.parse(value) } };
  } catch {
    // The value is no JSON: unreadable, below.
  }
  const message = { topic, key, id: record.offset, type: 'message.unreadable', payload: value };
  return { ...held, message, unreadable: 'The record is no message of this bus.' };
}

/** Throws when the record is no dead letter of this bus. */
export function parseDeadRecord(
  topic: string,
  group: string,
  record: KafkaMessage,
): DeadLetter & { publishedAt: Date } {
  const { id, type, error, failed_at: failedAt } = deadHeadersSchema.parse(textHeaders(record.headers));
  const { message, publishedAt } = tryParseRecord(topic, record, 0);
  return { message: { ...message, id, type }, publishedAt, group, error, failedAt: new Date(failedAt) };
}

function textHeaders(headers: IHeaders | undefined): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, value?.toString()]));
}
