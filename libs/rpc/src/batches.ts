/** Most items of one message: a longer batch makes its first item wait for the work on the last. */
export const maxBatchItems = 64;
/** A message with several items has at most these bytes; a longer item travels by itself. */
const maxBatchBytes = 256 * 1024;

/** The part of a gRPC stream that batches are written to. */
interface BatchStream {
  once(event: 'drain', listener: () => void): unknown;
}

export interface BatchQueue<T> {
  /** Items that are not written yet. */
  readonly length: number;
  push(item: T): void;
  /** Takes an item back. False when it has been written. */
  drop(item: T): boolean;
  /** Writes nothing more. Answers the items that were not written. */
  close(): readonly T[];
}

/**
 * Writes items in natural batches: those of one turn of the event loop are one message, a bounded one, and while the stream takes no
 * more they wait. The caller bounds how many.
 * @param bytesOf about how many bytes an item has
 * @param write sends one message; false when the stream wants a rest until its `drain`
 */
export function createBatchQueue<T>(
  stream: BatchStream,
  bytesOf: (item: T) => number,
  write: (items: readonly T[]) => boolean,
  onDrain: () => void = () => undefined,
): BatchQueue<T> {
  let waiting: T[] = [];
  let state: 'idle' | 'scheduled' | 'blocked' | 'closed' = 'idle';

  function takeBatch(): readonly T[] {
    let bytes = 0;
    let count = 0;
    for (; count < waiting.length && count < maxBatchItems; count++) {
      bytes += bytesOf(waiting[count]!);
      if (count > 0 && bytes > maxBatchBytes) break;
    }
    if (count === waiting.length) {
      const all = waiting;
      waiting = [];
      return all;
    }
    return waiting.splice(0, count);
  }

  function schedule(): void {
    if (state !== 'idle' || waiting.length === 0) return;
    state = 'scheduled';
    setImmediate(flush);
  }

  function flush(): void {
    if (state !== 'scheduled') return;
    state = 'idle';
    if (waiting.length === 0) return;
    if (write(takeBatch())) return schedule();
    state = 'blocked';
    stream.once('drain', () => {
      if (state !== 'blocked') return;
      state = 'idle';
      schedule();
      onDrain();
    });
  }

  return {
    get length() {
      return waiting.length;
    },
    push: (item) => {
      if (state === 'closed') return;
      waiting.push(item);
      schedule();
    },
    drop: (item) => {
      const at = waiting.indexOf(item);
      if (at >= 0) waiting.splice(at, 1);
      return at >= 0;
    },
    close: () => {
      state = 'closed';
      return waiting.splice(0);
    },
  };
}
