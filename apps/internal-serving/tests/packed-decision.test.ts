import { expect, test } from '@jest/globals';
import { idBytes, newId } from '@longwave/ids';
import fc from 'fast-check';
import { noTexts } from '../src/decisions/known-texts.ts';
import { listDecision, packDecision, unpackRow } from '../src/decisions/packed-decision.ts';
import { packValue, unpackValue } from '../src/decisions/packed-value.ts';
import {
  goldenCredit,
  goldenDecision,
  goldenFormats,
  goldenPictures,
  goldenTexts,
  packedByVersion,
} from './_packed-decisions.ts';

const rowOf = (packed: Buffer) => {
  const { decisionId, workspaceId, atMs } = goldenDecision;
  return { decisionId, workspaceId, atMs, packed };
};
const reading = { get: async (number: number) => (number === 7 ? goldenTexts : []) };
const places = new Map(goldenTexts.map((text, place) => [text, place]));

test.each(Object.entries(packedByVersion))(
  'a decision that was stored as %s reads as it did then',
  async (name, hex) => {
    const byVersion = { '01': goldenDecision, '02': goldenFormats, '03': goldenPictures() };
    const golden = name.includes('credit') ? goldenCredit : byVersion[hex.slice(0, 2) as keyof typeof byVersion];
    const {
      decisionId: _id,
      shareOpportunities: _offered,
      shareServings: _served,
      mode: _mode,
      nodeEpoch: _epoch,
      ...stored
    } = golden;
    expect(await unpackRow(reading, rowOf(Buffer.from(hex, 'hex')))).toEqual(stored);
    // Digests are over the text of the answer, so its fields have the order that they had.
    const { answer } = await unpackRow(reading, rowOf(Buffer.from(hex, 'hex')));
    expect(JSON.stringify(answer)).toBe(JSON.stringify(golden.answer));
  },
);

test('a decision is stored in the newest form, with known texts and without', () => {
  const list = listDecision(goldenDecision);
  const pack = (texts: typeof noTexts) => packDecision(goldenDecision.requestDigest, list, texts).toString('hex');
  expect(pack(noTexts)).toBe(packedByVersion['version 1']);
  expect(pack({ number: 7, texts: goldenTexts, places })).toBe(packedByVersion['version 1 with known texts']);
  const { requestDigest } = goldenFormats;
  const formatted = packDecision(requestDigest, listDecision(goldenFormats), noTexts);
  expect(formatted.toString('hex')).toBe(packedByVersion['version 2']);
  const shown = packDecision(requestDigest, listDecision(goldenPictures()), noTexts);
  expect(shown.toString('hex')).toBe(packedByVersion['version 3']);
  const credited = packDecision(requestDigest, listDecision(goldenCredit), noTexts);
  expect(credited.toString('hex')).toBe(packedByVersion['version 1 with credit']);
});

test('a form that is not known, bytes that are cut off and texts that are missing are refused', async () => {
  const packed = Buffer.from(packedByVersion['version 1 with known texts'], 'hex');
  const other = Buffer.from(packed);
  other[0] = 4;
  await expect(unpackRow(reading, rowOf(other))).rejects.toThrow('unknown form 4');
  for (const length of [40, packed.length - 1])
    await expect(unpackRow(reading, rowOf(packed.subarray(0, length)))).rejects.toThrow('packed value');
  await expect(unpackRow(reading, rowOf(Buffer.concat([packed, Buffer.alloc(1)])))).rejects.toThrow('behind its end');
  await expect(unpackRow({ get: async () => [] }, rowOf(packed))).rejects.toThrow('unknown text');
});

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('pre', 'won', '', 'li_', 'li_0123456789abcdefghjkmnpqr', 'AB'.repeat(32), '__proto'),
  fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex')),
  fc.constantFrom('li', 'cmp', 'evtx', 'a').map((prefix) => newId(prefix)),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false, 0, 63, 64, 127, 128, 2 ** 53 - 1, -1, 0.5, 2 ** 60, 1e300),
    fc.maxSafeNat(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    text,
    fc.array(tie('value'), { maxLength: 12 }),
    fc.dictionary(
      text.filter((name) => name !== '__proto__'),
      tie('value'),
    ),
  ),
}));

test('every value comes back from its bytes as it was, whatever texts are known', () => {
  fc.assert(
    fc.property(value, fc.uniqueArray(text, { maxLength: 60 }), (given, known) => {
      const bytes = packValue(given, new Map(known.map((one, place) => [one, place])));
      expect(JSON.stringify(unpackValue(bytes, known))).toBe(JSON.stringify(given));
    }),
  );
});

test('an id takes its 16 bytes, a digest 32, and a text that comes again one', () => {
  const id = newId('li');
  const none = new Map<string, number>();
  expect(packValue(id, none).subarray(3)).toEqual(idBytes(id));
  expect(packValue('ab'.repeat(32), none)).toHaveLength(33);
  const twice = packValue([id, id], none);
  expect(twice).toHaveLength(1 + 19 + 1);
  expect(packValue(id, new Map([[id, 0]]))).toHaveLength(1);
});
