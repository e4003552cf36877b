import { types } from 'node:util';
import { pino, stdSerializers, stdTimeFunctions, type DestinationStream } from 'pino';
import { redact } from './redact.ts';
import { traceFields } from './trace.ts';

type Write = (fields: object, event: string) => void;

/** The part of pino that passes `redact`: fields with the name of an event, and no loggers with fields of their own. */
export type Logger = Readonly<Record<'debug' | 'info' | 'warn' | 'error' | 'fatal', Write>>;

/** Fields of the line that every request writes, and of its place in a trace. Their values are made by us of ids and names, never of what a client sent. */
const ownFields: ReadonlySet<string> = new Set([
  'request_id',
  'method',
  'status',
  'route',
  'operation',
  'bytes',
  'duration_ms',
  'credential_id',
  'trace_id',
  'span_id',
]);
const eventName = /^[a-z0-9_.]+$/;

/** Errors of this realm and of others, and those of the platform (a DOMException of an abort). */
const isError = (value: unknown): value is Error => value instanceof Error || types.isNativeError(value);

/** Fields in which PostgreSQL quotes rows, values and statements. Its code, message, table and constraint say what happened. */
const quotingFields: ReadonlySet<string> = new Set(['detail', 'where', 'hint', 'internalQuery']);

/** A part of a text, and what is written in its place. */
type Replacement = readonly [message: string, shown: string];

/**
 * The messages of PostgreSQL's class 22 (data exception) in an error, its causes and its parts: they quote the value that was refused. Each
 * with what is written in its place.
 */
function* quotingMessages(error: unknown, seen = new Set<unknown>()): Generator<Replacement> {
  if (!isError(error) || seen.has(error)) return;
  seen.add(error);
  const { code, errors } = error as { readonly code?: unknown; readonly errors?: unknown };
  if (typeof code === 'string' && /^22[0-9A-Z]{3}$/.test(code) && error.message !== '')
    yield [error.message, `PostgreSQL refused a value (${code})`];
  for (const part of [error.cause, ...(Array.isArray(errors) ? errors : [])]) yield* quotingMessages(part, seen);
}

const replaceAll = (text: string, replacements: readonly Replacement[]) =>
  replacements.reduce((left, [message, shown]) => left.replaceAll(message, () => shown), text);

/** For `JSON.stringify`: leaves out what PostgreSQL quotes in errors, also where one stands within another value. */
const leaveOut = (quoting: readonly Replacement[]) =>
  function withoutQuotes(this: object, field: string, value: unknown): unknown {
    if (!isError(this) && !('stack' in this)) return value;
    if (quotingFields.has(field)) return undefined;
    return typeof value === 'string' ? replaceAll(value, quoting) : value;
  };
const leaveOutFields = leaveOut([]);

function redactError(name: string, error: Error): object {
  const quoting = [...quotingMessages(error)];
  try {
    return JSON.parse(redact(JSON.stringify({ [name]: stdSerializers.err(error) }, leaveOut(quoting)))) as object;
  } catch {
    return { [name]: redact(replaceAll(error.stack ?? error.message, quoting)) };
  }
}

/** A field under its own name, and redacted with it, because a name tells that its value is secret; what is no JSON becomes a text. */
function redactField(name: string, value: unknown): object {
  if (isError(value)) return redactError(name, value);
  try {
    return JSON.parse(redact(JSON.stringify({ [name]: value }, leaveOutFields))) as object;
  } catch {
    return { [name]: redact(String(value)) };
  }
}

function redactFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const clean: Record<string, unknown> = {};
  for (const name in fields) {
    const value = fields[name];
    if (typeof value === 'number' || typeof value === 'boolean' || ownFields.has(name)) clean[name] = value;
    else Object.assign(clean, redactField(name, value));
  }
  return clean;
}

/**
 * A structured logger, one JSON line per event. Numbers and the fields of every request's line are written as they are; everything else
 * passes `redact`, field by field. Lines that are written in a trace name it and its span.
 * @param destination gets whole lines without secrets
 */
export function createLogger(
  service: string,
  level: string,
  destination: DestinationStream = { write: (line) => void process.stdout.write(line) },
): Logger {
  return pino(
    {
      level,
      base: { service },
      messageKey: 'event',
      timestamp: stdTimeFunctions.isoTime,
      mixin: traceFields,
      // `redactFields` has rendered errors already.
      serializers: { err: (error: unknown) => error },
      formatters: { level: (label) => ({ level: label }), bindings: redactFields, log: redactFields },
      hooks: {
        logMethod(words, method) {
          const [fields, event] = words as [object, string | undefined];
          if (event === undefined || eventName.test(event)) method.apply(this, words);
          else method.apply(this, [fields, redact(event)]);
        },
      },
    },
    destination,
  );
}
