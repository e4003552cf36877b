import { hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { rowsDigestOf } from '@longwave/exchange-messages';
import { jcsDigest } from '@longwave/idempotency';

/** The double with these bits (hex), as appendix B of RFC 8785 names its samples. */
const doubleOf = (bits: string): number => Buffer.from(bits, 'hex').readDoubleBE();

/** RFC 8785, appendix B: bits of a double → its canonical text. */
const numbers: readonly (readonly [bits: string, text: string])[] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
];

/** RFC 8785, §3.2.2: the example, and its canonical text of §3.2.3 and §3.2.4. */
const example = String.raw`{
  "numbers": [333333333.33333329, 1E30, 4.50,
              2e-3, 0.000000000000000000000000001],
  "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
  "literals": [null, true, false]
}`;
const exampleText = String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`;
const exampleBytes = `
  7b 22 6c 69 74 65 72 61 6c 73 22 3a 5b 6e 75 6c 6c 2c 74 72
  75 65 2c 66 61 6c 73 65 5d 2c 22 6e 75 6d 62 65 72 73 22 3a
  5b 33 33 33 33 33 33 33 33 33 2e 33 33 33 33 33 33 33 2c 31
  65 2b 33 30 2c 34 2e 35 2c 30 2e 30 30 32 2c 31 65 2d 32 37
  5d 2c 22 73 74 72 69 6e 67 22 3a 22 e2 82 ac 24 5c 75 30 30
  30 66 5c 6e 41 27 42 5c 22 5c 5c 5c 5c 5c 22 2f 22 7d`;

/** RFC 8785, §3.2.3: fields sorted by the UTF-16 units of their names. */
const sorting = String.raw`{
  "\u20ac": "Euro Sign",
  "\r": "Carriage Return",
  "\ufb33": "Hebrew Letter Dalet With Dagesh",
  "1": "One",
  "\ud83d\ude00": "Emoji: Grinning Face",
  "\u0080": "Control",
  "\u00f6": "Latin Small Letter O With Diaeresis"
}`;
const sortedValues = [
  ...['Carriage Return', 'One', 'Control', 'Latin Small Letter O With Diaeresis', 'Euro Sign'],
  ...['Emoji: Grinning Face', 'Hebrew Letter Dalet With Dagesh'],
];
const sortedNames = ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33'];
const sortedText = `{${sortedNames.map((name, at) => `${JSON.stringify(name)}:"${sortedValues[at]!}"`).join(',')}}`;

/** The digests of a value that the exchange computes: of a write's payload, and of the rows of a report. */
const digestsOf = (value: unknown) => {
  const rows = [value] as Parameters<typeof rowsDigestOf>[0];
  return { payload: jcsDigest(value), rows: rowsDigestOf(rows) };
};
const digestsOfText = (text: string) => ({
  payload: hash('sha256', text, 'hex'),
  rows: `sha256:${hash('sha256', `[${text}]`, 'hex')}`,
});

describe('digests are of the canonical form of RFC 8785', () => {
  test.each(numbers)('the double %s is written as %s', (bits, text) => {
    expect(digestsOf({ n: doubleOf(bits) })).toEqual(digestsOfText(`{"n":${text}}`));
  });

  test.each(['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000'])(
    'the bits %s are no number of JSON',
    (bits) => {
      expect(() => jcsDigest({ n: doubleOf(bits) })).toThrow();
      expect(() => digestsOf({ n: doubleOf(bits) })).toThrow();
    },
  );

  test('the example of the RFC has its published bytes', () => {
    expect(Buffer.from(exampleText).toString('hex')).toBe(exampleBytes.replaceAll(/\s/g, ''));
    expect(digestsOf(JSON.parse(example))).toEqual(digestsOfText(exampleText));
  });

  test('fields are sorted by UTF-16 units, so that a surrogate comes before U+FB33', () => {
    expect(digestsOf(JSON.parse(sorting))).toEqual(digestsOfText(sortedText));
  });
});
