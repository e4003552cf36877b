import { z } from 'zod';
import type { HeldMessage } from '../deliver-in-order.ts';
import type { BusMessage, DeadLetter } from '../port.ts';

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
const stored = { key: z.string(), id: z.string(), type: z.string(), payload: json, at: millis };
const entrySchema = z.strictObject(stored);
const deadSchema = z.strictObject({ ...stored, error: z.string(), failed_at: millis });

/** A stream entry as Redis answers it: id and a flat list of names and values. */
export const rawEntry = z.tuple([z.string(), z.array(z.string())]);
export type RawEntry = z.infer<typeof rawEntry>;

/** The fields of a stream entry. `at` is the time of publication. */
export function entryFields({ key, id, type, payload }: BusMessage, at: Date): string[] {
  return ['key', key, 'id', id, 'type', type, 'payload', JSON.stringify(payload ?? null), 'at', String(at.getTime())];
}

export function deadFields(held: HeldMessage, error: string, failedAt: Date): string[] {
  return [...entryFields(held.message, held.publishedAt), 'error', error, 'failed_at', String(failedAt.getTime())];
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
  const { key, id, type, payload, error, failed_at: failedAt } = deadSchema.parse(pairs(fields));
  return { message: { topic, key, id, type, payload }, group, error, failedAt };
}

/** A flat list of names and values, as Redis answers it, as a record. */
export function pairs<T>(flat: readonly T[]): Record<string, T | undefined> {
  const record: Record<string, T | undefined> = {};
  for (let i = 0; i + 1 < flat.length; i += 2) record[String(flat[i])] = flat[i + 1];
  return record;
}
