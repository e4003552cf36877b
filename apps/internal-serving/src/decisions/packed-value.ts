import { idBytes, idFromBytes, isId } from '@longwave/ids';
import { packedWords } from './packed-words.ts';

/** The first byte of a value. Nothing here ever changes. */
const tag = {
  /** 0 to 63: that number. */
  ...{ null: 64, false: 65, true: 66, whole: 67, double: 68, text: 69 },
  /** Ids by the length of their prefix: 2, 3, 4. */
  ...{ id2: 70, id3: 71, id4: 72 },
  ...{ digest: 73, object: 74, list: 75, again: 76 },
  /** 77 to 84: lists of 0 to 7 values. */
  shortList: 77,
  /** 85 to 127: the first known texts. */
  known: 85,
  /** 128 to 255: words of `packedWords`. */
  word: 128,
} as const;
const maxShortList = tag.known - tag.shortList - 1;
const shortKnown = tag.word - tag.known;

const wordAt = new Map(packedWords.map((word, at) => [word, at]));

/** True for texts that take one byte anyway. */
export const isPackedWord = (text: string): boolean => wordAt.has(text);

const digestPattern = /^[0-9a-f]{64}$/;

/**
 * Packs what JSON can say into bytes that `unpackValue` reads, undefined as null: ids and SHA-256 texts as the bytes that they stand for, and each other text once.
 * @param known texts that both sides have, in the same order
 */
export function packValue(value: unknown, known: ReadonlyMap<string, number>): Buffer {
  let bytes = Buffer.allocUnsafe(1_024);
  let end = 0;
  const seen = new Map<string, number>();

  function reserve(count: number): void {
    if (end + count <= bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (end + count));
    bytes.copy(larger, 0, 0, end);
    bytes = larger;
  }

  function putNumber(rest: number): void {
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[end++] = (rest % 128) | 128;
    bytes[end++] = rest;
  }

  function putText(text: string): void {
    const word = wordAt.get(text);
    if (word !== undefined) {
      bytes[end++] = tag.word + word;
      return;
    }
    const before = known.get(text) ?? seen.get(text);
    if (before !== undefined) {
      if (before >= shortKnown) {
        bytes[end++] = tag.again;
        putNumber(before - shortKnown);
      } else bytes[end++] = tag.known + before;
      return;
    }
    seen.set(text, known.size + seen.size);
    const prefix = text.length - 27;
    if (prefix >= 2 && prefix <= 4 && isId(text)) {
      bytes[end++] = tag.id2 + prefix - 2;
      end += bytes.write(text.slice(0, prefix), end, 'latin1');
      end += idBytes(text).copy(bytes, end);
    } else if (digestPattern.test(text)) {
      bytes[end++] = tag.digest;
      end += bytes.write(text, end, 'hex');
    } else {
      const length = Buffer.byteLength(text);
      reserve(length + 10);
      bytes[end++] = tag.text;
      putNumber(length);
      end += bytes.write(text, end);
    }
  }

  function putList(list: readonly unknown[]): void {
    if (list.length > maxShortList) {
      bytes[end++] = tag.list;
      putNumber(list.length);
    } else bytes[end++] = tag.shortList + list.length;
    for (const each of list) put(each);
  }

  function putObject(object: object): void {
    const entries = Object.entries(object) as [string, unknown][];
    bytes[end++] = tag.object;
    putNumber(entries.length);
    for (const [name, each] of entries) {
      reserve(40);
      putText(name);
      put(each);
    }
  }

  function put(each: unknown): void {
    reserve(40);
    if (typeof each === 'string') putText(each);
    else if (typeof each === 'number') {
      if (Number.isSafeInteger(each) && each >= 0) {
        if (each >= tag.null) bytes[end++] = tag.whole;
        putNumber(each);
      } else {
        bytes[end++] = tag.double;
        end = bytes.writeDoubleLE(each, end);
      }
    } else if (each === null || each === undefined) bytes[end++] = tag.null;
    else if (typeof each === 'boolean') bytes[end++] = each ? tag.true : tag.false;
    else if (Array.isArray(each)) putList(each);
    else if (typeof each === 'object') putObject(each);
    else throw new Error(`a ${typeof each} cannot be packed`);
  }

  put(value);
  return Buffer.from(bytes.subarray(0, end));
}

/** The value of bytes that `packValue` made with the same known texts. Throws for bytes that it cannot have made. */
export function unpackValue(bytes: Buffer, known: readonly string[]): unknown {
  let at = 0;
  const seen: string[] = [];

  function take(count: number): Buffer {
    if (at + count > bytes.length) throw new Error('packed value is cut off');
    at += count;
    return bytes.subarray(at - count, at);
  }

  function takeByte(): number {
    const byte = bytes[at++];
    if (byte === undefined) throw new Error('packed value is cut off');
    return byte;
  }

  function takeNumber(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = takeByte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  function keep(text: string): string {
    seen.push(text);
    return text;
  }

  function textAt(place: number): string {
    const text = place < known.length ? known[place] : seen[place - known.length];
    if (text === undefined) throw new Error('packed value names an unknown text');
    return text;
  }

  function takeObject(): object {
    const entries = Array.from({ length: takeNumber() }, () => [takeValue() as string, takeValue()] as const);
    return Object.fromEntries(entries);
  }

  const takeList = (length: number): unknown[] => Array.from({ length }, takeValue);

  function takeValue(): unknown {
    const first = takeByte();
    if (first < tag.null) return first;
    if (first >= tag.word) return wordOf(first - tag.word);
    if (first >= tag.known) return textAt(first - tag.known);
    if (first >= tag.shortList) return takeList(first - tag.shortList);
    switch (first) {
      case tag.null:
        return null;
      case tag.false:
      case tag.true:
        return first === tag.true;
      case tag.whole:
        return takeNumber();
      case tag.double:
        return take(8).readDoubleLE();
      case tag.text:
        return keep(take(takeNumber()).toString());
      case tag.digest:
        return keep(take(32).toString('hex'));
      case tag.object:
        return takeObject();
      case tag.list:
        return takeList(takeNumber());
      case tag.again:
        return textAt(shortKnown + takeNumber());
      default:
        return keep(idFromBytes(take(first - tag.id2 + 2).toString('latin1'), take(16)));
    }
  }

  const value = takeValue();
  if (at !== bytes.length) throw new Error('packed value has bytes behind its end');
  return value;
}

function wordOf(place: number): string {
  const word = packedWords[place];
  if (word === undefined) throw new Error('packed value names an unknown word');
  return word;
}
