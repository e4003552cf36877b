import { ApiProblem } from '../problems.ts';
import type { Grants } from './grants.ts';
import { completionDocument, grantKeyOf, partsAtOnce, planParts, storedBytes, type Part } from './plan-upload.ts';
import { isGone, postCompletion, putBytes, StoreFault } from './put-part.ts';
import { withTries, type Conditions, type Patience } from './tries.ts';
import type { KeptGrant, StoredUpload } from './upload-state.ts';

/** Grants under which one file is tried: one that nobody used ends after a day. */
const roundsMax = 4;

export interface Sending {
  readonly grants: Grants;
  readonly conditions: Conditions;
  readonly patience: Patience;
  /** Keeps how far the upload is. */
  readonly save: (upload: StoredUpload) => Promise<void>;
  /** Gets the bytes of the file that have gone. */
  readonly onProgress: (sent: number) => void;
  readonly signal: AbortSignal;
}

/** The grant has ended: its parts are gone, and another one begins anew. */
class GrantEnded extends Error {}

/** The file on disk was changed, moved or taken away since it was chosen: a browser does not read it any more. */
export class FileChanged extends Error {
  override readonly name = 'FileChanged';
}

async function assertReadable(file: Blob): Promise<void> {
  await file
    .slice(0, 1)
    .arrayBuffer()
    .catch((cause: unknown) => {
      throw new FileChanged('The file cannot be read any more', { cause });
    });
}

/** A refused grant: it may have ended, which a grant under another key shows. */
const askGrant = ({ grants, signal }: Sending, upload: StoredUpload) =>
  grants.grant(upload, grantKeyOf(upload.id, upload.round), signal).catch((cause: unknown) => {
    throw isStatus(cause, 422) ? new GrantEnded('The grant was refused', { cause }) : cause;
  });

const isStatus = (error: unknown, status: number) => error instanceof ApiProblem && error.status === status;

/** What the store or the server says when a multipart upload is over, or a part of it is lost. */
const isOver = (error: unknown) => isStatus(error, 422) || (error instanceof StoreFault && isGone(error));

/** A file of 30 MB and less: one PUT, whose address comes with the grant. */
async function sendWhole(file: Blob, upload: StoredUpload, sending: Sending): Promise<void> {
  const { conditions, signal, onProgress } = sending;
  const attempt = async () => {
    const { upload_url, content_type } = await askGrant(sending, upload);
    onProgress(0);
    await assertReadable(file);
    await putBytes(upload_url, file, { headers: { 'Content-Type': content_type }, signal, onProgress });
  };
  await withTries(attempt, conditions, sending);
}

type Multipart = NonNullable<KeptGrant['multipart']>;

/** Sends the parts that the store does not have yet. Each is kept with its ETag; answers the upload with all of them. */
async function sendParts(
  file: Blob,
  stored: StoredUpload,
  multipart: Multipart,
  sending: Sending,
): Promise<StoredUpload> {
  const { grants, conditions, patience, save, onProgress } = sending;
  const parts = planParts(stored.size, multipart.part_size);
  const waiting = parts.filter(({ number }) => stored.etags[number] === undefined);
  const underway = new Map<number, number>();
  let upload = stored;
  const stop = new AbortController();
  const signal = AbortSignal.any([sending.signal, stop.signal]);
  const note = (number: number, sent: number) => {
    underway.set(number, sent);
    onProgress(storedBytes(parts, upload.etags) + [...underway.values()].reduce((sum, each) => sum + each, 0));
  };
  const sendPart = async ({ number, from, to }: Part) => {
    note(number, 0);
    // A new address for each try: the former one may be what was refused.
    const url = await grants.partUrl(multipart, number, signal);
    await assertReadable(file);
    return putBytes(url, file.slice(from, to), { signal, onProgress: (sent) => note(number, sent) });
  };
  const worker = async () => {
    for (let part = waiting.shift(); part; part = waiting.shift()) {
      const next = part;
      const etag = await withTries(() => sendPart(next), conditions, { signal, patience });
      underway.delete(next.number);
      upload = { ...upload, etags: { ...upload.etags, [next.number]: etag } };
      await save(upload);
    }
  };
  const workers = Array.from({ length: partsAtOnce }, worker);
  try {
    await Promise.all(workers);
  } catch (error) {
    stop.abort();
    // Nothing of this upload may be saved after its end.
    await Promise.allSettled(workers);
    throw error;
  }
  return upload;
}

async function sendInParts(file: Blob, upload: StoredUpload, multipart: Multipart, sending: Sending): Promise<void> {
  const { grants, conditions, signal } = sending;
  try {
    const { etags } = await sendParts(file, upload, multipart, sending);
    const join = async () =>
      postCompletion(await grants.completionUrl(multipart, signal), completionDocument(etags), signal);
    await withTries(join, conditions, sending);
  } catch (error) {
    if (!isOver(error)) throw error;
    // The parts may have been joined, and the answer lost.
    const size = await grants.storedSize(upload.grant?.file_url ?? '', signal).catch(() => undefined);
    if (size !== upload.size) throw new GrantEnded('The grant has ended', { cause: error });
  }
}

async function sendUnderGrant(file: Blob, stored: StoredUpload, sending: Sending): Promise<StoredUpload> {
  const { conditions, save } = sending;
  let upload = stored;
  if (!upload.grant) {
    const granted = await withTries(() => askGrant(sending, stored), conditions, sending);
    const { file_url, upload_key, part_size, multipart_upload_id } = granted;
    const isInParts = upload_key !== undefined && part_size !== undefined && multipart_upload_id !== undefined;
    const multipart = isInParts ? { upload_key, part_size, multipart_upload_id } : undefined;
    upload = { ...upload, grant: { file_url, ...(multipart && { multipart }) } };
    await save(upload);
  }
  const multipart = upload.grant?.multipart;
  await (multipart ? sendInParts(file, upload, multipart, sending) : sendWhole(file, upload, sending));
  const sent = { ...upload, isSent: true };
  await save(sent);
  return sent;
}

/**
 * Sends a file, or what the store does not have of it yet, and answers the upload once the store has it all. When the grant has ended meanwhile, it
 * begins anew under another one. What has failed is tried again as long as `patience` says.
 * @throws ApiProblem, StoreFault, FileChanged; the signal's reason after an abort
 */
export async function sendFile(file: Blob, stored: StoredUpload, sending: Sending): Promise<StoredUpload> {
  let upload = stored;
  for (;;) {
    try {
      return await sendUnderGrant(file, upload, sending);
    } catch (error) {
      const hasEnded = error instanceof GrantEnded;
      if (!hasEnded || upload.round + 1 === roundsMax) throw hasEnded ? error.cause : error;
      upload = { ...stored, round: upload.round + 1, grant: undefined, etags: {} };
    }
  }
}
