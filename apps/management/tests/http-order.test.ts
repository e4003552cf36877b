import { expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import type { ProblemCode } from '@longwave/problems';
import { api, world } from './_shared-http.ts';
import { person } from './_values.ts';

/** A command in the making. */
interface Draft {
  token: string | undefined;
  workspaceId: string;
  commandType: string;
  query: string;
  headers: Record<string, string>;
  subject: { type: string; id: string; version: number };
  changes: Record<string, unknown>;
  /** In place of the body, when it is set. */
  text?: string;
  /** Whose requests are too many: the keys of their counters begin with it. */
  throttled?: 'management_address:' | 'management:';
}

/** What may be wrong with it: in the order of the checks, each with the status and the code of its refusal. */
const faults: readonly (readonly [
  name: string,
  status: number,
  code: ProblemCode,
  spoil: (draft: Draft) => unknown,
])[] = [
  ['an answer of another type', 406, 'not_acceptable', (draft) => (draft.headers['accept'] = 'text/html')],
  ['a body of another type', 415, 'unsupported_media_type', (draft) => (draft.headers['content-type'] = 'text/plain')],
  ['too many requests of an address', 429, 'rate_limited', (draft) => (draft.throttled = 'management_address:')],
  ['no token', 401, 'token_missing', (draft) => (draft.token = undefined)],
  ['too many requests of a client', 429, 'rate_limited', (draft) => (draft.throttled ??= 'management:')],
  [
    'no scope',
    403,
    'insufficient_scope',
    (draft) =>
      (draft.token = api.tokenFor(draft.workspaceId === world.workspaceId ? world.actor : person(newId('ws')), [
        'management:read',
      ])),
  ],
  ['an invisible workspace', 404, 'not_found', (draft) => (draft.workspaceId = newId('ws'))],
  ['an unknown command', 404, 'unknown_command', (draft) => (draft.commandType = 'advertiser.explode')],
  ['an unknown parameter', 422, 'validation_failed', (draft) => (draft.query = '?colour=red')],
  ['no key', 400, 'idempotency_key_required', (draft) => delete draft.headers['idempotency-key']],
  ['no JSON', 400, 'malformed_json', (draft) => (draft.text = '{')],
  ['an unknown field', 422, 'validation_failed', (draft) => (draft.changes['no_such_field'] = 1)],
  [
    'no permission',
    403,
    'permission_denied',
    (draft) => (draft.token = api.tokenFor(person(world.workspaceId, ['viewer']))),
  ],
  ['no such subject', 404, 'not_found', (draft) => (draft.subject.id = newId('adv'))],
  ['a stale version', 409, 'version_conflict', (draft) => (draft.subject.version += 5)],
];

test('of any two things that are wrong with a command, the refusal names the one that is checked first', async () => {
  const archived = await world.send('advertiser.archive', await world.advertiser(), {});
  for (const [index, [first, status, code, spoilFirst]] of faults.entries())
    for (const [second, , , spoilSecond] of faults.slice(index)) {
      // Its state does not allow the command: checked last of all.
      const draft: Draft = {
        token: api.tokenFor(world.actor),
        workspaceId: world.workspaceId,
        commandType: 'advertiser.revise',
        query: '',
        headers: { 'idempotency-key': newId('req'), 'content-type': 'application/json' },
        subject: { type: 'advertisers', id: archived.id, version: archived.version },
        changes: { billing_ref: 'D-1' },
      };
      spoilSecond(draft);
      spoilFirst(draft);
      const reset = { 'RateLimit-Reset': '1', 'Retry-After': '5' };
      api.rates.count = async (key) => {
        const throttled = draft.throttled !== undefined && key.startsWith(draft.throttled);
        return { throttled, headers: throttled ? reset : {} };
      };
      const answer = await api.call(`/workspaces/${draft.workspaceId}/commands/${draft.commandType}${draft.query}`, {
        token: draft.token,
        headers: draft.headers,
        body: draft.text ?? JSON.stringify({ subject: draft.subject, changes: draft.changes }),
      });
      expect([first, second, answer.status, answer.json.code]).toEqual([first, second, status, code]);
    }
});
