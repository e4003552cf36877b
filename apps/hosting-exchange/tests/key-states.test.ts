import { expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import type { MachineKey } from '../src/authorities/machine-key-table.ts';
import { checkItem, openItem } from '../src/messages/check-item.ts';
import { episodeBody, newKey, now, writer, type Platform } from './_exchange.ts';

const states = ['pending', 'active', 'retiring', 'revoked', 'expired'] as const;
const times = ['before', 'within', 'after'] as const;
const purposes = [['content'], ['platform_evidence'], ['content', 'platform_evidence']] as const;

const platform: Platform = {
  workspaceId: newId('ws'),
  authorityId: newId('agr'),
  clientId: 'client',
  key: newKey(),
};
const { envelope } = writer(platform).write('content-snapshot/1', 'ep-1', 1, { episode: episodeBody() });

const moment = (days: number) => new Date(now.getTime() + days * 86_400_000);
const windows = {
  before: { notBefore: moment(1), notAfter: moment(2) },
  within: { notBefore: moment(-1), notAfter: moment(1) },
  after: { notBefore: moment(-2), notAfter: moment(-1) },
};

function verdictOf(key: MachineKey | undefined, known: boolean, signature = envelope.signature): string {
  const keys = new Map(key ? [[platform.key.id, key]] : []);
  try {
    checkItem(openItem({ ...envelope, signature }), { keys, authorityId: platform.authorityId, known, now });
    return 'accepted';
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

/** Rule 6 as its table says it, written once more. */
function expectedFor(
  state: (typeof states)[number],
  time: (typeof times)[number],
  may: readonly string[],
  known: boolean,
) {
  if (known) return 'accepted';
  if (!may.includes('content')) return 'key_purpose_invalid';
  const holds = (state === 'active' || state === 'retiring') && time === 'within';
  return holds ? 'accepted' : 'key_revoked';
}

test('a message is taken by the state, the time and the purposes of its key, and a known one whatever became of the key', () => {
  let combinations = 0;
  for (const state of states)
    for (const time of times)
      for (const may of purposes)
        for (const known of [true, false]) {
          const key = { id: platform.key.id, state, x: platform.key.jwk.x!, purposes: may, ...windows[time] };
          expect([state, time, may, known, verdictOf(key, known)]).toEqual([
            ...[state, time, may, known],
            expectedFor(state, time, may, known),
          ]);
          // A wrong signature is refused for a known message, too.
          const forged = `${envelope.signature.startsWith('A') ? 'B' : 'A'}${envelope.signature.slice(1)}`;
          const refused = expectedFor(state, time, may, known);
          expect(verdictOf(key, known, forged)).toBe(refused === 'accepted' ? 'signature_invalid' : refused);
          combinations += 1;
        }
  expect(combinations).toBe(states.length * times.length * purposes.length * 2);
});

test('a key that the authority does not have is unknown, whether the message is known or not', () => {
  expect([verdictOf(undefined, true), verdictOf(undefined, false)]).toEqual([
    'unknown_signing_key',
    'unknown_signing_key',
  ]);
});
