import { randomInt, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { transaction } from '@longwave/postgres';
import { reopenStream } from '../src/streams/stream-table.ts';
import {
  episodeBody,
  newKey,
  signPayload,
  startExchange,
  writer,
  type Exchange,
  type Platform,
  type Sent,
  type Signed,
} from './_exchange.ts';

let exchange: Exchange;
beforeAll(async () => {
  exchange = await startExchange();
});
afterAll(() => exchange[Symbol.asyncDispose]());

const streams = 20;
const perStream = 230;
const senders = 8;

interface Chain {
  readonly host: Platform;
  readonly streamId: string;
  readonly messages: readonly Signed[];
  /** The highest sequence that an answer has shown as accepted. */
  known: number;
  /** How often the stream was held, and opened again. */
  holds: number;
}

type Wire = Record<string, unknown>;
interface Attempt {
  readonly wire: Wire;
  readonly sequence: number;
  /** What a refusal of exactly this message may be; undefined: it is valid. */
  readonly tampered?: readonly string[];
  /** Of a second message with a valid signature for a place, or an event, that another has. */
  readonly contradicts?: Signed;
}

const pick = <T>(all: readonly T[]): T => all[randomInt(all.length)]!;
const flipped = (text: string) => {
  const at = randomInt(text.length - 1);
  return text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1);
};
const foreignKey = newKey();

/** The digest that no message has. */
const nobody = `sha256:${'0'.repeat(64)}`;

/** A message with a valid signature beside the accepted ones: each is another, and proves that its key signed two. */
function contradict({ host, messages, known }: Chain): Attempt {
  const again = ({ payload }: Signed, changes: object) =>
    signPayload(host.key, { ...payload, event_id: randomUUID(), ...changes });
  const place = randomInt(known);
  // The next place is taken or free when it arrives: its message may be accepted by neither its history nor its event.
  const next = messages[Math.min(known, perStream - 1)]!;
  const kinds: readonly (() => readonly [code: string, contradicts: Signed])[] = [
    () => ['changed_duplicate', again(messages[place]!, {})],
    () => ['chain_fork', again(messages[Math.max(1, place)]!, { prev: nobody })],
    () => ['chain_fork', again(next, { prev: nobody })],
    () => ['changed_duplicate', again(next, { event_id: messages[place]!.payload.event_id, body: anotherBody() })],
  ];
  const [code, contradicts] = pick(kinds)();
  const { envelope, payload } = contradicts;
  return { wire: { ...envelope }, sequence: payload.seq, tampered: [code, 'stream_quarantined'], contradicts };
}
const anotherBody = () => ({ episode: episodeBody({ title_ref: randomUUID() }) });

/** A message that nobody may accept, and the codes by which it may be refused. */
function tamper(chain: Chain, { envelope, payload }: Signed): Attempt {
  if (chain.known > 1 && randomInt(4) === 0) return contradict(chain);
  const { host } = chain;
  const again = (changes: object) => ({ ...signPayload(host.key, { ...payload, ...changes }).envelope });
  const kinds: readonly (() => Omit<Attempt, 'sequence'>)[] = [
    () => ({ wire: { ...envelope, signature: flipped(envelope.signature) }, tampered: ['signature_invalid'] }),
    () => ({
      wire: { ...envelope, signature: signPayload(foreignKey, payload, host.key.id).envelope.signature },
      tampered: ['signature_invalid'],
    }),
    () => ({ wire: { ...signPayload(host.key, payload, newId('key')).envelope }, tampered: ['unknown_signing_key'] }),
    () => ({ wire: { ...envelope, header: {} }, tampered: ['unknown_field'] }),
    () => ({
      wire: { ...envelope, protected: Buffer.from('{"alg":"none"}').toString('base64url') },
      tampered: ['signature_profile_invalid'],
    }),
    () => ({ wire: again({ workspace_id: newId('ws') }), tampered: ['cross_workspace_identity'] }),
    () => ({ wire: again({ extra: 1 }), tampered: ['unknown_field'] }),
    () => ({ wire: again({ issued_at: '2026-11-25T12:10:00Z' }), tampered: ['clock_skew'] }),
    () => ({
      wire: again({ seq: 1, prev: payload.prev ?? nobody }),
      tampered: ['chain_genesis_invalid'],
    }),
  ];
  return { ...pick(kinds)(), sequence: payload.seq };
}

/** Messages about where the stream stands: some known, some to come, in any order, one in ten tampered with. */
function window(chain: Chain): Attempt[] {
  const from = Math.max(0, chain.known - randomInt(4));
  const size = 1 + randomInt(14);
  const attempts = chain.messages.slice(from, from + size).map((message): Attempt => {
    if (randomInt(10) === 0) return tamper(chain, message);
    return { wire: { ...message.envelope }, sequence: message.payload.seq };
  });
  // Mostly in order, as a sender that resumes does.
  if (randomInt(3) === 0) attempts.sort(() => randomInt(3) - 1);
  return attempts;
}

test('10,000 messages of 20 streams from 8 senders, shuffled, repeated and one in ten tampered with or signed twice: what is accepted is exactly each chain, and what contradicts it is kept', async () => {
  const hosts = await Promise.all(Array.from({ length: 5 }, () => exchange.platform()));
  const chains: Chain[] = Array.from({ length: streams }, (_, index) => {
    const host = hosts[index % hosts.length]!;
    const { write, streamId } = writer(host, `show:${index}`);
    const messages = Array.from({ length: perStream }, (__, at) =>
      write('content-snapshot/1', `ep-${index}-${at % 7}`, 1 + at, { episode: episodeBody() }),
    );
    return { host, streamId, messages, known: 0, holds: 0 };
  });
  const tokens = new Map(
    await Promise.all(hosts.map(async (host) => [host.clientId, await exchange.tokenOf(host)] as const)),
  );
  const acceptedOnce = new Map<string, number>();
  const wrong: unknown[] = [];
  let sentMessages = 0;

  const proofs = new Map<string, readonly [kind: string, accepted: string, Signed['envelope']]>();

  const send = ({ host }: Chain, wires: readonly Wire[]) =>
    exchange.request(host, 'POST', `/workspaces/${host.workspaceId}/messages`, {
      body: { messages: wires },
      token: tokens.get(host.clientId)!,
    });

  /** A held stream takes nothing new and still answers duplicates, until somebody opens it. */
  async function checkHold(chain: Chain): Promise<void> {
    const { host, messages, streamId } = chain;
    chain.holds += 1;
    const changed = signPayload(host.key, { ...messages[0]!.payload, body: anotherBody() });
    const held = await send(chain, [{ ...changed.envelope }]);
    const duplicate = await send(chain, [{ ...messages[0]!.envelope }]);
    if (held.status !== 423 || duplicate.status !== 200) wrong.push({ held, duplicate });
    // Contradictions from now on are later than the opening.
    const openedAt = new Date(exchange.clock.now.getTime() + 1);
    exchange.clock.now = new Date(openedAt.getTime() + 1);
    await transaction(exchange.pool, (tx) =>
      reopenStream(tx, { workspaceId: host.workspaceId, streamId }, { operatorReason: 'Looked into.' }, openedAt),
    );
  }

  /** Keeps what a contradiction is refused with; answers whether it holds the stream. */
  function checkContradiction(contradicts: Signed, body: Sent['body']): boolean {
    const { code, accepted_digest: accepted, received_digest: received, contradictions, held_at: limit } = body;
    if (received !== contradicts.digest || limit !== 3) wrong.push(body);
    proofs.set(contradicts.digest, [String(code), String(accepted), contradicts.envelope]);
    return contradictions === limit;
  }

  /** Answers whether the stream is held now. */
  function check(chain: Chain, attempts: readonly Attempt[], { status, body }: Sent): boolean {
    const results = (body['results'] ?? []) as { sequence: number; digest: string; status: string }[];
    for (const { digest, status: outcome, sequence } of results) {
      if (outcome === 'accepted') acceptedOnce.set(digest, (acceptedOnce.get(digest) ?? 0) + 1);
      chain.known = Math.max(chain.known, sequence);
    }
    if (status < 300) return false;
    const refused = attempts[Number(body['index'])];
    const code = String(body['code']);
    // Everything before the refused one was valid.
    if (attempts.slice(0, results.length).some(({ tampered }) => tampered)) wrong.push({ before: code });
    // A message out of its turn is a gap, whatever else is wrong with its content.
    const expected = refused?.tampered ?? ['chain_gap', 'stream_quarantined'];
    if (!expected.includes(code)) wrong.push({ code, expected, body });
    if (code === 'stream_quarantined') return false;
    if (code === 'chain_gap' && !(Number(body['expected_seq']) <= Number(refused?.sequence))) wrong.push(body);
    return refused?.contradicts !== undefined && checkContradiction(refused.contradicts, body);
  }

  async function sender(): Promise<void> {
    for (;;) {
      const open = chains.filter(({ known }) => known < perStream);
      if (open.length === 0 && sentMessages >= 10_000) return;
      const chain = pick(open.length > 0 ? open : chains);
      const attempts = window(chain);
      if (attempts.length === 0) continue;
      sentMessages += attempts.length;
      const wires = attempts.map(({ wire }) => wire);
      if (check(chain, attempts, await send(chain, wires))) await checkHold(chain);
    }
  }
  await Promise.all(Array.from({ length: senders }, sender));

  expect(wrong).toEqual([]);
  expect(sentMessages).toBeGreaterThanOrEqual(10_000);
  const { rows } = await exchange.pool.query<{ stream_id: string; digests: string[]; states: string[] }>(
    `select stream_id, array_agg(digest order by sequence) as digests, array_agg(distinct state) as states
     from message group by workspace_id, stream_id`,
  );
  const stored = new Map(rows.map((row) => [row.stream_id, row]));
  for (const { streamId, messages } of chains) {
    expect(stored.get(streamId)?.digests).toEqual(messages.map(({ digest }) => digest));
    expect(stored.get(streamId)?.states).toEqual(['accepted']);
  }
  expect(rows).toHaveLength(streams);
  expect([...acceptedOnce.values()].every((times) => times === 1)).toBe(true);
  // What was refused as a contradiction, and nothing else, is kept as proof.
  const kept = await exchange.pool.query<{ digest: string; kind: string; accepted: string } & Signed['envelope']>(
    'select digest, kind, accepted_digest as accepted, protected, payload, signature from equivocation',
  );
  const asProof = ({ digest, kind, accepted, ...envelope }: (typeof kept.rows)[number]) =>
    [digest, [kind, accepted, envelope]] as const;
  expect(new Map(kept.rows.map(asProof))).toEqual(proofs);
  const all = new Set(chains.flatMap(({ messages }) => messages.map(({ digest }) => digest)));
  expect([...proofs.values()].filter(([, accepted]) => !all.has(accepted))).toEqual([]);
  expect(new Set([...proofs.values()].map(([kind]) => kind))).toEqual(new Set(['changed_duplicate', 'chain_fork']));
  expect(chains.reduce((sum, { holds }) => sum + holds, 0)).toBeGreaterThan(0);
  // Each command ran once, under its message's digest.
  const keys = exchange.commands.log.map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys).toHaveLength(streams * perStream);
}, 120_000);
