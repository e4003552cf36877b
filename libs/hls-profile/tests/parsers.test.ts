import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseAttributes } from '../src/attributes.ts';
import { Mp4Error } from '../src/mp4/boxes.ts';
import { readFragments } from '../src/mp4/fragments.ts';
import { readInitSection } from '../src/mp4/init-section.ts';
import { parsePlaylist } from '../src/parse-playlist.ts';
import { golden } from './_golden.ts';

const name = fc.stringMatching(/^[A-Z][A-Z0-9-]{0,12}$/);
const value = fc.oneof(
  fc.stringMatching(/^[^"\r\n]{0,20}$/).map((text) => ({ text, isQuoted: true })),
  fc.stringMatching(/^[^",\s][^",\s]{0,20}$/).map((text) => ({ text, isQuoted: false })),
);

test('any attribute list is read as it was written', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key, minLength: 1 }), (pairs) => {
      const text = pairs.map(([key, each]) => `${key}=${each.isQuoted ? `"${each.text}"` : each.text}`).join(',');
      expect(parseAttributes(text)).toEqual({ attributes: new Map(pairs), problems: [] });
    }),
  );
});

test.each([
  ['ID="a",', 'An attribute is missing before or after a comma. Take the comma away'],
  ['ID="a", CLASS="b"', '“ CLASS="b"” has a space before or after it. Attributes are separated by a comma alone'],
  ['ID="a",ID="b"', 'ID stands there twice. Write it once'],
  ['“ID”=a', '““ID”=a” has typographic quotation marks. Write straight ones: "'],
  ['id="a"', '“id="a"” is no attribute. Write NAME=value, and text in straight quotation marks'],
  ['ID="a', '“ID="a” is no attribute. Write NAME=value, and text in straight quotation marks'],
])('%s is answered by what to write', (text, problem) => {
  expect(parseAttributes(text).problems).toEqual([problem]);
});

const tags = [
  ...['EXTINF', 'EXT-X-BYTERANGE', 'EXT-X-TARGETDURATION', 'EXT-X-VERSION', 'EXT-X-MAP', 'EXT-X-PROGRAM-DATE-TIME'],
  ...['EXT-X-DATERANGE', 'EXT-X-STREAM-INF', 'EXT-X-MEDIA', 'EXT-X-I-FRAME-STREAM-INF', 'EXT-X-KEY', 'EXT-X-ENDLIST'],
];
const line = fc.oneof(
  fc.string(),
  fc.tuple(fc.constantFrom(...tags), fc.string()).map(([tag, text]) => `#${tag}:${text}`),
);

test('any text is read as a playlist, and each problem names a line that is there', () => {
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const text = ['#EXTM3U', ...lines].join('\n');
      const { problems } = parsePlaylist(text);
      for (const problem of problems) {
        expect(problem.line).toBeGreaterThanOrEqual(1);
        expect(problem.line).toBeLessThanOrEqual(text.split(/\r?\n/).length);
      }
    }),
  );
});

test('segments follow each other in time and in the file, whether or not their offsets are written', () => {
  const segment = fc.record({
    milliseconds: fc.integer({ min: 1, max: 10_000 }),
    length: fc.integer({ min: 1, max: 1_000_000 }),
    hasOffset: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1 }), (written) => {
      let offset = 0;
      const lines = written.flatMap(({ milliseconds, length, hasOffset }, index) => {
        const range = `#EXT-X-BYTERANGE:${length}${hasOffset || index === 0 ? `@${offset}` : ''}`;
        offset += length;
        return [`#EXTINF:${milliseconds / 1000},`, range, 'm.mp4'];
      });
      const playlist = parsePlaylist(['#EXTM3U', '#EXT-X-TARGETDURATION:10', ...lines].join('\n'));
      if (playlist.kind !== 'media') throw new Error('It is a media playlist.');
      expect(playlist.problems).toEqual([]);
      let [time, end] = [0, 0];
      for (const [index, { range, startSeconds, durationSeconds }] of playlist.segments.entries()) {
        expect([range, durationSeconds]).toEqual([
          { offset: end, length: written[index]!.length },
          written[index]!.milliseconds / 1000,
        ]);
        expect(startSeconds).toBeCloseTo(time, 6);
        [time, end] = [time + durationSeconds, end + range!.length];
      }
      expect(playlist.lengthSeconds).toBeCloseTo(time, 6);
    }),
  );
});

const file = golden('audio').get('s/audio.mp4')!;
const init = file.subarray(0, file.indexOf('moof') - 4);
const fragment = file.subarray(init.length, file.indexOf('moof', init.length + 8) - 4);

/** Real bytes, cut off and with a few changed. */
const damaged = (bytes: Buffer) =>
  fc
    .tuple(
      fc.nat(bytes.length),
      fc.array(fc.tuple(fc.nat(Math.min(bytes.length - 1, 2_000)), fc.nat(255)), { maxLength: 4 }),
    )
    .map(([length, changes]) => {
      const copy = Buffer.from(bytes);
      for (const [at, byte] of changes) copy[at] = byte;
      return copy.subarray(0, length);
    });

/** Fails for every error but `Mp4Error`. */
function read(what: () => unknown): void {
  try {
    what();
  } catch (error) {
    if (!(error instanceof Mp4Error)) throw error;
  }
}

test('damaged bytes are refused as such or read, and nothing else happens', () => {
  const good = readInitSection(init);
  fc.assert(fc.property(damaged(init), (bytes) => read(() => readInitSection(bytes))));
  fc.assert(fc.property(damaged(fragment), (bytes) => read(() => readFragments(bytes, good))));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      read(() => readInitSection(bytes));
      read(() => readFragments(bytes, good));
    }),
  );
});

test('a fragment is whole with all of its bytes and with nothing less', () => {
  const good = readInitSection(init);
  expect(readFragments(fragment, good)).toMatchObject({
    notWhole: undefined,
    fragments: [{ samples: 94, duration: 94 * 1024 }],
  });
  fc.assert(
    fc.property(fc.nat(fragment.length - 1), (length) => {
      const cut = fragment.subarray(0, length);
      expect(() => {
        const { notWhole } = readFragments(cut, good);
        if (notWhole !== undefined) throw new Mp4Error(notWhole);
      }).toThrow(Mp4Error);
    }),
  );
});
