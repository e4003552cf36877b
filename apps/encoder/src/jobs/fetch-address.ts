import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GuardedFetch } from '@longwave/guarded-fetch';
import { Problem } from '@longwave/problems';
import { MediaFault } from '../media/media-fault.ts';
import { checkFreeDisk, tooManyBytes, type FetchedFile, type FetchOptions } from './fetch-source.ts';

const timeoutMs = 2 * 3_600_000;
const maxTries = 3;
/** The free disk is checked again after so many bytes of a file of unknown length. */
const diskStepBytes = 256 * 1024 * 1024;

/** A failure of the host that another try may not meet. */
class HostTrouble extends Error {}

/** What the host of a file has said of it. */
export interface DeclaredFile {
  /** Lower-case hex. */
  readonly sha256: string;
  readonly size_bytes: number;
}

/**
 * Downloads a file from an address that a client named into `target`, with two more tries when the host breaks off or is in trouble.
 * Throws `MediaFault` when it cannot be fetched or is not the declared one, a plain error when the disk is full, the signal's reason when aborted.
 */
export async function fetchAddress(
  guardedFetch: GuardedFetch,
  url: string,
  target: string,
  options: FetchOptions & {
    readonly declared?: DeclaredFile | undefined;
    /** Before the second try; longer before the third. */
    readonly pauseMs?: number;
  },
): Promise<FetchedFile> {
  const { signal, pauseMs = 1_000 } = options;
  for (let tried = 1; ; tried++) {
    try {
      return await fetchOnce(guardedFetch, url, target, options);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof HostTrouble)) throw error;
      if (tried === maxTries) throw new MediaFault('media_not_fetchable', error.message, error);
      await sleep(pauseMs * tried * tried, undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
}

async function fetchOnce(
  guardedFetch: GuardedFetch,
  url: string,
  target: string,
  { maxBytes, signal, onProgress, declared }: FetchOptions & { readonly declared?: DeclaredFile | undefined },
): Promise<FetchedFile> {
  using response = await guardedFetch(url, { maxBytes, timeoutMs, signal }).catch(rejectFetch);
  if (response.status >= 500 || response.status === 429) throw new HostTrouble(answered(response.status));
  if (response.status !== 200) throw new MediaFault('media_not_fetchable', answered(response.status));
  const announced = Number(response.headers['content-length'] ?? Number.NaN);
  const isPlain = response.headers['content-encoding'] === undefined;
  if (isPlain && !Number.isNaN(announced)) checkSize(announced, declared);
  if (announced > maxBytes) throw tooManyBytes(maxBytes);
  await checkFreeDisk(target, announced || 0);

  const hash = createHash('sha256');
  let received = 0;
  let checkedAt = announced || 0;
  await pipeline(
    async function* () {
      try {
        for await (const chunk of response.body) {
          received += chunk.length;
          if (declared && received > declared.size_bytes)
            throw notAsDeclared(`more than ${inBytes(declared)}`, declared);
          if (received > checkedAt + diskStepBytes) {
            await checkFreeDisk(target, 0);
            checkedAt = received;
          }
          hash.update(chunk);
          if (announced > 0) onProgress(received / announced);
          yield chunk;
        }
      } catch (error) {
        await rejectFetch(error);
      }
    },
    createWriteStream(target),
    { signal },
  );
  if (received === 0) throw new MediaFault('media_empty', 'The file at this address is empty.');
  checkSize(received, declared);
  const sha256 = hash.digest('hex');
  if (declared && declared.sha256 !== sha256) throw notAsDeclared(`the SHA-256 ${sha256}`, declared);
  return { sizeBytes: received, sha256 };
}

const inEnglish = new Intl.NumberFormat('en');
const inBytes = ({ size_bytes: bytes }: DeclaredFile) => `${inEnglish.format(bytes)} bytes`;

const notAsDeclared = (found: string, declared: DeclaredFile): MediaFault =>
  new MediaFault(
    'media_not_as_declared',
    `The host has declared a file with ${inBytes(declared)} and the SHA-256 ${declared.sha256}, but the address answers with ${found}. Declare the file that is there.`,
  );

/** Throws a `MediaFault` when a file has another length than its host has declared. */
function checkSize(sizeBytes: number, declared: DeclaredFile | undefined): void {
  if (declared && declared.size_bytes !== sizeBytes)
    throw notAsDeclared(`${inEnglish.format(sizeBytes)} bytes`, declared);
}

const answered = (status: number) => `The address answers with status ${status}. Check it, or upload the file instead.`;

/** A refusal of the guarded fetch is final, unless the host was only out of reach. */
function rejectFetch(error: unknown): Promise<never> {
  if (!(error instanceof Problem)) return Promise.reject(error);
  return Promise.reject(
    error.context.cause === undefined
      ? new MediaFault('media_not_fetchable', error.message, error)
      : new HostTrouble(error.message, { cause: error }),
  );
}
