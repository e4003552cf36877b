import { hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  parseEvidenceFile,
  parsePayload,
  rowsDigestOf,
  schemas,
  semanticErrors,
  type SemanticContext,
  sha256Digest,
  type EvidenceRow,
  type Message,
  type SchemaName,
} from '../src/index.ts';
import { changed, examples, retiredKid, signerKid } from './_messages.ts';

/** The message with replaced members (`undefined` removes one), which must still have the form of its schema. */
function messageWith(name: SchemaName, changes: Readonly<Record<string, unknown>>): Message {
  const payload = Object.entries(changes).reduce<unknown>(
    (value, [path, each]) => changed(value, path, each),
    examples[name],
  );
  const result = parsePayload(JSON.stringify(payload));
  if (!result.ok) throw new Error(JSON.stringify(result));
  return result.message;
}

const errorsOf = (name: SchemaName, changes: Readonly<Record<string, unknown>>, options = {}) =>
  semanticErrors(messageWith(name, changes), { kid: signerKid, ...options }).map(({ path, code }) => `${path} ${code}`);

const snapshot = 'content-snapshot/1';
const surface = 'surface-capability/1';
const evidence = 'platform-evidence/1';
const rotation = 'authority-rotation/1';

test.each(Object.keys(schemas) as SchemaName[])('the example of %s has no errors', (name) => {
  expect(errorsOf(name, {})).toEqual([]);
});

const marker = (key: string, position: number) => ({ key, position_ms: position, kind: 'mid' });
const chapters = (...starts: number[]) => starts.map((start) => ({ start_ms: start, title: 'a' }));
const caption = (lang: string) => ({ lang, url: 'https://example.com/a.vtt', digest: `sha256:${'0'.repeat(64)}` });
const at = '/body/episode';

test.each<[string, SchemaName, Readonly<Record<string, unknown>>, readonly string[]]>([
  ['a marker at the end', snapshot, { [`${at}/markers`]: [marker('a', 1_800_000)] }, []],
  [
    'a marker behind the end',
    snapshot,
    { [`${at}/markers`]: [marker('a', 1_800_001)] },
    [`${at}/markers/0/position_ms beyond_duration`],
  ],
  [
    'a key that occurs twice',
    snapshot,
    { [`${at}/markers`]: [marker('a', 1), marker('a', 2)] },
    [`${at}/markers/1/key duplicate`],
  ],
  ['chapters out of order', snapshot, { [`${at}/chapters`]: chapters(5, 4) }, [`${at}/chapters/1/start_ms not_sorted`]],
  [
    'two chapters at a time',
    snapshot,
    { [`${at}/chapters`]: chapters(5, 5) },
    [`${at}/chapters/1/start_ms not_sorted`],
  ],
  [
    'a chapter at the end',
    snapshot,
    { [`${at}/chapters`]: chapters(0, 1_800_000) },
    [`${at}/chapters/1/start_ms beyond_duration`],
  ],
  [
    'captions twice in a language',
    snapshot,
    { [`${at}/captions`]: [caption('pt-BR'), caption('PT-br')] },
    [`${at}/captions/1/lang duplicate`],
  ],
  ['captions in two languages', snapshot, { [`${at}/captions`]: [caption('pt-BR'), caption('pt')] }, []],
  [
    'a territory twice',
    snapshot,
    { [`${at}/rights/territories`]: ['DE', 'PT', 'DE'] },
    [`${at}/rights/territories/2 duplicate`],
  ],
  [
    'an address with a user',
    snapshot,
    { [`${at}/audio_master/url`]: 'https://a:b@example.com/a' },
    [`${at}/audio_master/url has_credentials`],
  ],
  [
    'an address with a fragment',
    snapshot,
    { [`${at}/chapters/1/url`]: 'https://example.com/#a' },
    [`${at}/chapters/1/url has_fragment`],
  ],
  ['a protocol twice', surface, { '/body/protocols': ['hls', 'hls'] }, ['/body/protocols/1 duplicate']],
  [
    'a capability that ends when it is issued',
    surface,
    { '/body/valid_until': '2026-11-22T11:00:00+01:00' },
    ['/body/valid_until not_after_issue'],
  ],
  ['a capability without end', surface, { '/body/valid_until': undefined }, []],
  ['a key that retires itself', rotation, { '/body/retire_kid': signerKid }, ['/body/successor_kid same_key']],
  [
    'a rotation that the retired key signs',
    rotation,
    { '/body/retire_kid': signerKid, '/body/successor_kid': retiredKid },
    ['/body/successor_kid not_the_signer'],
  ],
  [
    'an overlap in the past',
    rotation,
    { '/body/overlap_until': '2026-11-22T10:00:00Z' },
    ['/body/overlap_until not_after_issue'],
  ],
  [
    'an empty period',
    evidence,
    { '/body/period/end': '2026-11-01T01:00:00+01:00', '/body/rows': [], '/body/rows_digest': rowsDigestOf([]) },
    ['/body/period/end empty_period'],
  ],
  ['revenue without currency', evidence, { '/body/currency': undefined }, ['/body/currency currency_mismatch']],
  [
    'a currency and revenue of deliveries',
    evidence,
    { '/body/kind': 'delivery' },
    ['/body/currency currency_mismatch', '/body/rows/1/revenue_micros not_revenue'],
  ],
  ['neither rows nor their address', evidence, { '/body/rows': undefined }, ['/body/rows rows_or_url']],
  ['rows and an address', evidence, { '/body/rows_url': 'https://example.com/rows.json' }, ['/body/rows rows_or_url']],
  ['an address alone', evidence, { '/body/rows': undefined, '/body/rows_url': 'https://example.com/rows.json' }, []],
  ['a row that was changed', evidence, { '/body/rows/0/downloads': 11 }, ['/body/rows_digest digest_mismatch']],
])('%s', (_name, name, changes, errors) => {
  expect(errorsOf(name, changes)).toEqual(errors);
});

describe('addresses', () => {
  const urls = ['audio_master/url', 'video_master/url', 'captions/0/url', 'chapters/1/url', 'chapters/1/img'];
  const everywhere: readonly (readonly [SchemaName, string])[] = urls.map((url) => [snapshot, `${at}/${url}`]);
  const rowsUrl = { '/body/rows': undefined };
  const errors = (name: SchemaName, path: string, url: string, context: Omit<SemanticContext, 'kid'> = {}) =>
    errorsOf(name, { ...(name === evidence && rowsUrl), [path]: url }, context);

  test.each([...everywhere, [evidence, '/body/rows_url'] as const])(
    '%s %s uses https, but for the origins that the receiver allows',
    (name, path) => {
      const allows = ({ origin }: URL) => origin === 'http://127.0.0.1:9911';
      expect(errors(name, path, 'http://127.0.0.1:9911/a')).toEqual([`${path} not_https`]);
      expect(errors(name, path, 'http://127.0.0.1:9911/a', { allows })).toEqual([]);
      for (const url of ['http://127.0.0.1/a', 'http://localhost:9911/a', 'http://127.0.0.1.example.com:9911/'])
        expect(errors(name, path, url, { allows })).toEqual([`${path} not_https`]);
    },
  );

  test.each([...everywhere, [evidence, '/body/rows_url'] as const])(
    '%s %s is refused when the receiver would not fetch it, if it is a file',
    (name, path) => {
      const fetchFault = (url: string) => (url.includes('10.0.0.1') ? 'It is private.' : undefined);
      const isFile = !path.includes('/chapters/');
      expect(errors(name, path, 'https://10.0.0.1/a', { fetchFault })).toEqual(isFile ? [`${path} not_fetchable`] : []);
      expect(errors(name, path, 'https://example.com/a', { fetchFault })).toEqual([]);
    },
  );
});

describe('rows of evidence', () => {
  const row = (fields: Partial<EvidenceRow>): EvidenceRow => ({
    source_id: 'ep-1',
    at: '2026-11-01T00:00:00Z',
    plays: 1,
    ...fields,
  });
  const errors = (rows: readonly EvidenceRow[]) =>
    errorsOf(evidence, { '/body/rows': rows, '/body/rows_digest': rowsDigestOf(rows) });

  test.each<[string, readonly EvidenceRow[], readonly string[]]>([
    ['at the start of the period', [row({})], []],
    ['just before its end', [row({ at: '2026-11-30T23:59:59.999Z' })], []],
    ['before it', [row({ at: '2026-11-01T00:30:00+01:00' })], ['/body/rows/0/at outside_period']],
    ['at its end', [row({ at: '2026-12-01T00:00:00Z' })], ['/body/rows/0/at outside_period']],
    ['without a measure', [{ source_id: 'ep-1', at: '2026-11-01T00:00:00Z' }], ['/body/rows/0 nothing_measured']],
    [
      'for one episode and time twice',
      [row({}), row({ at: '2026-11-01T01:00:00+01:00', plays: 2 })],
      ['/body/rows/1 duplicate'],
    ],
    ['for two episodes at a time', [row({}), row({ source_id: 'ep-2' })], []],
    ['none', [], []],
  ])('%s', (_name, rows, expected) => {
    expect(errors(rows)).toEqual(expected);
  });

  test('have the digest of their canonical form, whatever the order of members and white space', () => {
    const canonical = '[{"at":"2026-11-01T00:00:00Z","plays":1,"source_id":"ep-1"}]';
    expect(rowsDigestOf([row({})])).toBe(`sha256:${hash('sha256', canonical, 'hex')}`);
    const text = JSON.stringify(changed(examples[evidence], '/body/rows', [row({})]), null, 3).replace(
      /"rows_digest": "[^"]*"/,
      `"rows_digest": "${rowsDigestOf([row({})])}"`,
    );
    const parsed = parsePayload(text);
    expect(parsed.ok && semanticErrors(parsed.message, { kid: signerKid })).toEqual([]);
  });

  test('that are all wrong give 50 errors', () => {
    expect(errors(Array(5000).fill(row({ at: '2020-01-01T00:00:00Z' })))).toHaveLength(50);
  });

  const file = (text: string, changes = {}) => {
    const bytes = Buffer.from(text);
    const { period, kind } = examples[evidence].body;
    return parseEvidenceFile(bytes, { period, kind, rows_digest: sha256Digest(bytes), ...changes });
  };

  test('in a file are read when its bytes have the digest of the message', () => {
    const text = ` ${JSON.stringify([row({})])}\n`;
    expect(file(text)).toEqual({ ok: true, rows: [row({})] });
    expect(file(text, { rows_digest: rowsDigestOf([row({})]) })).toMatchObject({ code: 'digest_mismatch' });
  });

  test.each([
    ['{"rows":[]}', 'validation_failed', ''],
    ['[', 'malformed_payload', '/0'],
    ['[{"a":[]}]', 'malformed_payload', '/0/a'],
    ['[{"source_id":"a","at":"2026-11-01T00:00:00Z","plays":1,"visits":1}]', 'unknown_field', '/0/visits'],
    ['[{"source_id":"a","at":"2026-11-01T00:00:00Z","plays":-1}]', 'validation_failed', '/0/plays'],
    ['[{"source_id":"a","at":"2026-12-01T00:00:00Z","plays":1}]', 'validation_failed', '/0/at'],
  ])('in the file %s are refused', (text, code, path) => {
    expect(file(text)).toMatchObject({ ok: false, code, errors: [{ path }] });
  });
});

test('no message of the right form makes the check throw', () => {
  const time = fc
    .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString());
  const changes = fc.record({
    '/body/period/start': time,
    '/body/period/end': time,
    '/body/rows': fc.array(fc.record({ source_id: fc.constantFrom('a', 'b'), at: time, plays: fc.nat() }), {
      maxLength: 5,
    }),
    '/body/kind': fc.constantFrom('delivery', 'revenue', 'engagement'),
  });
  fc.assert(
    fc.property(changes, (each) => {
      for (const error of semanticErrors(messageWith(evidence, each), { kid: signerKid }))
        expect(error.path).toMatch(/^\/body/);
    }),
  );
});
