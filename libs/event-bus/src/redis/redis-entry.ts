import { z } from 'zod';
import type { HeldMessage } from '../deliver-in-order.ts';
import { payloadText } from '../payload-text.ts';
import type { BusMessage, DeadLetter, SerialisedMessage } from '../port.ts';

const millis = z
  .string()
  .regex(/^\d{1,16}$/)
  .transform((text) => new Date(Number(text)));
const json = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'is not JSON' });
    return z.NEVER;
  }
});
const trace = { traceparent: z.string().optional() };
const stored = { key: z.string(), id: z.string(), type: z.string(), payload: json, at: millis, ...trace };
const entrySchema = z.strictObject(stored);
const deadSchema = z.strictObject({ ...stored, error: z.string(), failed_at: millis });

/** A stream entry as Redis answers it: id and a flat list of names and values. */
export const rawEntry = z.tuple([z.string(), z.array(z.string())]);
export type RawEntry = z.infer<typeof rawEntry>;

/** The fields of a stream entry. The last one is not there outside of traces. */
const fieldNames = ['key', 'id', 'type', 'payload', 'at', 'traceparent'] as const;

/** The values of its fields, in this order. `at` is the time of publication; `traceparent` is '' outside of traces. */
export const entryValues = (message: BusMessage | SerialisedMessage, at: Date): string[] => [
  ...[message.key, message.id, message.type],
  ...[payloadText(message), String(at.getTime()), message.traceparent ?? ''],
];

/**
 * Appends entries, all or none. KEYS: streams. ARGV: for each entry the index of its stream, then its values. One command: as a
 * transaction, each entry is a command with an answer of its own, which costs the client three times as much.
 */
export const appendScript = `
for i = 1, #ARGV, ${fieldNames.length + 1} do
  local fields = {${fieldNames.map((name, at) => `'${name}', ARGV[i + ${at + 1}]`).join(', ')}}
  redis.call('XADD', KEYS[tonumber(ARGV[i])], '*', unpack(fields, 1, ARGV[i + ${fieldNames.length}] == '' and ${2 * fieldNames.length - 2} or ${2 * fieldNames.length}))
end
return 1`;

export function deadFields(held: HeldMessage, error: string, failedAt: Date): string[] {
  const values = entryValues(held.message, held.publishedAt);
  const fields = fieldNames.flatMap((name, at) =>
    values[at] === '' && name === 'traceparent' ? [] : [name, values[at]!],
  );
  return [...fields, 'error', error, 'failed_at', String(failedAt.getTime())];
}

/** A foreign entry becomes an unreadable message that keeps the raw fields as payload, so that it can be buried, not lost. */
export function tryParseEntry(topic: string, [position, fields]: RawEntry, tries: number): HeldMessage {
  const parsed = entrySchema.safeParse(pairs(fields));
  if (parsed.success) {
    const { at, ...message } = parsed.data;
    return { message: { topic, ...message }, publishedAt: at, position, tries };
  }
  const message = { topic, key: '', id: position, type: 'message.unreadable', payload: fields };
  return {
    message,
    publishedAt: new Date(Number.parseInt(position, 10)),
    position,
    tries,
    unreadable: 'The entry is no message of this bus.',
  };
}

/** Throws when the entry is no dead letter of this bus. */
export function parseDeadLetter(topic: string, group: string, [, fields]: RawEntry): DeadLetter {
  const { key, id, type, payload, traceparent, error, failed_at: failedAt } = deadSchema.parse(pairs(fields));
  return { message: { topic, key, id, type, payload, traceparent }, group, error, failedAt };
}

/** A flat list of names and values, as Redis answers it, as a record. */
export function pairs<T>(flat: readonly T[]): Record<string, T | undefined> {
  const record: Record<string, T | undefined> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) record[String(flat[i])] = flat[i + 1];
  return record;
}
