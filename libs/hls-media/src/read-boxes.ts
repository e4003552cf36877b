/** The file is no fragmented MP4 of one track as we write it; `message` says where. */
export class FragmentError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FragmentError';
  }
}

/** Bytes [from, to) of a file. */
export type ReadBytes = (from: number, to: number) => Buffer | Promise<Buffer>;

export interface Box {
  readonly type: string;
  /** Position of the box, and of the first byte behind it. */
  readonly from: number;
  readonly to: number;
  /** Position of its contents. */
  readonly contents: number;
}

/** The head of a box that begins at byte `at` of `bytes`, `from` in the file; undefined for a size that no box has. */
function boxAt(bytes: Buffer, at: number, from: number): Box | undefined {
  const isLarge = bytes.readUInt32BE(at) === 1;
  const head = isLarge ? 16 : 8;
  if (bytes.length - at < head) return undefined;
  const size = isLarge ? Number(bytes.readBigUInt64BE(at + 8)) : bytes.readUInt32BE(at);
  if (size < head || !Number.isSafeInteger(size)) return undefined;
  return { type: bytes.toString('latin1', at + 4, at + 8), from, to: from + size, contents: from + head };
}

/** The boxes at the top of a file of `size` bytes, by their heads. */
export async function* walkFile(read: ReadBytes, size: number): AsyncGenerator<Box, void> {
  for (let from = 0; from < size;) {
    const head = size - from < 8 ? Buffer.alloc(0) : await read(from, Math.min(size, from + 16));
    const box = head.length < 8 ? undefined : boxAt(head, 0, from);
    if (!box || box.to > size) throw new FragmentError(`no whole box at byte ${from}`);
    yield box;
    from = box.to;
  }
}

/** The boxes of `bytes` from `from` to `to`; positions are those in `bytes`. */
export function boxesIn(bytes: Buffer, from = 0, to = bytes.length): Box[] {
  const boxes: Box[] = [];
  for (let at = from; at < to;) {
    const box = to - at < 8 ? undefined : boxAt(bytes, at, at);
    if (!box || box.to > to) throw new FragmentError(`no whole box at byte ${at} of a box`);
    boxes.push(box);
    at = box.to;
  }
  return boxes;
}

/** The only box at the end of a path of types. Throws `FragmentError` when there is none, or several. */
export function onlyBox(bytes: Buffer, within: Pick<Box, 'contents' | 'to'>, ...path: readonly string[]): Box {
  let box: Pick<Box, 'contents' | 'to'> = within;
  let found: Box | undefined;
  for (const type of path) {
    const all = boxesIn(bytes, box.contents, box.to).filter((each) => each.type === type);
    if (all.length !== 1) throw new FragmentError(`${all.length} boxes "${type}" where one is expected`);
    box = found = all[0]!;
  }
  return found!;
}

/**
 * The unsigned number in some bytes of a box, `at` bytes from the beginning of its contents. Throws `FragmentError` where the box is shorter.
 */
export function uintIn(bytes: Buffer, { type, contents, to }: Box, at: number, length: 1 | 2 | 3 | 4 | 8): number {
  if (contents + at + length > to) throw new FragmentError(`the box "${type}" is too short`);
  return length === 8 ? Number(bytes.readBigUInt64BE(contents + at)) : bytes.readUIntBE(contents + at, length);
}
