import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createLogger } from './logger.ts';

const secrets = [
  `t1.${'aB-_'.repeat(25)}`,
  `lw_key_${'s3cr3t'.repeat(5)}`,
  `Bearer ${'s3cr3t'.repeat(5)}`,
  `https://objects.test/a?X-Amz-Signature=${'ab12'.repeat(16)}`,
];
/** What no line may contain. */
const traces = ['aB-_aB', 's3cr3t', 'ab12ab'];

function write(say: (logger: ReturnType<typeof createLogger>) => void): {
  line: string;
  fields: Record<string, unknown>;
} {
  const lines: string[] = [];
  say(createLogger('test', 'info', { write: (line) => void lines.push(line) }));
  expect(lines).toHaveLength(1);
  return { line: lines[0]!, fields: JSON.parse(lines[0]!) as Record<string, unknown> };
}

const secretText = fc
  .tuple(fc.string(), fc.constantFrom(...secrets), fc.string())
  .map(([before, secret, after]) => `${before} ${secret} ${after}`);
const secretError = fc.tuple(secretText, secretText).map(([message, cause]) => {
  const error = new Error(message, { cause: new Error(cause) });
  return Object.assign(error, { detail: message });
});
const secretValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    secretText,
    secretError,
    fc.array(tie('value')),
    fc.dictionary(secretText, tie('value')),
  ),
})).value;

test('no value of a field, however deep, leaves a secret in a line of the log, and every line is JSON', () => {
  fc.assert(
    fc.property(fc.constantFrom('err', 'reason', 'anything'), secretValue, secretText, (name, value, event) => {
      const { line } = write((logger) => logger.warn({ request_id: 'req_1', [name]: value }, event));
      for (const trace of traces) expect(line).not.toContain(trace);
    }),
  );
});

test('the value of a field whose name is that of a secret is not written', () => {
  const { line } = write((logger) => logger.info({ authorization: 'Basic abc', headers: { cookie: 'a=b' } }, 'a.b'));
  expect(line).toContain('"authorization":"***","headers":{"cookie":"***"}');
});

test('the line of a request has its fields as they are', () => {
  const said = { request_id: 'req_1', method: 'GET', status: 200, route: 'feed.read', bytes: 12, duration_ms: 3 };
  const { fields } = write((logger) => logger.info(said, 'request.served'));
  expect(fields).toEqual({
    level: 'info',
    time: expect.any(String),
    service: 'test',
    ...said,
    event: 'request.served',
  });
});

test('an error is written with its type, message, stack and code', () => {
  const error = Object.assign(new TypeError('no route'), { code: 'EHOSTUNREACH' });
  const { fields } = write((logger) => logger.error({ err: error }, 'fetch.failed'));
  expect(fields['err']).toMatchObject({
    ...{ type: 'TypeError', message: 'no route', code: 'EHOSTUNREACH' },
    stack: expect.stringContaining('logger.test.ts'),
  });
});

test('of an error of PostgreSQL its code, table and constraint are written, and no value of a row', () => {
  const row = 'Failing row contains (acc_1, anna@example.com).';
  const error = Object.assign(new Error('duplicate key value violates unique constraint "account_email_key"'), {
    ...{ code: '23505', table: 'account', constraint: 'account_email_key' },
    ...{ detail: row, where: row, hint: row, internalQuery: row },
  });
  for (const value of [error, new AggregateError([error], 'both failed'), { first: error }, [error]]) {
    const { line } = write((logger) => logger.error({ err: value }, 'query.failed'));
    expect(line).not.toContain('anna@example.com');
    expect(line).toContain('"code":"23505","table":"account","constraint":"account_email_key"');
  }
});

test.each([
  'invalid input syntax for type uuid: "anna@example.com"',
  'invalid input value for enum "state": "born in\nBonn"',
  '"born in Bonn" is out of range for type double precision',
  'time zone "born in Bonn" not recognized',
])('of an error of PostgreSQL the value that was refused is not written: %j', (message) => {
  const error = Object.assign(new Error(message), { code: '22P02' });
  const withCycle = Object.assign(new Error(message, { cause: error }), { code: '22P02', self: {} });
  withCycle.self = withCycle;
  const outer = new Error('the query failed', { cause: error });
  for (const value of [error, outer, new AggregateError([error], 'both'), withCycle]) {
    const { line } = write((logger) => logger.error({ err: value }, 'query.failed'));
    expect(line).not.toMatch(/example|Bonn/);
    expect(line).toContain('PostgreSQL refused a value (22P02)');
    expect(line).toContain('logger.test.ts');
  }
});

test('a value that is no JSON does not keep its line from being written', () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const { fields } = write((logger) => logger.info({ circular, big: 1n, left: undefined, rows: 2 }, 'a.b'));
  expect(fields).toMatchObject({ circular: '[object Object]', big: '1', rows: 2, event: 'a.b' });
});
