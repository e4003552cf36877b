import {
  isMessageSignedBy,
  messageDigestOf,
  parseEnvelope,
  parsePayload,
  parseProtectedHeader,
  tryParsePublicKey,
  type Message,
} from '@longwave/exchange-messages';
import type { JWK } from 'jose';
import { z } from 'zod';
import { provesMessage } from './accepted-command.ts';
import { storedMessage } from './answers.ts';
import { readCheckpoint, type CheckpointHead } from './checkpoint.ts';
import { readStatement, statementHash } from './signed-statement.ts';

export interface ExportedStream {
  /** The messages from the first on, as the exchange answered them. */
  readonly messages: readonly unknown[];
  /** Receipts of these messages, in any order. */
  readonly receipts: readonly { readonly id: string; readonly jws: string }[];
  /** Public keys of the authority, each with its `kid` (key_…). */
  readonly signers: readonly JWK[];
  /** The published keys of the exchange. */
  readonly keys: readonly JWK[];
  /** The document of the workspace's checkpoint. */
  readonly checkpoint?: unknown;
}

/** What was verified, or the first thing that is wrong. */
export type StreamVerification =
  | {
      readonly ok: true;
      readonly streamId: string;
      readonly messages: number;
      /** Digest of the last message. */
      readonly head: string;
      /** Receipts whose numbers are not behind the checkpoint's head; only the head itself is proved to be in it. Undefined without a checkpoint. */
      readonly underCheckpoint?: number;
    }
  | {
      readonly ok: false;
      /** Place of the first broken link; null when it is the checkpoint that is wrong. */
      readonly sequence: number | null;
      /** A sentence without its end: "message 7: its signature is not valid". */
      readonly problem: string;
    };

const statementSchema = z.object({
  id: z.string(),
  workspace_id: z.string(),
  command_type: z.string(),
  payload_digest: z.string(),
  subject: z.object({ type: z.string(), id: z.string() }),
  chain: z.object({ seq: z.int(), prev: z.string() }),
});

/** A verified message with its receipt. */
interface Link {
  readonly message: Message;
  readonly digest: string;
  readonly receipt: { readonly seq: number; readonly hash: string };
}

/** Checks a message alone: form, signature, digest. Throws what is wrong. */
function readMessage(stored: z.output<typeof storedMessage>, signers: readonly JWK[]) {
  const { protected: header, payload, signature, digest } = stored;
  const read = parseEnvelope({ protected: header, payload, signature });
  if (!read.ok) throw new Error('it is no signed message');
  const parsedHeader = parseProtectedHeader(header);
  if (!parsedHeader.ok) throw new Error('its header is not of the profile');
  const { kid } = parsedHeader.header;
  const jwk = signers.find((each) => each.kid === kid);
  const key = jwk?.x === undefined ? undefined : tryParsePublicKey(jwk.x);
  if (!key) throw new Error(`it is signed by an unknown key, “${kid}”`);
  if (!isMessageSignedBy(key, read.envelope)) throw new Error('its signature is not valid');
  if (messageDigestOf(header, payload) !== digest) throw new Error('its digest is not that of its bytes');
  const parsed = parsePayload(read.payload);
  if (!parsed.ok) throw new Error('its payload is not of its schema');
  return { kid, message: parsed.message };
}

/** Checks the place of a message behind the one before it. Throws what is wrong. */
function checkPlace(message: Message, sequence: number, before: Link | undefined): void {
  if (message.seq !== sequence) throw new Error(`it states place ${message.seq}`);
  if (message.prev !== (before?.digest ?? null)) throw new Error('it does not continue the message before');
  if (!before) return;
  for (const name of ['workspace_id', 'authority_id', 'stream_id'] as const)
    if (message[name] !== before.message[name]) throw new Error(`its ${name} is another one`);
  if (Date.parse(message.issued_at) < Date.parse(before.message.issued_at))
    throw new Error('it was issued before the message before it');
}

/** Checks the receipt of a message, and its place in the chain of receipts. Throws what is wrong. */
async function readReceipt(
  jws: string,
  keys: readonly JWK[],
  proves: { readonly id: string; readonly message: Message; readonly kid: string; readonly digest: string },
  before: Link | undefined,
): Promise<Link['receipt']> {
  const statement = statementSchema.safeParse(await readStatement(jws, keys, 'receipt+jwt'));
  if (!statement.success) throw new Error('it does not state what a receipt states');
  const { id, workspace_id: workspace, chain, ...command } = statement.data;
  if (id !== proves.id || workspace !== proves.message.workspace_id) throw new Error('it is another receipt');
  if (!provesMessage(command, proves.message, proves)) throw new Error('it proves another message');
  if (before && chain.seq <= before.receipt.seq) throw new Error('it stands before the receipt of the message before');
  if (before && chain.seq === before.receipt.seq + 1 && chain.prev !== before.receipt.hash)
    throw new Error('it does not continue the receipt before');
  return { seq: chain.seq, hash: statementHash(jws) };
}

async function verifyLink(
  item: unknown,
  sequence: number,
  before: Link | undefined,
  stream: ExportedStream,
): Promise<Link> {
  const parsed = storedMessage.safeParse(item);
  if (!parsed.success) throw new Error('it is no stored message');
  const { kid, message } = readMessage(parsed.data, stream.signers);
  checkPlace(message, sequence, before);
  const { receipt_id: id, digest } = parsed.data;
  const found = stream.receipts.find((each) => each.id === id);
  if (!found) throw new Error(`its receipt ${id} is missing`);
  const receipt = await readReceipt(found.jws, stream.keys, { id, message, kid, digest }, before).catch(
    (error: unknown) => {
      throw new Error(`receipt ${id}: ${(error as Error).message}`, { cause: error });
    },
  );
  return { message, digest, receipt };
}

/**
 * Verifies an exported stream without any service: every signature of the authority, the chain of messages, their digests, and the receipts
 * by which the exchange has confirmed each of them. Receipts of other parties lie between these and are not known here, so their chain is followed
 * only between neighbours. A checkpoint proves the head at its hour: a receipt with the head's number that is another one proves a rewritten history.
 */
export async function verifyStream(stream: ExportedStream): Promise<StreamVerification> {
  let signed: CheckpointHead | undefined;
  if (stream.checkpoint !== undefined)
    try {
      signed = await readCheckpoint(stream.checkpoint, stream.keys);
    } catch (error) {
      return { ok: false, sequence: null, problem: `checkpoint: ${(error as Error).message}` };
    }
  let last: Link | undefined;
  let covered = 0;
  for (const [index, item] of stream.messages.entries()) {
    const sequence = index + 1;
    const broken = (problem: string) => ({ ok: false, sequence, problem: `message ${sequence}: ${problem}` }) as const;
    try {
      last = await verifyLink(item, sequence, last, stream);
    } catch (error) {
      return broken((error as Error).message);
    }
    if (!signed) continue;
    if (signed.workspaceId !== last.message.workspace_id)
      return { ok: false, sequence: null, problem: 'checkpoint: it is of another workspace' };
    if (signed.seq === last.receipt.seq && signed.head !== last.receipt.hash)
      return broken('its receipt is not the one that the checkpoint contains');
    if (last.receipt.seq <= signed.seq) covered += 1;
  }
  if (!last) return { ok: false, sequence: 1, problem: 'message 1: it is missing' };
  return {
    ok: true,
    streamId: last.message.stream_id,
    messages: stream.messages.length,
    head: last.digest,
    ...(signed && { underCheckpoint: covered }),
  };
}
