import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { claimedOrigin, parsePayload, purposeOf, schemas, subjectTypeOf, type SchemaName } from '../src/index.ts';
import { changed, examples, pathsIn, valueAt } from './_messages.ts';

const names = Object.keys(schemas) as SchemaName[];
const parse = (payload: unknown) => parsePayload(JSON.stringify(payload));
/** `code path error-code` of each error, or `ok`. */
const outcome = (payload: unknown) => {
  const result = parse(payload);
  return result.ok ? ['ok'] : result.errors.map(({ path, code }) => `${result.code} ${path} ${code}`);
};
const everyPath = names.flatMap((name) => pathsIn(examples[name]).map((path) => [name, path] as const));
const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
const isMember = (name: SchemaName, path: string) =>
  path !== '' && isObject(valueAt(examples[name], path.replace(/\/[^/]*$/, '')));

describe.each(names)('%s', (name) => {
  test('is read with every member it may have, from text and from bytes', () => {
    expect(parse(examples[name])).toEqual({ ok: true, message: examples[name] });
    expect(parsePayload(Buffer.from(JSON.stringify(examples[name], null, 2)))).toEqual({
      ok: true,
      message: examples[name],
    });
  });

  test('has a subject of its own type, and no other', () => {
    for (const other of ['episode', 'surface', 'alias', 'evidence', 'authority', 'show', '']) {
      const isOwn = other === subjectTypeOf(name);
      expect(outcome(changed(examples[name], '/subject/type', other))).toEqual([
        isOwn ? 'ok' : 'validation_failed /subject/type invalid_value',
      ]);
    }
  });
});

test('evidence alone is signed by keys for evidence', () => {
  expect(names.filter((name) => purposeOf(name) === 'platform_evidence')).toEqual(['platform-evidence/1']);
});

test('a member that the schema does not have is named, in whatever object it stands', () => {
  const objects = everyPath.filter(([name, path]) => isObject(valueAt(examples[name], path)) && !path.endsWith('/x'));
  for (const [name, path] of objects)
    expect(outcome(changed(examples[name], `${path}/added`, 1))).toEqual([`unknown_field ${path}/added unknown_field`]);
  expect(objects.length).toBeGreaterThan(30);
});

test('an unknown member is what is named, however much else is wrong', () => {
  const chapters = Array.from({ length: 100 }, () => ({ start_ms: -1, title: '', nested: 1 }));
  const result = parse(changed(changed(examples['content-snapshot/1'], '/body/episode/chapters', chapters), '/seq', 0));
  expect(result).toMatchObject({ ok: false, code: 'unknown_field' });
  if (!result.ok) expect(new Set(result.errors.map(({ code }) => code))).toEqual(new Set(['unknown_field']));
  if (!result.ok) expect(result.errors).toHaveLength(50);
});

test('a member that is missing is called so, whatever its type and depth', () => {
  const detailsWithout = (name: SchemaName, path: string) => {
    const result = parse(changed(examples[name], path, undefined));
    return result.ok ? [] : result.errors.map((error) => [error.path, error.detail]);
  };
  for (const path of ['/seq', '/body/episode', '/body/episode/audio_master/url', '/body/episode/audio_master/codec'])
    expect(detailsWithout('content-snapshot/1', path)).toEqual([[path, `“${path.split('/').at(-1)}” is missing.`]]);
  expect(detailsWithout('surface-capability/1', '/body/protocols')).toEqual([
    ['/body/protocols', '“protocols” is missing.'],
  ]);
  const result = parse(changed(examples['content-snapshot/1'], '/body/episode/duration_ms', null));
  if (!result.ok) expect(result.errors[0]!.detail).not.toContain('missing');
});

test('__proto__ is an unknown member like any other', () => {
  const text = JSON.stringify(examples['content-revocation/1']).replace('"mode"', '"__proto__":{},"mode"');
  expect(parsePayload(text)).toMatchObject({ code: 'unknown_field', errors: [{ path: '/body/__proto__' }] });
});

test('these members may be absent, and no others', () => {
  const optional = everyPath.filter(
    ([name, path]) => isMember(name, path) && outcome(changed(examples[name], path, undefined))[0] === 'ok',
  );
  expect([...new Set(optional.map(([, path]) => path.replace(/\/\d+\//g, '/*/')))]).toEqual([
    ...['bitrate'].map((member) => `/body/episode/audio_master/${member}`),
    ...['video_master', 'captions', 'chapters'].map((member) => `/body/episode/${member}`),
    ...['url', 'img', 'toc'].map((member) => `/body/episode/chapters/*/${member}`),
    '/body/episode/markers',
    '/body/episode/markers/*/max_slots',
    ...['no_ads', 'rights', 'rights/territories', 'rights/until'].map((member) => `/body/episode/${member}`),
    ...['/body/show', '/body/show/language', '/body/x', '/body/apple_profile', '/body/valid_until', '/body/rows'],
    ...['downloads', 'plays', 'listeners', 'completes', 'impressions', 'revenue_micros'].map(
      (member) => `/body/rows/*/${member}`,
    ),
    '/body/currency',
  ]);
});

test('evidence has a revision below 2^31, and a period of the years 1970 to 2199', () => {
  const evidence = examples['platform-evidence/1'];
  const at = (path: string, value: unknown) => outcome(changed(evidence, `/body/${path}`, value));
  expect(at('revision', 2 ** 31 - 1)).toEqual(['ok']);
  expect(at('revision', 2 ** 31)).toEqual(['validation_failed /body/revision too_big']);
  for (const [path, time] of [
    ['period/start', '1970-01-01T00:00:00Z'],
    ['period/end', '2199-12-31T23:59:59Z'],
    ['period/end', '2199-12-31T23:00:00-01:00'],
  ] as const)
    expect([time, at(path, time)]).toEqual([time, ['ok']]);
  for (const [path, time] of [
    ['period/start', '1970-01-01T00:00:00+00:01'],
    ['period/end', '2200-01-01T00:00:00.001Z'],
    ['period/end', '2199-12-31T23:00:00-01:01'],
    ['period/end', '9999-12-31T00:00:00Z'],
  ] as const)
    expect([time, at(path, time)]).toEqual([time, [`validation_failed /body/${path} custom`]]);
});

test('a value of another kind is refused in its place', () => {
  for (const [name, path] of everyPath)
    for (const other of [null, 'other \u200b', -1, true, [], {}, [null]]) {
      const value = valueAt(examples[name], path);
      const isSameKind = JSON.stringify(other).charAt(0) === JSON.stringify(value).charAt(0);
      if (path === '' || isSameKind || typeof other === typeof value) continue;
      const errors = outcome(changed(examples[name], path, other));
      if (path === '/prev' && other === null) expect(errors).toEqual(['ok']);
      else if (path === '/body/supersedes_version' && other === null) expect(errors).toEqual(['ok']);
      else for (const error of errors) expect(error).toContain(`validation_failed ${path}`);
    }
});

const long = (length: number) => 'x'.repeat(length);
const snapshot = 'content-snapshot/1';
const evidence = 'platform-evidence/1';
const alias = 'delivery-alias/1';

test.each<[SchemaName, string, readonly unknown[], readonly unknown[]]>([
  [
    snapshot,
    '/stream_id',
    ['show:1', `aa:${long(96)}`, 'a_b:A.b-c_d'],
    ['show', 'Show:1', 'a:1', `show:${long(97)}`, 'show:ä', 'show:1\n'],
  ],
  [snapshot, '/seq', [1, 9007199254740991], [0, -1, 'one']],
  [snapshot, '/event_id', ['00000000-0000-4000-8000-000000000000'], ['0199C0DE-1234-7ABC-8DEF-0123456789AB', 'x', '']],
  [snapshot, '/prev', [null, `sha256:${'0'.repeat(64)}`], [`sha256:${'A'.repeat(64)}`, `sha1:${'0'.repeat(40)}`, '']],
  [snapshot, '/subject/source_id', ['a', 'A.b_c~d:e-f', long(128)], ['', '-a', 'a/b', 'a b', long(129)]],
  [
    snapshot,
    '/issued_at',
    [
      '2026-11-22T10:00:00Z',
      '2026-11-22T10:00:00.123456789+05:30',
      '2024-02-29T00:00:00-00:00',
      '9999-12-31T23:59:59Z',
    ],
    [
      ...[
        '2026-11-22T10:00Z',
        '2026-11-22T10:00:00',
        '2026-11-22 10:00:00Z',
        '2026-11-22t10:00:00z',
        '2026-02-29T00:00:00Z',
      ],
      ...[
        '2026-11-22T24:00:00Z',
        '2026-11-22T10:00:60Z',
        '1969-12-31T23:59:59Z',
        '10000-01-01T00:00:00Z',
        ' 2026-11-22T10:00:00Z',
      ],
      ...[
        '9999-12-31T23:59:59-01:00',
        '2026-11-22T10:00:00.Z',
        `2026-11-22T10:00:00.${long(9)}Z`,
        '2026-11-22T10:00:00+25:00',
      ],
    ],
  ],
  [snapshot, '/body/episode/guid', [long(255), 'tag:example.com,2026:1'], ['', '  ', 'a\nb', long(256)]],
  [snapshot, '/body/episode/duration_ms', [1, 86_400_000], [0, 86_400_001]],
  [snapshot, '/body/episode/language', ['en', 'zh-Hant-TW'], ['', 'e', 'en_US', 'english']],
  [snapshot, '/body/episode/content_categories', [[], Array(20).fill('a')], [Array(21).fill('a'), [''], [long(81)]]],
  [snapshot, '/body/episode/audio_master/bytes', [1, 20_000_000_000], [0, 20_000_000_001]],
  [
    snapshot,
    '/body/episode/audio_master/url',
    ['https://example.com/%C3%A4?a=b', 'http://127.0.0.1:8080/a', `https://example.com/${long(1900)}`],
    [
      ...[
        'ftp://example.com/a',
        '//example.com/a',
        '/a',
        'https:/example.com',
        'https://',
        'https://exa mple.com',
        'https://a/\n',
      ],
      ...[
        'HTTPS://example.com/a',
        'https://example.com/ä',
        'javascript:alert(1)',
        `https://example.com/${long(2000)}`,
        'https://a:99999/',
      ],
    ],
  ],
  [
    snapshot,
    '/body/episode/chapters',
    [[], Array(1000).fill({ start_ms: 0, title: 'a' })],
    [Array(1001).fill({ start_ms: 0, title: 'a' })],
  ],
  [snapshot, '/body/episode/markers/0/key', ['a', long(32)], ['', 'A', 'a.b', long(33)]],
  [snapshot, '/body/episode/markers/0/max_slots', [1, 8], [0, 9]],
  [snapshot, '/body/episode/rights/territories', [['DE']], [[], ['de'], ['DEU']]],
  [snapshot, '/body/x', [{}, { a: { b: [null, true, 'c', 1] } }], []],
  ['content-revocation/1', '/body/cause', ['Why.', long(500)], ['', ' \n', long(501)]],
  ['content-revocation/1', '/body/revoke_version', [1, 99], [0]],
  ['surface-capability/1', '/body/protocols', [['vast']], [[], ['rtmp']]],
  [alias, '/body/host', ['a', 'a-b', long(63)], ['-a', 'a-', 'A', 'a.b', long(64)]],
  [alias, '/body/path_slug', ['A', 'a~b', long(120)], ['', '.a', 'a/b', 'a%20', long(121)]],
  [alias, '/body/target/source_id', ['other-episode'], ['']],
  [
    evidence,
    '/body/rows/1/revenue_micros',
    ['0', '9223372036854775807', '-9223372036854775808'],
    ['', '01', '-0', '1.5', '9223372036854775808', '-9223372036854775809'],
  ],
  [evidence, '/body/currency', ['EUR', 'JPY'], ['eur', 'EURO', 'XQQ']],
  [
    evidence,
    '/body/rows',
    [[], Array(5000).fill({ source_id: 'a', at: '2026-11-01T00:00:00Z' })],
    [Array(5001).fill({ source_id: 'a', at: '2026-11-01T00:00:00Z' })],
  ],
])('%s has bounds: %s', (name, path, allowed, refused) => {
  for (const value of allowed) expect(outcome(changed(examples[name], path, value))).toEqual(['ok']);
  for (const value of refused)
    for (const error of outcome(changed(examples[name], path, value)))
      expect(error).toContain(`validation_failed ${path}`);
});

test.each<[SchemaName, string]>([
  ['surface-capability/1', 'android-app'],
  [alias, 'two-ios'],
  ['authority-rotation/1', `agr_${'1'.repeat(26)}`],
])('the subject of %s is the one that its body names', (name, other) => {
  expect(outcome(changed(examples[name], '/subject/source_id', other))).toEqual([
    'validation_failed /subject/source_id subject_mismatch',
  ]);
});

test('seq 1 with a prev, and a later one without, are left to the chain', () => {
  expect(outcome(changed(examples[snapshot], '/seq', 1))).toEqual(['ok']);
  expect(outcome(changed(examples[snapshot], '/prev', null))).toEqual(['ok']);
});

test('control characters are refused in text and keys, also under x; tab and line ends are none', () => {
  expect(outcome(changed(examples[evidence], '/body/method_note', 'a\tb\r\nc'))).toEqual(['ok']);
  for (const character of ['\u0000', '\u0008', '\u000b', '\u001f', '\u007f']) {
    const at = (path: string) => [`validation_failed ${path} control_character`];
    expect(outcome(changed(examples[evidence], '/body/method_note', character + 'a'))).toEqual(at('/body/method_note'));
    expect(outcome(changed(examples[evidence], '/body/x', { a: [character] }))).toEqual(at('/body/x/a/0'));
    expect(outcome(changed(examples[evidence], '/body/x', { [character]: 1 }))).toEqual(at('/body/x'));
  }
});

test.each([
  ['text that is no JSON', '{', 'malformed_payload', ''],
  ['an array', '[]', 'malformed_payload', ''],
  ['null', 'null', 'malformed_payload', ''],
  ['a fraction', '{"seq":1.0}', 'malformed_payload', '/seq'],
  ['a repeated key', '{"seq":1,"seq":1}', 'malformed_payload', '/seq'],
  ['no schema', '{}', 'validation_failed', '/schema'],
  ['an unknown schema', '{"schema":"content-snapshot/2"}', 'validation_failed', '/schema'],
  ['a name that every object has as schema', '{"schema":"toString"}', 'validation_failed', '/schema'],
])('%s is refused', (_name, text, code, path) => {
  expect(parsePayload(text)).toMatchObject({ ok: false, code, errors: [{ path }] });
});

test('an unverified payload says who claims to have signed it, as far as it can be read', () => {
  const { schema, workspace_id: workspaceId, authority_id: authorityId } = examples[evidence];
  expect(claimedOrigin(JSON.stringify(examples[evidence]))).toEqual({ schema, workspaceId, authorityId });
  const nothing = { schema: undefined, workspaceId: undefined, authorityId: undefined };
  for (const text of ['', '[]', 'null', '"a"', '{"schema":"x","workspace_id":1,"authority_id":null}', '{"a":1.5}'])
    expect(claimedOrigin(text)).toEqual(nothing);
});

test('no payload makes the reader throw, and each refusal has 1 to 50 errors', () => {
  const mutated = fc
    .tuple(fc.constantFrom(...everyPath), fc.jsonValue({ stringUnit: 'binary' }))
    .map(([[name, path], value]) => (path === '' ? value : changed(examples[name], path, value)));
  fc.assert(
    fc.property(fc.oneof(mutated, fc.jsonValue()), (payload) => {
      const result = parse(payload);
      if (!result.ok) expect(result.errors.length).toBeGreaterThan(0);
      if (!result.ok) expect(result.errors.length).toBeLessThanOrEqual(50);
      claimedOrigin(JSON.stringify(payload));
    }),
    { numRuns: 1000 },
  );
});
