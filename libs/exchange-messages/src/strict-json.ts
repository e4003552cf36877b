import { maxPayloadDepth, maxPayloadValues } from './limits.ts';
import { pointer } from './refusal.ts';

/** Faults of JSON (RFC 8259) in a signed message: those of I-JSON (RFC 7493), and of depth, number of values, fractions, combining marks and normal form. */
export type JsonFaultCode =
  | 'invalid_utf8'
  | 'byte_order_mark'
  | 'syntax'
  | 'duplicate_key'
  | 'too_deep'
  | 'too_many_values'
  | 'not_an_integer'
  | 'integer_out_of_range'
  | 'unpaired_surrogate'
  | 'too_many_marks'
  | 'not_nfc';

export interface JsonFault {
  readonly code: JsonFaultCode;
  /** JSON Pointer of the value that has the fault, as far as it was read. */
  readonly path: string;
  readonly detail: string;
}

export type JsonResult =
  { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly fault: JsonFault };

const details: Readonly<Record<JsonFaultCode, string>> = {
  invalid_utf8: 'The bytes are not UTF-8.',
  byte_order_mark: 'A byte order mark stands before the JSON.',
  syntax: 'This is not JSON.',
  duplicate_key: 'The key occurs twice in one object.',
  too_deep: 'Arrays and objects stand too deep within one another.',
  too_many_values: 'There are more values than a message can have.',
  not_an_integer: 'Only integers are allowed, without fraction, exponent and negative zero.',
  integer_out_of_range: 'The integer is beyond ±(2^53 − 1).',
  unpaired_surrogate: 'The text has an unpaired surrogate.',
  too_many_marks: 'The text has more than 30 combining marks in a row.',
  not_nfc: 'The text is not in Unicode Normalization Form C.',
};

export interface JsonLimits {
  /** Arrays and objects within one another: `[]` has depth 1. */
  readonly maxDepth?: number;
  /** Strings, numbers, literals, arrays and objects in all. */
  readonly maxValues?: number;
}

/** An object or array that is not closed yet, with the key or index of the value that is read in it. */
type OpenObject = { readonly keys: Set<string>; at: string | undefined };
type Open = OpenObject | { readonly keys: undefined; at: number };

/** A place in the text, in UTF-16 units. */
interface Cursor {
  readonly text: string;
  at: number;
}

const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const zero = 0x30;
const nine = 0x39;
const colon = 0x3a;
const openArray = 0x5b;
const backslash = 0x5c;
const closeArray = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;
const byteOrderMark = 0xfeff;

/** Below it every character is in Normalization Form C. */
const firstCombining = 0x300;
/**
 * More non-starters in a row than the Stream-Safe Text Format has (UAX #15 §13). No language needs as many, and the time that
 * normalization takes grows with the square of their number.
 */
const manyMarks = /\p{M}{31}/u;
const fourHex = /^[0-9a-fA-F]{4}$/;
/** Digits of 2^53 − 1, and so at most of a number that is computed. */
const maxDigits = 16;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Moves to the next unit that is no white space, and returns it; NaN at the end. */
function nextUnit(cursor: Cursor): number {
  for (; ; cursor.at += 1) {
    const unit = cursor.text.charCodeAt(cursor.at);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return unit;
  }
}

/** Moves behind the escape that begins at the cursor; false when it is none. */
function skipEscape(cursor: Cursor): boolean {
  const kind = cursor.text.charAt(cursor.at + 1);
  if (kind !== 'u') {
    cursor.at += 2;
    return kind !== '' && '"\\/bfnrt'.includes(kind);
  }
  const digits = cursor.text.slice(cursor.at + 2, cursor.at + 6);
  cursor.at += 6;
  return fourHex.test(digits);
}

/** Reads the string whose opening quote is at the cursor. */
function readString(cursor: Cursor): { readonly text: string; readonly fault?: JsonFaultCode } {
  const start = cursor.at++;
  let isPlain = true;
  let hasEscape = false;
  for (;;) {
    const unit = cursor.text.charCodeAt(cursor.at);
    if (unit === quote) break;
    if (unit === backslash) {
      hasEscape = true;
      if (!skipEscape(cursor)) return { text: '', fault: 'syntax' };
      continue;
    }
    // NaN, the end of the text, is not above either.
    if (!(unit >= 0x20)) return { text: '', fault: 'syntax' };
    if (unit >= firstCombining) isPlain = false;
    cursor.at += 1;
  }
  cursor.at += 1;
  const text = hasEscape
    ? (JSON.parse(cursor.text.slice(start, cursor.at)) as string)
    : cursor.text.slice(start + 1, cursor.at - 1);
  if (isPlain && !hasEscape) return { text };
  if (!text.isWellFormed()) return { text, fault: 'unpaired_surrogate' };
  if (manyMarks.test(text)) return { text, fault: 'too_many_marks' };
  return text.normalize('NFC') === text ? { text } : { text, fault: 'not_nfc' };
}

/** Moves behind a run of digits, and returns its length. */
function skipDigits(cursor: Cursor): number {
  const start = cursor.at;
  for (let unit = cursor.text.charCodeAt(start); unit >= zero && unit <= nine;) {
    cursor.at += 1;
    unit = cursor.text.charCodeAt(cursor.at);
  }
  return cursor.at - start;
}

function readNumber(cursor: Cursor): JsonFaultCode | undefined {
  const start = cursor.at;
  const isNegative = cursor.text.charCodeAt(start) === minus;
  if (isNegative) cursor.at += 1;
  const first = cursor.text.charCodeAt(cursor.at);
  const digits = skipDigits(cursor);
  if (digits === 0 || (first === zero && digits > 1)) return 'syntax';
  if ('.eE'.includes(cursor.text.charAt(cursor.at) || ' ') || (first === zero && isNegative)) return 'not_an_integer';
  if (digits > maxDigits) return 'integer_out_of_range';
  return Number.isSafeInteger(Number(cursor.text.slice(start, cursor.at))) ? undefined : 'integer_out_of_range';
}

const literals = ['true', 'false', 'null'];

/** Reads a string, number or literal. */
function readScalar(cursor: Cursor): JsonFaultCode | undefined {
  if (nextUnit(cursor) === quote) return readString(cursor).fault;
  const literal = literals.find((each) => cursor.text.startsWith(each, cursor.at));
  if (literal === undefined) return readNumber(cursor);
  cursor.at += literal.length;
  return undefined;
}

/** Reads a key and its colon. */
function readKey(cursor: Cursor, object: OpenObject): JsonFaultCode | undefined {
  if (nextUnit(cursor) !== quote) return 'syntax';
  const { text: key, fault } = readString(cursor);
  if (fault) return fault;
  object.at = key;
  if (object.keys.has(key)) return 'duplicate_key';
  object.keys.add(key);
  if (nextUnit(cursor) !== colon) return 'syntax';
  cursor.at += 1;
  return undefined;
}

const closingOf = (container: Open) => (container.keys ? closeObject : closeArray);

/** Closes what ends behind a value, and moves to the next value. */
function readEnd(cursor: Cursor, open: Open[]): JsonFaultCode | 'value_follows' | 'end' {
  for (;;) {
    const unit = nextUnit(cursor);
    const top = open.at(-1);
    if (!top) return cursor.at === cursor.text.length ? 'end' : 'syntax';
    cursor.at += 1;
    if (unit === closingOf(top)) {
      open.pop();
      continue;
    }
    if (unit !== comma) return 'syntax';
    if (top.keys) return readKey(cursor, top) ?? 'value_follows';
    top.at += 1;
    return 'value_follows';
  }
}

function faultOf(text: string, { maxDepth, maxValues }: Required<JsonLimits>): JsonFault | undefined {
  const cursor = { text, at: 0 };
  const open: Open[] = [];
  const fault = (code: JsonFaultCode) => {
    const path = pointer(open.flatMap(({ at }) => at ?? []));
    return { code, path, detail: details[code] };
  };
  for (let values = 1; ; values += 1) {
    if (values > maxValues) return fault('too_many_values');
    const unit = nextUnit(cursor);
    if (unit === openArray || unit === openObject) {
      if (open.length >= maxDepth) return fault('too_deep');
      cursor.at += 1;
      const container: Open = unit === openArray ? { keys: undefined, at: 0 } : { keys: new Set(), at: undefined };
      open.push(container);
      if (nextUnit(cursor) !== closingOf(container)) {
        const found = container.keys && readKey(cursor, container);
        if (found) return fault(found);
        continue;
      }
    } else {
      const found = readScalar(cursor);
      if (found) return fault(found);
    }
    const end = readEnd(cursor, open);
    if (end === 'end') return undefined;
    if (end !== 'value_follows') return fault(end);
  }
}

/**
 * Reads JSON that means the same to every reader: one value per key, integers that every language holds, text in one spelling. The time is
 * linear in the length of the input, and nothing recurses. Keys such as `__proto__` are
 * own members of the value, as `JSON.parse` has them. Never throws.
 */
export function parseStrictJson(
  input: Uint8Array | string,
  { maxDepth = maxPayloadDepth, maxValues = maxPayloadValues }: JsonLimits = {},
): JsonResult {
  const refused = (code: JsonFaultCode): JsonResult => ({
    ok: false,
    fault: { code, path: '', detail: details[code] },
  });
  const text = typeof input === 'string' ? input : decode(input);
  if (text === undefined) return refused('invalid_utf8');
  if (text.charCodeAt(0) === byteOrderMark) return refused('byte_order_mark');
  const fault = faultOf(text, { maxDepth, maxValues });
  return fault ? { ok: false, fault } : { ok: true, value: JSON.parse(text) as unknown };
}
