import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { MachineKey } from '../src/authorities/machine-key-table.ts';
import { createBatchState } from '../src/messages/batch-state.ts';
import { checkItem, openItem, type CheckedMessage } from '../src/messages/check-item.ts';
import { createFetchRules } from '../src/messages/fetch-rules.ts';
import { judgeBatch } from '../src/messages/judge-batch.ts';
import { subjectKey } from '../src/messages/message-table.ts';
import {
  episodeBody,
  newKey,
  now,
  startExchange,
  writer,
  type Exchange,
  type Platform,
  type Sent,
  type Signed,
} from './_exchange.ts';

let exchange: Exchange;
let host: Platform;
const retiredKey = newKey();
beforeAll(async () => {
  exchange = await startExchange();
  host = await exchange.platform();
});
afterAll(() => exchange[Symbol.asyncDispose]());

const moment = (seconds: number) => new Date(now.getTime() + seconds * 1000);
const valid = { notBefore: moment(-3600), notAfter: moment(3600) };

/** A key in each of its states, and active ones outside of their time. */
const keyStates = [
  ...(['pending', 'active', 'retiring', 'revoked', 'expired'] as const).map((state) => ({ state, ...valid })),
  { state: 'active', notBefore: moment(1), notAfter: moment(3600) },
  { state: 'retiring', notBefore: moment(-3600), notAfter: moment(-1) },
];

/** A message in its situation: H is the head, s its sequence, p its prev and d its digest, as in the published table. */
interface Situation {
  readonly H: number;
  readonly s: number;
  readonly p: 'as accepted' | 'other' | 'null';
  readonly d: 'as accepted' | 'other';
  readonly isRotation: boolean;
  readonly isHeld: boolean;
  /** Its key signed what holds the stream. */
  readonly isEquivocating: boolean;
  /** The newest accepted version of its subject, beside its own. */
  readonly accepted: 'older' | 'equal' | 'newer';
  readonly isRevoked: boolean;
  /** Another message has its event id. */
  readonly hasUsedEvent: boolean;
  /** Issued before the head. */
  readonly isEarly: boolean;
  readonly key: (typeof keyStates)[number];
  /** Somebody found it among the accepted messages before the stream was locked. */
  readonly isKnown: boolean;
}

const isDuplicate = ({ d }: Situation) => d === 'as accepted';
const isInForce = ({ key: { state, notBefore, notAfter } }: Situation) =>
  (state === 'active' || state === 'retiring') && notBefore <= now && now < notAfter;

/** The published precedence: the first row that holds is the verdict. */
const precedence: readonly (readonly [verdict: string, holds: (situation: Situation) => boolean])[] = [
  ['key_revoked', (at) => !isInForce(at) && !(at.isKnown && isDuplicate(at))],
  ['chain_genesis_invalid', ({ s, p }) => (s === 1 ? p !== 'as accepted' : p === 'null')],
  ['exact_duplicate', isDuplicate],
  ['stream_quarantined', ({ isHeld, isRotation, isEquivocating }) => isHeld && !(isRotation && !isEquivocating)],
  ['changed_duplicate', ({ H, s, p, hasUsedEvent }) => (s <= H && p === 'as accepted') || hasUsedEvent],
  ['chain_fork', ({ H, s, p }) => s <= H || (s === H + 1 && p !== 'as accepted')],
  ['chain_gap', ({ H, s }) => s > H + 1],
  ['source_version_regression', ({ accepted }) => accepted !== 'older'],
  ['source_revoked', ({ isRevoked, isRotation }) => isRevoked && !isRotation],
  ['clock_skew', ({ H, isEarly }) => H > 0 && isEarly],
  ['accept', ({ H, s, p }) => s === H + 1 && p === 'as accepted'],
];

const each = <T, U>(values: readonly T[], make: (value: T) => readonly U[]): U[] => values.flatMap(make);
const both = [false, true];

/** Places that there can be: an accepted message names what was accepted before it, and the first one nothing. */
const places = each([0, 1, 2], (H) =>
  each([1, 2, 3, 4], (s) =>
    each(['as accepted', 'other', 'null'] as const, (p) =>
      (['as accepted', 'other'] as const).map((d) => ({ H, s, p, d })),
    ),
  ),
).filter(({ H, s, p, d }) => !(s === 1 && p === 'null') && (d === 'other' || (s <= H && p === 'as accepted')));
const circumstances = each(both, (isHeld) =>
  each(both, (isEquivocating) =>
    each(['older', 'equal', 'newer'] as const, (accepted) =>
      each(both, (isRevoked) =>
        each(both, (hasUsedEvent) =>
          both.map((isEarly) => ({ isHeld, isEquivocating, accepted, isRevoked, hasUsedEvent, isEarly })),
        ),
      ),
    ),
  ),
);
const signings = each(both, (isRotation) =>
  each(keyStates, (key) => both.map((isKnown) => ({ isRotation, key, isKnown }))),
);

const acceptedDigest = (sequence: number) => `sha256:${String(sequence).repeat(64)}`;
const otherDigest = `sha256:${'f'.repeat(64)}`;
const ownVersion = 5;

/** Signs the message of a place. */
function sign({ s, p, isRotation }: Pick<Situation, 's' | 'p' | 'isRotation'>): Signed {
  const one = writer(host);
  const before = s === 1 ? null : acceptedDigest(s - 1);
  one.rewind({ sequence: s - 1, prev: { 'as accepted': before, other: otherDigest, null: null }[p] });
  const issued = { issued_at: moment(-60).toISOString() };
  if (!isRotation) return one.write('content-snapshot/1', 'ep-1', ownVersion, { episode: episodeBody() }, issued);
  const keys = { retire_kid: retiredKey.id, successor_kid: host.key.id };
  const body = { ...keys, overlap_until: '2026-12-01T00:00:00Z', cause: 'planned' };
  return one.write('authority-rotation/1', host.authorityId, ownVersion, body, issued);
}

/** What a batch would read of the stream and the subject. */
function stateOf(situation: Situation, { digest, payload }: Signed) {
  const { H, s, isHeld, isEquivocating, accepted, isRevoked, hasUsedEvent, isEarly } = situation;
  const { type, source_id: sourceId } = payload.subject;
  const digestAt = (sequence: number) => (isDuplicate(situation) && sequence === s ? digest : acceptedDigest(sequence));
  const sequences = Array.from({ length: H }, (_, at) => at + 1);
  const issuedAt = moment(isEarly ? -30 : -60);
  const known = isDuplicate(situation) ? digest : undefined;
  const event = known ?? (hasUsedEvent ? otherDigest : undefined);
  const version = { older: ownVersion - 1, equal: ownVersion, newer: ownVersion + 1 }[accepted];
  return createBatchState(
    H > 0 || isHeld
      ? { authorityId: host.authorityId, isQuarantined: isHeld, isHeldByOperator: false, reopenedAt: undefined }
      : undefined,
    {
      facts: {
        head: H === 0 ? undefined : { sequence: H, digest: digestAt(H), issuedAt },
        digests: new Map(sequences.map((sequence) => [sequence, digestAt(sequence)])),
        events: new Map(event === undefined ? [] : [[payload.event_id, event]]),
      },
      subjects: new Map([[subjectKey(type, sourceId), { source_version: version, payload: null }]]),
      revoked: new Map([[sourceId, new Set(isRevoked ? [ownVersion] : [ownVersion + 9])]]),
      equivocating: new Set(isEquivocating ? [host.key.id] : []),
      keys: new Map([[retiredKey.id, {}]]),
    },
  );
}

test('every combination of stream, place, subject, revocation and key gets the first verdict of the published precedence, and one alone', async () => {
  const signed = new Map<string, Signed>();
  const checked = new Map<string, CheckedMessage | Problem>();
  const messageOf = ({ s, p, isRotation }: Situation) => {
    const name = `${s} ${p} ${isRotation}`;
    return signed.get(name) ?? signed.set(name, sign({ s, p, isRotation })).get(name)!;
  };
  /** Verifies the message by its key; each signature once. */
  function check(situation: Situation): CheckedMessage | Problem {
    const { s, p, isRotation, key, isKnown } = situation;
    const name = [s, p, isRotation, keyStates.indexOf(key), isKnown].join(' ');
    const found = checked.get(name);
    if (found) return found;
    const machineKey: MachineKey = { id: host.key.id, x: host.key.jwk.x!, purposes: ['content'], ...key };
    const keys = new Map([[host.key.id, machineKey]]);
    const options = { keys, authorityId: host.authorityId, known: isKnown, now };
    try {
      checked.set(name, checkItem(openItem(messageOf(situation).envelope), options));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      checked.set(name, error);
    }
    return checked.get(name)!;
  }
  const wrong: unknown[] = [];
  let combinations = 0;
  await transaction(exchange.pool, async (tx) => {
    for (const place of places)
      for (const circumstance of circumstances)
        for (const signing of signings) {
          const situation = { ...place, ...circumstance, ...signing };
          combinations += 1;
          const expected = precedence.find(([, holds]) => holds(situation))?.[0];
          const message = check(situation);
          const state = stateOf(situation, messageOf(situation));
          const judged =
            message instanceof Problem
              ? { verdicts: [], accepted: [], reopens: false, refusal: message }
              : await judgeBatch(tx, [message], host, state, { now, fetchRules: createFetchRules(new Set()) });
          const verdicts = [...judged.verdicts, ...(judged.refusal ? [judged.refusal.code] : [])];
          const isProof = expected === 'changed_duplicate' || expected === 'chain_fork';
          const isRight =
            verdicts.length === 1 &&
            verdicts[0] === expected &&
            judged.accepted.length === (expected === 'accept' ? 1 : 0) &&
            judged.reopens === (expected === 'accept' && situation.isHeld) &&
            'equivocation' in judged === isProof;
          if (!isRight) wrong.push({ situation, expected, verdicts });
        }
  });
  expect(combinations).toBe(96_768);
  expect([wrong.length, wrong.slice(0, 3)]).toEqual([0, []]);
});

const resultsOf = ({ body }: Sent) => body['results'] as readonly Record<string, unknown>[];

/** What becomes of a key after it signed an accepted message. */
const ends: readonly (readonly [what: string, end: (host: Platform) => Promise<unknown>])[] = [
  ['revoked', ({ key, ...rest }) => exchange.saveTestKey({ key, ...rest }, key, { state: 'revoked', version: 2 })],
  ['expired', ({ key, ...rest }) => exchange.saveTestKey({ key, ...rest }, key, { state: 'expired', version: 2 })],
  [
    'retired, whose overlap has ended,',
    ({ key }) =>
      exchange.pool.query(`update machine_key set state = 'retiring', overlap_until = $2 where id = $1`, [
        ...[key.id, moment(-1)],
      ]),
  ],
];

test.each(ends)(
  'a duplicate by a %s key gets its first receipt on an open and on a held stream, and nothing new follows it',
  async (_what, end) => {
    const one = await exchange.platform();
    const [open, held] = [writer(one), writer(one, 'show:2')];
    const first = open.write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() });
    const second = held.write('content-snapshot/1', 'ep-2', 1, { episode: episodeBody() });
    const receipts = [
      ...resultsOf(await exchange.submit(one, [first])),
      ...resultsOf(await exchange.submit(one, [second])),
    ];
    for (const version of [2, 3, 4]) {
      held.rewind({ sequence: 0, prev: null });
      await exchange.submit(one, [held.write('content-snapshot/1', 'ep-2', version, { episode: episodeBody() })]);
    }
    await end(one);
    for (const [index, [message, next]] of [
      [first, open.write('content-snapshot/1', 'ep-1', 2, { episode: episodeBody() })] as const,
      [second, held.write('content-snapshot/1', 'ep-2', 9, { episode: episodeBody() })] as const,
    ].entries()) {
      const replayed = [{ ...receipts[index], status: 'replayed' }];
      const again = await exchange.submit(one, [message]);
      expect([again.status, resultsOf(again)]).toEqual([200, replayed]);
      const more = await exchange.submit(one, [message, next]);
      expect([more.status, more.body]).toMatchObject([422, { code: 'key_revoked', index: 1, results: replayed }]);
      const alone = await exchange.submit(one, [next]);
      expect([alone.status, alone.body['code']]).toEqual([422, 'key_revoked']);
    }
    expect((await exchange.request(one, 'GET', `/workspaces/${one.workspaceId}/streams/show:2`)).body).toMatchObject({
      state: 'quarantined',
    });
  },
);

test('a message that waits for its command when its key is revoked, and then loses its place, is no duplicate any more', async () => {
  const one = await exchange.platform();
  const waiting = writer(one).write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() });
  exchange.commands.faults.set(
    waiting.digest,
    new Problem('temporarily_unavailable', undefined, { retryAfterSeconds: 1 }),
  );
  expect((await exchange.submit(one, [waiting])).status).toBe(503);
  await exchange.saveTestKey(one, one.key, { state: 'revoked', version: 2 });
  exchange.commands.faults.set(waiting.digest, new Problem('state_not_allowed'));
  const again = await exchange.submit(one, [waiting]);
  exchange.commands.faults.clear();
  expect([again.status, again.body['code']]).toEqual([422, 'key_revoked']);
  expect((await exchange.pool.query('select from message where digest = $1', [waiting.digest])).rowCount).toBe(0);
});
