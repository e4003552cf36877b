import { describe, expect, test } from '@jest/globals';
import { productCatalog } from '@longwave/command-catalog';
import type { Principal } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import type { CallerName } from '@longwave/services';
import { checkTexts, checkVersion, parseRequest, permissionProblem } from './check-request.ts';
import type { CommandRequest } from './command-request.ts';

const { commands } = productCatalog;
const publish = commands['serving_plan.publish'];
const revise = commands['podcast.revise'];

function problemOf(work: () => unknown): Problem {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const request: CommandRequest = {
  workspaceId: 'ws_1',
  commandType: revise.type,
  idempotencyKey: 'revise-1',
  subject: { type: 'podcasts', id: 'pod_1', version: 2 },
  changes: { title: 'One', explicit: true },
  reason: 'a typing mistake',
};
const digestOf = (change: Partial<CommandRequest>) => parseRequest(revise, { ...request, ...change }).payloadDigest;
const errorsOf = (change: Partial<CommandRequest>) =>
  problemOf(() => parseRequest(revise, { ...request, ...change })).context.errors?.map(
    ({ path, code }) => `${path} ${code}`,
  );

describe('the payload digest', () => {
  test('does not depend on the order of keys', () => {
    expect(digestOf({ changes: { explicit: true, title: 'One' } })).toBe(digestOf({}));
  });

  test.each([
    ['another subject', { subject: { type: 'podcasts', id: 'pod_2', version: 2 } }],
    ['another version of the subject', { subject: { type: 'podcasts', id: 'pod_1', version: 3 } }],
    ['no version of the subject', { subject: { type: 'podcasts', id: 'pod_1' } }],
    ['another value', { changes: { title: 'Two', explicit: true } }],
    ['one field less', { changes: { title: 'One' } }],
    ['another reason', { reason: 'a change of mind' }],
    ['no reason', { reason: undefined }],
  ])('differs for %s', (_, change) => {
    expect(digestOf(change)).not.toBe(digestOf({}));
  });

  test('is the same for a new resource of version 0 and for one without a version', () => {
    const create = { ...request, commandType: 'podcast.create', changes: { title: 'One', language: 'en' } };
    const ofNew = (version?: number) =>
      parseRequest(commands['podcast.create'], { ...create, subject: { type: 'podcasts', id: null, version } });
    expect(ofNew(0).payloadDigest).toBe(ofNew().payloadDigest);
  });

  test('is the same for no changes and for empty changes', () => {
    expect(digestOf({ changes: undefined })).toBe(digestOf({ changes: {} }));
  });
});

describe('what is wrong with a request', () => {
  test('is told in an answer of a few kilobytes, however long its names and however many its faults', () => {
    const faults = Array.from({ length: 20_000 }, () => '\u0001');
    for (const change of [{ changes: { ['k'.repeat(50_000)]: faults } }, { reason: { a: faults } }]) {
      const { message, context } = problemOf(() => parseRequest(revise, { ...request, ...change }));
      expect(context.errors!.length).toBeLessThanOrEqual(101);
      expect(message.length + JSON.stringify(context.errors).length).toBeLessThan(60_000);
    }
  });

  test('is said all at once, each with its pointer', () => {
    const change = {
      subject: { type: 'episodes', id: null },
      changes: { title: '', colour: 'red', description: 'bell \u0007' },
      reason: 5,
      ifMatch: 'yesterday',
    };
    expect(errorsOf(change)?.sort()).toEqual([
      '/changes/colour unknown_field',
      '/changes/description illegal_text',
      '/changes/title too_small',
      '/headers/if-match malformed',
      '/reason invalid_union',
      '/subject/id required',
      '/subject/type wrong_subject',
    ]);
  });

  test('begins with the idempotency key, which must be there', () => {
    const keyless = { ...request, idempotencyKey: '', changes: 1 };
    expect(problemOf(() => parseRequest(revise, keyless)).code).toBe('idempotency_key_required');
  });

  test('begins with the idempotency key, which must be well-formed', () => {
    const malformed = { ...request, idempotencyKey: 'with blank', changes: 1 };
    expect(problemOf(() => parseRequest(revise, malformed)).code).toBe('idempotency_key_invalid');
  });

  test('is a field error, not a crash, for changes nested ever so deep', () => {
    const depth = 5_000;
    const changes: unknown = JSON.parse(`{"title":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    expect(errorsOf({ changes })).toContain('/changes/title invalid_type');
  });
});

test('an ETag is understood with and without quotes', () => {
  for (const ifMatch of ['"3.0123456789abcdef"', '3.0123456789abcdef'])
    expect(parseRequest(revise, { ...request, ifMatch }).ifMatch).toEqual({
      version: 3,
      digestPrefix: '0123456789abcdef',
    });
});

test.each(['', 'W/"3.0123456789abcdef"', '*'])('If-Match %p is malformed: it names no version', (ifMatch) => {
  expect(errorsOf({ ifMatch })).toEqual(['/headers/if-match malformed']);
});

test('a new resource has no version that its creator could have seen', () => {
  const create = commands['podcast.create'];
  const creation = (change: { version?: number; ifMatch?: string }) => () =>
    parseRequest(create, {
      ...{ workspaceId: 'ws_1', commandType: create.type, idempotencyKey: 'create-1' },
      subject: { type: 'podcasts', id: null, ...(change.version !== undefined && { version: change.version }) },
      changes: { title: 'One', language: 'en' },
      ifMatch: change.ifMatch,
    });
  expect(creation({})).not.toThrow();
  expect(creation({ version: 0 })).not.toThrow();
  const { context } = problemOf(creation({ version: 5, ifMatch: '"5.0123456789abcdef"' }));
  expect(context.errors?.map(({ path }) => path)).toEqual(['/subject/version', '/headers/if-match']);
});

test.each(['\u0000', '\ud800'])('the text %p is refused wherever a request has it', (text) => {
  expect(errorsOf({ subject: { type: 'podcasts', id: text } })).toEqual(['/subject/id illegal_text']);
  const parts = { subject: { id: text }, changes: { podcast_id: text, list: [{ [text]: 1 }] } };
  expect(problemOf(() => checkTexts(parts)).context.errors?.map(({ path }) => path)).toEqual([
    '/subject/id',
    '/changes/podcast_id',
    '/changes/list/0',
  ]);
});

describe('the version guard', () => {
  const current = { type: 'serving_plans', id: 'spl_1', version: 3, digest: '0123456789abcdef'.repeat(4) };
  const ifMatch = (version: number, digestPrefix = '0123456789abcdef') => ({ version, digestPrefix });

  test.each([
    ['the current ETag', { version: undefined, ifMatch: ifMatch(3) }],
    ['the current version', { version: 3, ifMatch: undefined }],
    ['both', { version: 3, ifMatch: ifMatch(3) }],
  ])('lets %s pass', (_, stated) => {
    expect(() => checkVersion(publish, stated, current)).not.toThrow();
  });

  test.each([
    ['a stale ETag', { version: undefined, ifMatch: ifMatch(2) }, 'version_conflict', 412],
    ['an ETag of another content', { version: 3, ifMatch: ifMatch(3, 'f'.repeat(16)) }, 'version_conflict', 412],
    ['a stale version', { version: 2, ifMatch: undefined }, 'version_conflict', 409],
    ['a version of the future', { version: 4, ifMatch: undefined }, 'version_conflict', 409],
    ['two that disagree', { version: 2, ifMatch: ifMatch(3) }, 'version_guard_mismatch', 422],
    ['nothing where it is required', { version: undefined, ifMatch: undefined }, 'version_guard_required', 428],
  ])('answers %s with its problem', (_, stated, code, status) => {
    const problem = problemOf(() => checkVersion(publish, stated, current));
    expect([problem.code, problem.status]).toEqual([code, status]);
    if (code === 'version_conflict') expect(problem.context.subject?.version).toBe(3);
  });

  test('is not asked for where it is optional', () => {
    expect(() => checkVersion(revise, { version: undefined, ifMatch: undefined }, current)).not.toThrow();
  });
});

describe('permission', () => {
  const person = (change: Partial<Principal> = {}) => ({
    kind: 'principal' as const,
    principal: {
      account_id: 'acc_1',
      workspace_id: 'ws_1',
      roles: ['owner' as const],
      grants: [],
      credential_id: 'crd_1',
      credential_kind: 'api_key' as const,
      read_only: false,
      ...change,
    },
  });
  const service = (name: CallerName) => ({ kind: 'service' as const, name });
  const complete = commands['production.complete'];

  test.each([
    ['a person with the role', revise, person()],
    ['the machine that is named', complete, service('encoder')],
    ['the operator, for what people may do', revise, service('operator')],
  ])('is given to %s', (_, definition, actor) => {
    expect(permissionProblem(definition, actor, 'ws_1')).toBeUndefined();
  });

  test.each([
    ['a person without the role', revise, person({ roles: ['viewer', 'analyst'] })],
    ['a person without any role', revise, person({ roles: [] })],
    ['a credential that may only read', revise, person({ read_only: true })],
    ['a person, for a machine command', complete, person({ roles: ['owner', 'admin'] })],
    ['another machine', complete, service('management')],
    ['the operator, for a machine command', complete, service('operator')],
  ])('is refused to %s', (_, definition, actor) => {
    expect(permissionProblem(definition, actor, 'ws_1')?.code).toBe('permission_denied');
  });

  test('is judged by the grants in the workspace and the podcast where the command acts; elsewhere nothing is known', () => {
    const grants = [{ workspace_id: 'ws_2', podcast_id: 'pod_1', roles: ['editor' as const] }];
    const at = (podcastId?: string) => ({ ...person({ grants }), podcastId });
    expect(permissionProblem(revise, at('pod_1'), 'ws_2')).toBeUndefined();
    expect(permissionProblem(complete, at('pod_1'), 'ws_2')?.code).toBe('permission_denied');
    for (const podcastId of ['pod_2', undefined])
      expect(permissionProblem(revise, at(podcastId), 'ws_2')?.code).toBe('not_found');
  });
});
