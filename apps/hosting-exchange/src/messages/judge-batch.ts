import {
  classifyMessage,
  maxClockSkewSeconds,
  semanticErrors,
  type ChainVerdict,
  type Message,
} from '@longwave/exchange-messages';
import type { Transaction } from '@longwave/postgres';
import { Problem, type ProblemCode } from '@longwave/problems';
import { claimAddress, maxHosts } from './address-table.ts';
import { referencesOf, type BatchState } from './batch-state.ts';
import type { CheckedMessage } from './check-item.ts';
import type { FetchRules } from './fetch-rules.ts';

/** The client that sends a batch. */
export interface Sender {
  readonly workspaceId: string;
  readonly authorityId: string;
}

/** What became of a batch: the messages that it brought, those that were known, and the refusal of the first other one. */
export interface JudgedBatch {
  /** In the order of the batch. */
  readonly verdicts: readonly ('accept' | 'exact_duplicate')[];
  readonly accepted: readonly CheckedMessage[];
  /** Whether a rotation opened the stream again. */
  readonly reopens: boolean;
  readonly refusal?: Problem;
  /** The refused message, when it contradicts an accepted one. */
  readonly equivocation?: {
    readonly message: CheckedMessage;
    readonly kind: 'changed_duplicate' | 'chain_fork';
    readonly acceptedDigest: string;
  };
}

/**
 * Foreign and missing ids get the same answer, byte for byte: it says nothing about other workspaces.
 * @param path where the id stands in the message, or in the body (JSON Pointer)
 */
export function foreignIdentity(path: string): Problem {
  const detail = `The message names something that this authority does not have: ${path} is not sent yet, or belongs to another.`;
  const errors = [{ path, code: 'cross_workspace_identity', detail }];
  return new Problem('cross_workspace_identity', detail, { errors });
}

const wrong = (path: string, code: string, detail: string): Problem =>
  new Problem('validation_failed', detail, { errors: [{ path: `/payload${path}`, code, detail }] });

/** Rule 9. */
function checkIdentity(message: Message, sender: Sender, state: BatchState): void {
  if (message.workspace_id !== sender.workspaceId) throw foreignIdentity('/payload/workspace_id');
  if (message.authority_id !== sender.authorityId) throw foreignIdentity('/payload/authority_id');
  if (state.stream && state.stream.authorityId !== sender.authorityId) throw foreignIdentity('/payload/stream_id');
  if (message.schema === 'authority-rotation/1' && !state.hasKey(message.body.retire_kid))
    throw foreignIdentity('/payload/body/retire_kid');
  const missing = referencesOf(message).find((subject) => !state.has(subject));
  if (missing) throw foreignIdentity(`/payload${missing.path}`);
}

/** Rule 10; that a message is not older than the one before it, is a verdict of the chain. */
function checkTime({ issued_at: issuedAt }: Message, now: Date): void {
  if (Date.parse(issuedAt) <= now.getTime() + maxClockSkewSeconds * 1000) return;
  const detail = `The message is issued more than ${maxClockSkewSeconds} s after the clock of this service.`;
  const errors = [{ path: '/payload/issued_at', code: 'clock_skew', detail }];
  throw new Problem('clock_skew', detail, { errors, members: { server_time: now.toISOString() } });
}

/** Whether a message passes rules 6, 9 and 10, or did so when it was accepted. */
export function hasOrigin(checked: CheckedMessage, sender: Sender, state: BatchState, now: Date): boolean {
  const { message, digest } = checked;
  if (state.chainFor(checked).digestAt(message.seq) === digest) return true;
  if (checked.keyRefusal) return false;
  try {
    checkIdentity(message, sender, state);
    checkTime(message, now);
    return true;
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
}

/** The refusal of a verdict, with what the sender needs to go on. */
function chainProblem(
  verdict: Exclude<ChainVerdict, { verdict: 'accept' | 'exact_duplicate' }>,
  digest: string,
  stream: BatchState['stream'],
) {
  const refuse = (code: ProblemCode, detail: string, members: Record<string, unknown> = {}) =>
    new Problem(code, detail, { members });
  switch (verdict.verdict) {
    case 'chain_genesis_invalid':
      return refuse(verdict.verdict, '“prev” is null in the first message of a stream, and in no other.');
    case 'stream_quarantined':
      return stream?.isHeldByOperator
        ? refuse(verdict.verdict, 'The operator holds the stream, and alone opens it again.', { rotation_opens: false })
        : refuse(
            verdict.verdict,
            'The stream is held. Put another key in the place of the one that signed contradicting messages, or ask the operator.',
            { rotation_opens: true },
          );
    case 'changed_duplicate':
    case 'chain_fork': {
      const detail =
        verdict.verdict === 'chain_fork'
          ? 'The message does not follow the accepted one. Read the head of the stream.'
          : 'Another message was accepted in this place, or with this event_id.';
      return refuse(verdict.verdict, detail, {
        accepted_digest: verdict.acceptedDigest,
        received_digest: digest,
      });
    }
    case 'chain_gap':
      return refuse(verdict.verdict, `Message ${verdict.expectedSeq} is expected next.`, {
        expected_seq: verdict.expectedSeq,
        expected_prev: verdict.expectedPrev,
      });
    case 'source_version_regression':
      return refuse(verdict.verdict, `Version ${verdict.acceptedVersion} of this subject was accepted already.`, {
        accepted_version: verdict.acceptedVersion,
      });
    case 'source_revoked':
      return refuse(verdict.verdict, 'This version of the source was revoked. Send a newer one.');
    case 'clock_skew':
      return refuse(verdict.verdict, `The message before it was issued at ${verdict.notBefore}.`, {
        not_before: verdict.notBefore,
      });
  }
}

/** Throws unless an alias may have the state and the address that it names. */
async function checkAlias(
  tx: Transaction,
  message: Extract<Message, { schema: 'delivery-alias/1' }>,
  sender: Sender,
  state: BatchState,
  now: Date,
): Promise<void> {
  const { body } = message;
  const newest = state.newestAbout('alias', body.alias);
  const before = newest?.schema === 'delivery-alias/1' ? newest : undefined;
  if (before) {
    if (before.body.host !== body.host || before.body.path_slug !== body.path_slug)
      throw wrong('/body/path_slug', 'address_changed', 'An alias keeps its address for ever. Register another alias.');
    if (before.body.state === 'retired')
      throw new Problem('state_not_allowed', 'The alias is retired, which cannot be undone.');
  }
  const superseded = before?.subject.source_version ?? null;
  if (body.supersedes_version !== superseded)
    throw wrong(
      '/body/supersedes_version',
      'superseded_version',
      superseded === null ? 'The first version of an alias supersedes none.' : `The alias has version ${superseded}.`,
    );
  const surface = state.newestAbout('surface', body.route_policy.surface_id);
  const until = surface?.schema === 'surface-capability/1' ? surface.body.valid_until : undefined;
  const surfaceId = body.route_policy.surface_id;
  const isActivated =
    body.state === 'active' && (before?.body.state !== 'active' || before.body.route_policy.surface_id !== surfaceId);
  if (isActivated && until !== undefined && Date.parse(until) <= now.getTime())
    throw new Problem(
      'capability_not_supported',
      `The capability of the surface “${surfaceId}” is not current. Declare it anew before you activate the alias.`,
    );
  const taken = await claimAddress(tx, sender, body);
  if (taken === 'host') throw foreignIdentity('/payload/body/host');
  if (taken === 'too_many_hosts')
    throw new Problem(
      'policy_rejected',
      `A workspace has at most ${maxHosts} hosts. Register the alias at one that you have.`,
    );
  if (taken === 'address')
    throw wrong('/body/path_slug', 'value_taken', 'This address belongs to another alias, or did.');
}

/** Rule 13, and what a subject's earlier versions ask. */
async function checkMeaning(
  tx: Transaction,
  { message, keyId }: CheckedMessage,
  sender: Sender,
  state: BatchState,
  options: { readonly now: Date; readonly fetchRules: FetchRules },
): Promise<void> {
  const errors = semanticErrors(message, { kid: keyId, ...options.fetchRules }).map((error) => ({
    ...error,
    path: `/payload${error.path}`,
  }));
  if (errors.length > 0) throw new Problem('validation_failed', errors[0]!.detail, { errors });
  if (message.schema === 'delivery-alias/1') await checkAlias(tx, message, sender, state, options.now);
}

/**
 * Judges the messages of a batch in their order, each against what those before it brought, and stops at the first that is refused
 * (rules 9, 10, 12 and 13 of docs/hosting-exchange.md, and rule 6 of one that was known and is no duplicate).
 */
export async function judgeBatch(
  tx: Transaction,
  batch: readonly CheckedMessage[],
  sender: Sender,
  state: BatchState,
  options: { readonly now: Date; readonly fetchRules: FetchRules },
): Promise<JudgedBatch> {
  const verdicts: ('accept' | 'exact_duplicate')[] = [];
  const accepted: CheckedMessage[] = [];
  let reopens = false;
  const ended = (rest: Pick<JudgedBatch, 'refusal' | 'equivocation'> = {}) => ({
    ...{ verdicts, accepted, reopens },
    ...rest,
  });
  for (const checked of batch) {
    const { message, digest } = checked;
    const incoming = {
      seq: message.seq,
      prev: message.prev,
      digest,
      sourceVersion: message.subject.source_version,
      isSnapshot: message.schema === 'content-snapshot/1',
      issuedAt: message.issued_at,
    };
    const verdict = classifyMessage(state.chainFor(checked), incoming);
    if (verdict.verdict === 'exact_duplicate') {
      verdicts.push('exact_duplicate');
      continue;
    }
    if (checked.keyRefusal) return ended({ refusal: checked.keyRefusal });
    try {
      checkIdentity(message, sender, state);
      checkTime(message, options.now);
      if (verdict.verdict !== 'accept') {
        const refusal = chainProblem(verdict, digest, state.stream);
        if (verdict.verdict !== 'changed_duplicate' && verdict.verdict !== 'chain_fork') return ended({ refusal });
        const { acceptedDigest } = verdict;
        return ended({ refusal, equivocation: { message: checked, kind: verdict.verdict, acceptedDigest } });
      }
      await checkMeaning(tx, checked, sender, state, options);
      if (verdict.reopens) {
        reopens = true;
        state.open();
      }
    } catch (error) {
      if (error instanceof Problem) return ended({ refusal: error });
      throw error;
    }
    verdicts.push('accept');
    accepted.push(checked);
    state.add(checked);
  }
  return ended();
}
