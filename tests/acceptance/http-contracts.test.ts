import { expect, test } from '@jest/globals';
import { breakingChanges, type HttpContract } from './_breaking-changes.ts';
import { newest, testOfHistory, textOf, tryGit } from './_releases.ts';

const contracts = ['openapi', 'audience-openapi', 'exchange-openapi', 'management-openapi'];

testOfHistory.each(contracts)(
  '%s breaks nothing of the newest release: a breaking change needs a new major version',
  (name) => {
    const file = `contracts/${name}.json`;
    expect(tryGit('cat-file', '-t', newest.commit)).toBe('commit');
    const released = tryGit('show', `${newest.commit}:${file}`);
    // A contract that the release does not have yet can break nothing.
    const before = JSON.parse(released ?? textOf(file)) as HttpContract;
    expect(breakingChanges(before, JSON.parse(textOf(file)) as HttpContract)).toEqual([]);
  },
);

/** An object with one of the fields. */
const oneOf = (names: readonly string[]) => ({
  anyOf: names.map((name) => ({ properties: { [name]: {} }, required: [name] })),
});

/** A contract of one operation that answers a state by its own component. */
const contractOf = ({
  version = '1.0.0',
  path = '/plans',
  fields = ['id', 'state'],
  always = ['id'],
  states = ['draft', 'ready'],
  needed = ['name'],
  needsPage = false,
  owners = ['user_id', 'email'],
}): HttpContract => ({
  info: { version },
  paths: {
    [path]: {
      post: {
        parameters: [{ name: 'page', in: 'query', required: needsPage }],
        requestBody: {
          content: {
            'application/json': { schema: { properties: { name: {}, owner: oneOf(owners) }, required: needed } },
          },
        },
        responses: { '200': { content: { 'application/json': { schema: { $ref: '#/components/schemas/Plan' } } } } },
      },
    },
  },
  components: {
    schemas: {
      Plan: {
        properties: Object.fromEntries(fields.map((field) => [field, field === 'state' ? { enum: states } : {}])),
        required: always,
      },
    },
  },
});

test.each([
  [{ path: '/schemes' }, 'POST /plans is gone'],
  [{ fields: ['id'] }, 'POST /plans: 200 has no /state'],
  [{ always: [] }, 'POST /plans: 200 may be without /id'],
  [{ states: ['draft'] }, 'POST /plans: 200 never has /state = "ready"'],
  [{ needed: ['name', 'kind'] }, 'POST /plans: a request needs /kind'],
  [{ owners: ['user_id'] }, 'POST /plans: a request may no longer have /owner/email'],
  [{ needsPage: true }, 'POST /plans: a request needs query page'],
])('%j is found to break the contract, and may come with a new major version', (change, found) => {
  expect(breakingChanges(contractOf({}), contractOf(change))).toContain(found);
  expect(breakingChanges(contractOf({}), contractOf({ ...change, version: '2.0.0' }))).toEqual([]);
});

test('further operations, fields, values and optional parts of requests break nothing', () => {
  const further = contractOf({
    fields: ['id', 'state', 'name'],
    always: ['id', 'name'],
    states: ['draft', 'ready', 'over'],
  });
  const wider = { ...further, paths: { ...further.paths, ...contractOf({ path: '/schemes' }).paths } };
  expect(breakingChanges(contractOf({}), wider)).toEqual([]);
  expect(breakingChanges(contractOf({}), contractOf({ needed: [] }))).toEqual([]);
  expect(breakingChanges(contractOf({}), contractOf({ owners: ['user_id', 'email', 'client_id'] }))).toEqual([]);
});
