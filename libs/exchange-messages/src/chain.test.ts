import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { classifyMessage, type ChainVerdict, type IncomingMessage, type StreamState } from './chain.ts';
import { messageDigestOf } from './digest.ts';
import { tryParsePublicKey } from './ed25519.ts';
import { isMessageSignedBy, signMessage, type Envelope } from './envelope.ts';

const issued = (minute: number) => new Date(Date.UTC(2026, 10, 22, 10, minute)).toISOString();

/** A stream whose accepted digests are `c1` … `c{height}`, issued a minute apart. */
const streamOf = (height: number): StreamState => ({
  head: height === 0 ? undefined : { seq: height, digest: `c${height}`, issuedAt: issued(height) },
  digestAt: (seq) => (seq >= 1 && seq <= height ? `c${seq}` : undefined),
  quarantined: false,
  reopens: false,
  subject: { acceptedVersion: 7, revokedVersions: [] },
});

const messageOf = (seq: number, prev: string | null, digest: string): IncomingMessage => ({
  ...{ seq, prev, digest },
  ...{ sourceVersion: 8, isSnapshot: true, issuedAt: issued(seq) },
});

/** A row for each height and sequence; columns for (prev, digest): as in the chain, or other. */
const table = `
  H s | as as | as other | other as | other other
  0 1 | accept | accept | genesis | genesis
  0 2 | gap | gap | gap | gap
  0 3 | gap | gap | gap | gap
  0 4 | gap | gap | gap | gap
  0 5 | gap | gap | gap | gap
  1 1 | duplicate | changed | genesis | genesis
  1 2 | accept | accept | fork | fork
  1 3 | gap | gap | gap | gap
  1 4 | gap | gap | gap | gap
  1 5 | gap | gap | gap | gap
  2 1 | duplicate | changed | genesis | genesis
  2 2 | duplicate | changed | duplicate | fork
  2 3 | accept | accept | fork | fork
  2 4 | gap | gap | gap | gap
  2 5 | gap | gap | gap | gap`;

const short: Readonly<Record<ChainVerdict['verdict'], string>> = {
  ...{ accept: 'accept', exact_duplicate: 'duplicate', changed_duplicate: 'changed', chain_fork: 'fork' },
  ...{ chain_gap: 'gap', chain_genesis_invalid: 'genesis', stream_quarantined: 'quarantined' },
  ...{ source_version_regression: 'regression', source_revoked: 'revoked', clock_skew: 'clock' },
};

const link = (seq: number) => (seq === 1 ? null : `c${seq - 1}`);

const cases = table
  .trim()
  .split('\n')
  .slice(1)
  .flatMap((row) => {
    const [place, ...verdicts] = row.split('|').map((cell) => cell.trim());
    const [height, seq] = place!.split(' ').map(Number) as [number, number];
    return [link(seq), 'y'].flatMap((prev, row) =>
      [`c${seq}`, 'x'].map((digest, column) => ({ height, seq, prev, digest, verdict: verdicts[2 * row + column]! })),
    );
  });

test('the table names 60 cases', () => {
  expect(cases).toHaveLength(60);
});

test.each(cases)('H=$height, s=$seq, p=$prev, d=$digest: $verdict', ({ height, seq, prev, digest, verdict }) => {
  expect(short[classifyMessage(streamOf(height), messageOf(seq, prev, digest)).verdict]).toBe(verdict);
});

interface Situation {
  readonly H: number;
  readonly s: number;
  readonly p: string | null;
  readonly d: string;
  readonly quarantined: boolean;
  readonly reopens: boolean;
  readonly version: number;
  readonly revoked: boolean;
  readonly isSnapshot: boolean;
  readonly event: string | undefined;
  readonly early: boolean;
}

const h = (n: number) => link(n + 1);
const eventIsOther = ({ event, d }: Situation) => event !== undefined && event !== d;
const isNext = ({ H, s, p }: Situation) => s === H + 1 && p === h(H);

/** The conditions of the published table, each for itself, in the order of their precedence. */
const rows: readonly (readonly [ChainVerdict['verdict'], (situation: Situation) => boolean])[] = [
  ['chain_genesis_invalid', ({ s, p }) => (s === 1 && p !== null) || (s > 1 && p === null)],
  ['exact_duplicate', ({ H, s, d }) => s <= H && d === h(s)],
  ['stream_quarantined', ({ quarantined, reopens }) => quarantined && !reopens],
  [
    'changed_duplicate',
    (situation) => {
      const { H, s, p, d } = situation;
      return (s <= H && d !== h(s) && p === h(s - 1)) || eventIsOther(situation);
    },
  ],
  ['chain_fork', ({ H, s, p, d }) => (s <= H && d !== h(s) && p !== h(s - 1)) || (s === H + 1 && p !== h(H))],
  ['chain_gap', ({ H, s }) => s > H + 1],
  ['source_version_regression', ({ version }) => version <= 7],
  ['source_revoked', ({ revoked, isSnapshot }) => revoked && isSnapshot],
  ['clock_skew', ({ H, early }) => H > 0 && early],
  ['accept', isNext],
];

const each = <T, U>(values: readonly T[], make: (value: T) => readonly U[]): U[] => values.flatMap(make);
const both = [false, true];

const places = each([0, 1, 2, 3], (H) =>
  each([1, 2, 3, 4, 5], (s) =>
    each([null, 'c1', 'c2', 'c3', 'c4', 'y'], (p) => ['c1', 'c2', 'c3', 'c4', 'c5', 'x'].map((d) => ({ H, s, p, d }))),
  ),
);
const circumstances = each(both, (quarantined) =>
  each(both, (reopens) =>
    each([6, 7, 8], (version) =>
      each(both, (revoked) =>
        each(both, (isSnapshot) =>
          each([undefined, 'x', 'c2'], (event) =>
            both.map((early) => ({ quarantined, reopens, version, revoked, isSnapshot, event, early })),
          ),
        ),
      ),
    ),
  ),
);

const classify = (situation: Situation): ChainVerdict => {
  const { H, s, p, d, quarantined, reopens, version, revoked, isSnapshot, event, early } = situation;
  const subject = { acceptedVersion: 7, revokedVersions: revoked ? [3, version] : [3] };
  const state = { ...streamOf(H), quarantined, reopens, subject, knownEventDigest: event };
  return classifyMessage(state, {
    ...{ seq: s, prev: p, digest: d, sourceVersion: version, isSnapshot },
    issuedAt: issued(early ? H - 1 : H),
  });
};

describe('the truth table', () => {
  test('gives every combination the first of its rows, and at least one row fits each', () => {
    const wrong = places.flatMap((place) =>
      circumstances.flatMap((circumstance) => {
        const situation = { ...place, ...circumstance };
        const expected = rows.find(([, holds]) => holds(situation))?.[0];
        const { verdict } = classify(situation);
        return verdict === expected ? [] : [{ situation, expected, verdict }];
      }),
    );
    expect(places.length * circumstances.length).toBe(207_360);
    expect(wrong.slice(0, 5)).toEqual([]);
  });

  test('has rows for the history that exclude each other, but that a wrong beginning may fit others, too', () => {
    const history = ['exact_duplicate', 'changed_duplicate', 'chain_fork', 'chain_gap', 'accept'];
    const calm = { ...{ quarantined: false, reopens: false, version: 8, revoked: false }, early: false };
    for (const place of places) {
      const situation = { ...place, ...calm, isSnapshot: true, event: undefined };
      const fitting = rows.filter(([name, holds]) => history.includes(name) && holds(situation));
      expect(fitting).toHaveLength(1);
    }
  });

  test('accepts nothing but the next message', () => {
    for (const place of places)
      for (const circumstance of circumstances)
        if (classify({ ...place, ...circumstance }).verdict === 'accept')
          expect(isNext({ ...place, ...circumstance })).toBe(true);
  });
});

describe('a verdict names what its sender needs', () => {
  const verdictOf = (seq: number, prev: string | null, state: Partial<StreamState> = {}, height = 2) =>
    classifyMessage({ ...streamOf(height), ...state }, messageOf(seq, prev, 'x'));

  test.each<[string, ChainVerdict, ChainVerdict]>([
    ['a gap', verdictOf(4, 'c3'), { verdict: 'chain_gap', expectedSeq: 3, expectedPrev: 'c2' }],
    ['a gap at the beginning', verdictOf(2, 'c1', {}, 0), { verdict: 'chain_gap', expectedSeq: 1, expectedPrev: null }],
    ['a changed message', verdictOf(2, 'c1'), { verdict: 'changed_duplicate', acceptedDigest: 'c2' }],
    [
      'a known event in another message',
      verdictOf(3, 'c2', { knownEventDigest: 'c9' }),
      { verdict: 'changed_duplicate', acceptedDigest: 'c9' },
    ],
    ['a fork in the past', verdictOf(2, 'y'), { verdict: 'chain_fork', acceptedDigest: 'c2' }],
    ['a fork at the head', verdictOf(3, 'y'), { verdict: 'chain_fork', acceptedDigest: 'c2' }],
    [
      'a version that is not newer',
      verdictOf(3, 'c2', { subject: { acceptedVersion: 8, revokedVersions: [] } }),
      { verdict: 'source_version_regression', acceptedVersion: 8 },
    ],
    [
      'a message issued before its predecessor',
      verdictOf(3, 'c2', { head: { seq: 2, digest: 'c2', issuedAt: '2026-11-22T11:03:00.001+01:00' } }),
      { verdict: 'clock_skew', notBefore: '2026-11-22T11:03:00.001+01:00' },
    ],
    [
      'a rotation that ends a hold',
      verdictOf(3, 'c2', { quarantined: true, reopens: true }),
      { verdict: 'accept', reopens: true },
    ],
    ['the next message', verdictOf(3, 'c2'), { verdict: 'accept', reopens: false }],
  ])('%s', (_name, verdict, expected) => {
    expect(verdict).toEqual(expected);
  });
});

describe('a stream', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const key = tryParsePublicKey(publicKey.export({ format: 'jwk' }).x!)!;
  const kid = `key_${'0'.repeat(26)}`;
  interface Fields {
    readonly seq: number;
    readonly prev: string | null;
    readonly text: string;
  }
  const send = (fields: Fields) => signMessage(JSON.stringify(fields), privateKey, kid);
  const digestOf = ({ protected: header, payload }: Envelope) => messageDigestOf(header, payload);
  const chainOf = (length: number): Envelope[] => {
    const chain: Envelope[] = [];
    for (let seq = 1; seq <= length; seq++)
      chain.push(send({ seq, prev: seq === 1 ? null : digestOf(chain.at(-1)!), text: 'true' }));
    return chain;
  };

  /** Accepts messages as a receiver does: signature first, then the chain. */
  function receive(accepted: Envelope[], envelope: Envelope): string {
    if (!isMessageSignedBy(key, envelope)) return 'signature_invalid';
    const { seq, prev } = JSON.parse(Buffer.from(envelope.payload, 'base64url').toString()) as Fields;
    const digests = accepted.map(digestOf);
    const head = { seq: accepted.length, digest: digests.at(-1)!, issuedAt: issued(0) };
    const state = {
      ...{ head: accepted.length > 0 ? head : undefined, digestAt: (n: number) => digests[n - 1] },
      ...{ quarantined: false, reopens: false, subject: { acceptedVersion: seq - 1, revokedVersions: [] } },
    };
    const message = { seq, prev, digest: digestOf(envelope), sourceVersion: seq, isSnapshot: true };
    const { verdict } = classifyMessage(state, { ...message, issuedAt: issued(0) });
    if (verdict === 'accept') accepted.push(envelope);
    return verdict;
  }

  test('takes exactly the valid chain, however its messages are mixed, repeated and tampered with', () => {
    const length = 5;
    const chain = chainOf(length);
    const delivery = fc.record({
      at: fc.nat(length - 1),
      kind: fc.constantFrom('as sent', 'as sent', 'other payload', 'other signature', 'other header', 'other history'),
    });
    const deliver = ({ at, kind }: { at: number; kind: string }): Envelope => {
      const sent = chain[at]!;
      const other = chain[(at + 1) % length]!;
      if (kind === 'other payload') return { ...sent, payload: other.payload };
      if (kind === 'other signature') return { ...sent, signature: other.signature };
      if (kind === 'other header') return { ...sent, protected: Buffer.from('{}').toString('base64url') };
      // Signed as well, but of a history that never was: only a beginning could be accepted.
      if (kind === 'other history' && at > 0)
        return send({ seq: at + 1, prev: `sha256:${'0'.repeat(64)}`, text: 'fork' });
      return sent;
    };
    fc.assert(
      fc.property(fc.array(delivery, { maxLength: 40 }), (deliveries) => {
        const accepted: Envelope[] = [];
        for (const each of deliveries) {
          const before = accepted.length;
          const verdict = receive(accepted, deliver(each));
          if (each.kind !== 'as sent' && each.kind !== 'other history') expect(verdict).toBe('signature_invalid');
          expect(accepted.length).toBe(before + (verdict === 'accept' ? 1 : 0));
          expect(accepted).toEqual(chain.slice(0, accepted.length));
        }
        for (const envelope of chain) expect(receive(accepted, envelope)).toMatch(/^(accept|exact_duplicate)$/);
        expect(accepted).toEqual(chain);
      }),
    );
  });

  test('proves a sender that signs two messages for one position, and keeps the first', () => {
    const chain = chainOf(3);
    const accepted = [...chain];
    const rewritten = send({ seq: 2, prev: digestOf(chain[0]!), text: 'rewritten' });
    expect(receive(accepted, rewritten)).toBe('changed_duplicate');
    expect(receive(accepted, send({ seq: 3, prev: digestOf(rewritten), text: 'after it' }))).toBe('chain_fork');
    expect(receive(accepted, send({ seq: 4, prev: digestOf(rewritten), text: 'after it' }))).toBe('chain_fork');
    expect(accepted).toEqual(chain);
  });
});
