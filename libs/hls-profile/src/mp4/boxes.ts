/** The bytes are no MP4, or end in the middle of a box. Its message is a sentence without a full stop. */
export class Mp4Error extends Error {}

/** A box (ISO/IEC 14496-12 §4.2): where it stands in the bytes that are read. */
export interface Box {
  readonly type: string;
  /** Of its header. */
  readonly start: number;
  /** Of what is in it. */
  readonly body: number;
  /** Past its last byte; it may be past the bytes that are there. */
  readonly end: number;
}

export const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const typeAt = (bytes: Uint8Array, at: number) => String.fromCharCode(...bytes.subarray(at, at + 4));

/** The boxes between two places, without those inside them. Throws `Mp4Error`. */
export function* boxesIn(bytes: Uint8Array, start = 0, end = bytes.length): Generator<Box> {
  const view = viewOf(bytes);
  for (let at = start; at < end;) {
    if (end - at < 8) throw new Mp4Error('it ends in the middle of a box');
    const type = typeAt(bytes, at + 4);
    if (!/^[\x20-\x7e\xa9]{4}$/.test(type)) throw new Mp4Error('it is no MP4');
    let [size, header] = [view.getUint32(at), 8];
    if (size === 1) {
      if (end - at < 16) throw new Mp4Error('it ends in the middle of a box');
      [size, header] = [Number(view.getBigUint64(at + 8)), 16];
    } else if (size === 0) size = end - at;
    if (size < header) throw new Mp4Error(`its box “${type}” has a wrong size`);
    yield { type, start: at, body: at + header, end: at + size };
    at += size;
  }
}

/** The first box of a path, "moov/trak"; undefined when there is none. Throws `Mp4Error`. */
export function findBox(bytes: Uint8Array, path: string, within?: Box): Box | undefined {
  let box = within;
  for (const type of path.split('/')) {
    let found: Box | undefined;
    for (const each of boxesIn(bytes, box?.body, box && Math.min(box.end, bytes.length)))
      if (each.type === type) {
        found = each;
        break;
      }
    if (!found) return undefined;
    box = found;
  }
  return box;
}

/** Reads with `read`; a number that would stand past the last byte is an `Mp4Error`. */
export function readInside<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw new Mp4Error('it ends in the middle of a box');
    throw error;
  }
}
