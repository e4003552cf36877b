import { describe, expect, test } from '@jest/globals';
import { growthOf, linear } from '@longwave/test-kit/growth-of';
import fc from 'fast-check';
import { parseStrictJson, type JsonFaultCode } from './strict-json.ts';

const faultOf = (input: Uint8Array | string, maxDepth?: number) => {
  const result = parseStrictJson(input, { ...(maxDepth !== undefined && { maxDepth }) });
  return result.ok ? 'none' : `${result.fault.code} ${result.fault.path}`.trim();
};

describe('a value of JSON', () => {
  test.each([
    'null',
    'true',
    '""',
    '-12',
    '[]',
    '{}',
    ' [1 , {"a" :\t[]}\r\n] ',
    '{"":{"":0}}',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9"',
  ])('%s is read as JSON.parse reads it', (text) => {
    expect(parseStrictJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
    expect(parseStrictJson(Buffer.from(text))).toEqual({ ok: true, value: JSON.parse(text) });
  });

  test('of any integers and composed text is read as JSON.parse reads it, from text and from bytes', () => {
    const composed = fc.string({ unit: 'grapheme' }).map((text) => text.normalize('NFC'));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 6, withCrossShrink: true },
        ...[fc.maxSafeInteger().map((number) => number || 0), composed, fc.boolean(), fc.constant(null)],
        ...[fc.array(tie('value'), { maxLength: 4 }), fc.dictionary(composed, tie('value'), { maxKeys: 4 })],
      ),
    }));
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, ' ', '\t', 3), (inner, space) => {
        const text = JSON.stringify(inner, null, space);
        expect(parseStrictJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
        expect(parseStrictJson(Buffer.from(text))).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
  });

  test('has keys such as __proto__ as its own members', () => {
    const result = parseStrictJson('{"__proto__":{"isAdmin":true},"constructor":1}');
    const value = (result.ok && result.value) as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor']);
    expect(value['isAdmin']).toBeUndefined();
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined();
  });
});

const cases: readonly (readonly [JsonFaultCode, string, readonly string[]])[] = [
  [
    'syntax',
    '',
    [
      '',
      ' ',
      'nul',
      'nullx',
      '01',
      '-',
      '+1',
      '.5',
      '1 2',
      "'a'",
      '"a',
      '"\t"',
      '"\\x"',
      '"\\u12g4"',
      '"\\',
      '}',
      '\u00a01',
      'NaN',
    ],
  ],
  ['syntax', '/0', ['[', '[,1]', '[}', '[undefined']],
  ['syntax', '/1', ['[1,]', '[1,', '[1,,2]', '[1,]]']],
  ['syntax', '/a', ['{"a"}', '{"a":}', '{"a":1', '{"a":1,}', '{"a":1]', '{"a" 1}', '{"a":1 "b":2}', '{"a":/**/1}']],
  ['duplicate_key', '/a', ['{"a":1,"a":1}', '{"a":1,"b":2,"\\u0061":3}', '{"\\u0061":1,"a":1}', '{"a":{},"a":{}}']],
  ['duplicate_key', '/é', ['{"é":1,"\\u00e9":1}']],
  ['duplicate_key', '/0/__proto__', ['[{"__proto__":1,"__proto__":2}]']],
  ['not_an_integer', '', ['1.0', '1.5', '-0', '1e2', '1E+2', '0.1', '-0.0', '0e0', '1e400', '1.', '1e']],
  ['integer_out_of_range', '', ['9007199254740992', '-9007199254740992', '9007199254740993', '1'.repeat(1000)]],
  ['unpaired_surrogate', '', ['"\\ud800"', '"\\udc00\\ud800"', '"\ud800"', '"a\udfff"', '"\\ud800\udbff"']],
  ['unpaired_surrogate', '', ['{"\\ud800":1}']],
  ['not_nfc', '', ['"e\u0301"', '"e\\u0301"', '"\u212b"', '"\\u212B"', '"\u1100\u1161"', '{"e\u0301":1}']],
  ['byte_order_mark', '', ['\ufeff{}', '\ufeff']],
];

test.each(cases.flatMap(([code, path, texts]) => texts.map((text) => [text.slice(0, 40), code, path, text] as const)))(
  '%j is refused: %s',
  (_shown, code, path, text) => {
    expect(faultOf(text)).toBe(`${code} ${path}`.trim());
  },
);

test('a character has 30 combining marks at most', () => {
  expect(faultOf(`"a${'\u0315'.repeat(30)}"`)).toBe('none');
  expect(faultOf(`"a${'\u0315'.repeat(31)}"`)).toBe('too_many_marks');
});

test('the bounds of integers are those that every language holds as a double', () => {
  for (const number of ['9007199254740991', '-9007199254740991', '0'])
    expect(parseStrictJson(number)).toEqual({ ok: true, value: Number(number) });
});

test('a surrogate pair is one character, however it is spelt', () => {
  for (const text of ['"😀"', '"\\ud83d\\ude00"', '"\\ud83d\ude00"'])
    expect(parseStrictJson(text)).toEqual({ ok: true, value: '😀' });
});

test.each([
  ['a byte that begins nothing', [0x22, 0xff, 0x22]],
  ['an overlong form', [0x22, 0xc0, 0xa2, 0x22]],
  ['a surrogate (CESU-8)', [0x22, 0xed, 0xa0, 0x80, 0x22]],
  ['a cut character', [0x22, 0xe2, 0x82, 0x22]],
  ['a code point above U+10FFFF', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
])('bytes with %s are not UTF-8', (_name, bytes) => {
  expect(faultOf(Uint8Array.from(bytes))).toBe('invalid_utf8');
});

test('a byte order mark is refused in bytes, too', () => {
  expect(faultOf(Uint8Array.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]))).toBe('byte_order_mark');
});

test('containers stand 16 deep within one another, and no deeper', () => {
  const nested = (depth: number) => '[{"a":'.repeat(depth / 2) + '0' + '}]'.repeat(depth / 2);
  expect(faultOf(nested(16))).toBe('none');
  expect(faultOf(nested(18))).toMatch(/^too_deep \/0\/a/);
  expect([faultOf('[]', 1), faultOf('[[]]', 1), faultOf('1', 0), faultOf('[]', 0)]).toEqual([
    ...['none', 'too_deep /0', 'none', 'too_deep'],
  ]);
});

test('a payload has 60,000 values, and no more', () => {
  expect(faultOf(`[${'0,'.repeat(59_998)}0]`)).toBe('none');
  expect(faultOf(`[${'0,'.repeat(59_999)}0]`)).toBe('too_many_values /59999');
});

test('a long key is cut in the place that a fault names', () => {
  expect(faultOf(`{"${'k'.repeat(500)}":1.5}`)).toBe(`not_an_integer /${'k'.repeat(99)}…`);
});

describe('hostile input', () => {
  /** Nearly twice the longest payload; a reader that takes the square of its length would take minutes. */
  const longest = 500_000;
  const large: readonly (readonly [string, (length: number) => string])[] = [
    ['deep arrays', (length) => '['.repeat(length / 5)],
    ['deep objects', (length) => '{"a":'.repeat(length / 5)],
    ['a huge number', (length) => '9'.repeat(length)],
    ['a huge fraction', (length) => `0.${'9'.repeat(length)}`],
    ['a huge negative exponent', (length) => `1e-${'9'.repeat(length)}`],
    ['many escapes', (length) => `"${'\\u0061'.repeat(length / 5)}"`],
    ['an open string', (length) => `"${'a'.repeat(length)}`],
    ['open escapes', (length) => `"${'\\\\'.repeat(length)}`],
    ['many keys', (length) => `{${Array.from({ length: length / 10 }, (_, key) => `"${key}":0`).join(',')}}`],
    ['one key again and again', (length) => `{${'"a":0,'.repeat(length / 5)}"b":1}`],
    ['combining marks', (length) => `"${'\u0315\u0300'.repeat(length / 4)}"`],
    ['as many combining marks as are allowed', (length) => `"${`a${'\u0315\u0300'.repeat(15)}`.repeat(length / 31)}"`],
    ['Hangul jamo', (length) => `"${'\u1100\u1161\u11a8'.repeat(length / 3)}"`],
    ['white space', (length) => ' '.repeat(length)],
    ['commas', (length) => `[${','.repeat(length)}`],
    ['brackets side by side', (length) => `[${'[],'.repeat(length / 3)}[]]`],
  ];

  test.each(large)('reading %s takes time in proportion to its length, and throws nothing', (_name, textOf) => {
    const reading = (length: number) => {
      const text = textOf(length);
      const bytes = Buffer.from(text);
      return () => {
        parseStrictJson(text, { maxDepth: longest });
        parseStrictJson(bytes);
      };
    };
    expect(growthOf(reading, longest)).toBeLessThan(linear);
  });

  test('never throws, and accepts nothing that JSON.parse refuses', () => {
    const pieces = fc.constantFrom(
      ...[
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '\\',
        '\\u',
        '\\u00',
        'a',
        '"a"',
        '"a":',
        '1',
        '-',
        '0',
        '.',
        'e',
        'true',
        'null',
      ],
      ...[' ', '\n', '\ufeff', '\ud800', '\u0301', 'é', '\u0000', '9007199254740993'],
    );
    const text = fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), (input) => {
        const result = parseStrictJson(input);
        if (result.ok) expect(result.value).toEqual(JSON.parse(input));
      }),
      { numRuns: 2000 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        parseStrictJson(bytes);
      }),
    );
  });
});
