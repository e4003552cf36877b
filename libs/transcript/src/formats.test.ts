import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  decodeTranscript,
  encodeTranscript,
  parseTranscript,
  renderTranscript,
  TranscriptError,
  transcriptFormats,
  transcriptLimits,
  type Transcript,
  type TranscriptFormat,
} from './index.ts';

interface Case {
  readonly source: string;
  readonly document: Transcript;
  /** The document in each format, 1500 ms later. */
  readonly later: Readonly<Record<TranscriptFormat, string>>;
}
const folder = new URL('../cases/', import.meta.url);
const formatOf = (file: string) => file.slice(file.lastIndexOf('.') + 1) as TranscriptFormat;
const sources = readdirSync(folder).filter((file) => !file.endsWith('.case.json'));
const read = (file: string) => readFileSync(new URL(file, folder), 'utf8');

describe.each(sources)('cases/%s', (file) => {
  const { document, later } = JSON.parse(read(`${file}.case.json`)) as Case;
  test('is read as its document', () => {
    expect(parseTranscript(formatOf(file), read(file))).toEqual(document);
  });
  test.each(transcriptFormats)('is rendered as %s, shifted', (format) => {
    expect(renderTranscript(format, document, 1500)).toBe(later[format]);
  });
});

const problemOf = (format: TranscriptFormat, text: string): string => {
  try {
    parseTranscript(format, text);
  } catch (error) {
    if (error instanceof TranscriptError) return error.message;
    throw error;
  }
  throw new Error('the text was accepted');
};

test.each<[TranscriptFormat, string, string]>([
  ['vtt', '1\n00:00.000 --> 00:01.000\nHello', 'Line 1: A WebVTT file begins with "WEBVTT".'],
  ['vtt', 'WEBVTTX\n', 'Line 1: A WebVTT file begins with "WEBVTT".'],
  ['vtt', 'WEBVTT\n', 'Line 1: The transcript says nothing: it has no cue with text.'],
  [
    'vtt',
    'WEBVTT\n\n00:00.000 --> 00:01.000\nA\n\n00:01:000 --> 00:02.000\nB',
    'Line 6: "00:01:000" is no time of the form hh:mm:ss.mmm or mm:ss.mmm.',
  ],
  [
    'vtt',
    'WEBVTT\r\n\r\n00:00.000 --> 00:61.000\r\nA',
    'Line 3: "00:61.000" is no time of the form hh:mm:ss.mmm or mm:ss.mmm.',
  ],
  ['vtt', 'WEBVTT\n\n00:00.000-->00:01.000\nA', 'Line 3: A cue begins with "start --> end".'],
  ['vtt', 'WEBVTT\n\n00:02.000 --> 00:01.000\nA', 'Line 1: The transcript says nothing: it has no cue with text.'],
  ['vtt', `WEBVTT\n\n00:00.000 --> 00:01.000 ${'x'.repeat(1000)}\nA`, 'Line 3: A cue begins with "start --> end".'],
  ['vtt', 'WEBVTT\n\n00:02.000 --> 100:00:00.000\nA', 'Line 3: A transcript covers at most 100 hours.'],
  ['srt', '1\nHello', 'Line 1: A card begins with its number or "start --> end".'],
  ['srt', '1\n00:00:01 --> 00:00:02,000\nA', 'Line 2: "00:00:01" is no time of the form hh:mm:ss,mmm.'],
  ['srt', '', 'Line 1: The transcript says nothing: it has no cue with text.'],
  ['json', '{\n"segments": [\n  {,}\n]}', 'Line 3: This is not JSON.'],
  ['json', '{\n"segments": [\n', 'Line 3: This is not JSON.'],
  ['json', '[]', 'Line 1: Expected an object with a list "segments".'],
  [
    'json',
    '{"version":"1.0.0",\n"segments":[\n{"startTime":0,"endTime":1,"body":"A"},\n{"startTime":"one","endTime":2,"body":"{B"}]}',
    'Line 4: A segment\'s "startTime" is a number of seconds.',
  ],
  ['json', '{"segments":[\n{"startTime":0,"endTime":1}]}', 'Line 2: A segment\'s "body" is a text.'],
  ['json', '{"segments":[\n[]]}', 'Line 2: A segment is an object.'],
  [
    'json',
    '{"segments":[{"startTime":0,"endTime":1,"body":"A","speaker":1}]}',
    'Line 1: A segment\'s "speaker" is a text.',
  ],
  ['json', '{"segments":[{"startTime":" ","body":"A"}]}', 'Line 1: A segment\'s "startTime" is a number of seconds.'],
  ['srt', 'Hello\n\n1\n00:00:01,000 --> 00:00:02,000\nA', 'Line 1: A card begins with its number or "start --> end".'],
  [
    'srt',
    '1\n00:00:01,000 --> 00:00:02,000\nA\n\n2\nsoon --> later\nB',
    'Line 6: "soon" is no time of the form hh:mm:ss,mmm.',
  ],
])('a %s transcript with a fault is refused with its line and the reason', (format, text, message) => {
  expect(problemOf(format, text)).toBe(message);
});

const cuesOf = (format: TranscriptFormat, text: string) =>
  parseTranscript(format, text).cues.map(({ start_ms, end_ms, text: said }) => [start_ms, end_ms, said]);

test.each<[string, string]>([
  ['no blank line between', '1\n00:00:01,000 --> 00:00:02,000\nA\n2\n00:00:03,000 --> 00:00:04,000\nB\nC\n'],
  ['no numbers', '00:00:01,000 --> 00:00:02,000\nA\n00:00:03,000 --> 00:00:04,000\nB\nC'],
  ['a blank line inside', '1\n00:00:01,000 --> 00:00:02,000\nA\n\n2\n00:00:03,000 --> 00:00:04,000\nB\n\nC\n\n'],
  [
    'a blank line after the number',
    '1\n\n00:00:01,000 --> 00:00:02,000\nA\n\n2\n\n00:00:03,000 --> 00:00:04,000\nB\nC',
  ],
])('SubRip cards with %s are read one by one', (_kind, text) => {
  expect(cuesOf('srt', text)).toEqual([
    [1000, 2000, 'A'],
    [3000, 4000, 'B\nC'],
  ]);
});

test('the text of a SubRip card may be a number or hold an arrow', () => {
  expect(
    cuesOf('srt', '1\n00:00:01,000 --> 00:00:02,000\n41\n\n2\n00:00:03,000 --> 00:00:04,000\na --> b\n42'),
  ).toEqual([
    [1000, 2000, '41'],
    [3000, 4000, 'a --> b\n42'],
  ]);
  expect(cuesOf('srt', '00:00:01,000 --> 00:00:02,000\n41\n\n00:00:03,000 --> 00:00:04,000\n42')).toEqual([
    [1000, 2000, '41'],
    [3000, 4000, '42'],
  ]);
});

test('times are taken as careless tools write them, and a cue that ends before it starts is left out', () => {
  expect(
    cuesOf(
      'vtt',
      'WEBVTT\n\n0:00:01.000 --> 00:00:02,000\nA\n\n00:09.000 --> 00:08.000\nB\n\n00:03.000 --> 00:04.000\nC',
    ),
  ).toEqual([
    [1000, 2000, 'A'],
    [3000, 4000, 'C'],
  ]);
  const segment = (startTime: unknown, endTime: unknown, body: string) => ({ startTime, endTime, body });
  expect(
    cuesOf(
      'json',
      JSON.stringify({
        segments: [segment('0.5', '1', 'A'), segment(1, undefined, 'B'), segment(3, 2, 'C'), segment(4, null, 'D')],
      }),
    ),
  ).toEqual([
    [500, 1000, 'A'],
    [1000, 3000, 'B'],
    [4000, 7000, 'D'],
  ]);
});

test('only the references of WebVTT are resolved', () => {
  expect(cuesOf('vtt', 'WEBVTT\n\n00:00.000 --> 00:01.000\n&lt;&constructor;&toString;&eacute;&#233;')).toEqual([
    [0, 1000, '<&constructor;&toString;&eacute;é'],
  ]);
});

test.each([
  '<b ',
  '<b',
  '</font ',
  '<v ',
  '<v.',
  '<',
  '</v ',
  '{\\an',
  '&a',
  '&#',
  ' ',
  '\t',
  '1',
  'A ',
  'Ab',
  '-->',
  ' --> ',
  '1 --> ',
  '1\n',
  '\n',
  '\n\n',
  '1\n-->\n',
  '{',
  '[',
  '"',
  '\\"',
  'Ä\u0301',
])('a million characters of %j are read in linear work, in any place of a file', (piece) => {
  const nasty = piece.repeat(Math.ceil(1_000_000 / piece.length));
  const files: [TranscriptFormat, string][] = (
    [
      ['srt', '00:00:00,000 --> 00:00:01,000'],
      ['vtt', '00:00.000 --> 00:01.000'],
    ] as const
  ).flatMap(([format, timing]) => {
    const head = format === 'vtt' ? 'WEBVTT\n\n' : '1\n';
    return [
      nasty,
      `${head}${nasty}x`,
      `${head}${timing}${nasty}\u0000x`,
      `${head}${timing} ${nasty}\nA`,
      `${head}${timing}\n${nasty}x`,
      `${head}${nasty}${timing}\nA`,
    ].map((text): [TranscriptFormat, string] => [format, text]);
  });
  files.push(['json', nasty], ['json', JSON.stringify({ segments: [{ startTime: nasty, endTime: 1, body: nasty }] })]);
  files.push([
    'json',
    JSON.stringify({ other: nasty, segments: [{ startTime: 0, endTime: 1, body: 'A', speaker: nasty }] }),
  ]);
  for (const [format, text] of files) {
    try {
      expect(parseTranscript(format, text).cues.length).toBeGreaterThan(0);
    } catch (error) {
      expect(error).toBeInstanceOf(TranscriptError);
    }
  }
});

test('sizes are bounded: the file, its cues, one cue, one name', () => {
  const segment = { startTime: 0, endTime: 1, body: 'A' };
  const file = (segments: unknown[]) => JSON.stringify({ segments });
  expect(problemOf('srt', 'x'.repeat(transcriptLimits.characters + 1))).toMatch(/at most 8388608 characters/);
  expect(problemOf('json', file(Array(transcriptLimits.cues + 1).fill(segment)))).toMatch(/at most 100000 cues/);
  expect(problemOf('json', file([{ ...segment, body: 'x'.repeat(10_001) }]))).toMatch(/A cue holds at most 10000/);
  expect(problemOf('json', file([{ ...segment, speaker: 'x'.repeat(256) }]))).toMatch(/name has at most 255/);
});

/** Texts that try every special character of the formats. */
const line = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom('<', '>', '&', '-->', '<v A>', '&lt;', '&#65;', '\u0000', '\ud800', '😀', '1', ' ', '{\\an8}'),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
    ),
    maxLength: 40,
  })
  .map((text) => text.replace(/[\r\n]/g, ' '));
const segments = fc.array(
  fc.record(
    {
      startTime: fc.integer({ min: 0, max: 4_000_000 }).map((ms) => ms / 1000),
      length: fc.integer({ min: 0, max: 60_000 }),
      body: fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => `a${lines.join('\n')}`),
      speaker: line,
    },
    { requiredKeys: ['startTime', 'length', 'body'] },
  ),
  { minLength: 1, maxLength: 20 },
);
const documents = segments.map((found) =>
  parseTranscript(
    'json',
    JSON.stringify({
      segments: found.map(({ length, ...segment }) => ({ ...segment, endTime: segment.startTime + length / 1000 })),
    }),
  ),
);

test.each(['vtt', 'json'] as const)('any document comes back whole from %s and from the store', (format) => {
  fc.assert(
    fc.property(documents, (document) => {
      expect(parseTranscript(format, renderTranscript(format, document))).toEqual(document);
      expect(decodeTranscript(encodeTranscript(document))).toEqual(document);
    }),
    { numRuns: 500 },
  );
});

test('a shift moves every cue, back and forth', () => {
  fc.assert(
    fc.property(documents, fc.integer({ min: 0, max: 600_000 }), (document, shiftMs) => {
      const later = parseTranscript('vtt', renderTranscript('vtt', document, shiftMs));
      expect(later.cues.map((cue) => cue.start_ms)).toEqual(document.cues.map((cue) => cue.start_ms + shiftMs));
      expect(parseTranscript('vtt', renderTranscript('vtt', later, -shiftMs))).toEqual(document);
    }),
  );
  const document: Transcript = {
    version: 1,
    cues: [
      { start_ms: 0, end_ms: 1000, text: 'A' },
      { start_ms: 500, end_ms: 2000, text: 'B' },
    ],
  };
  expect(parseTranscript('json', renderTranscript('json', document, -1000)).cues).toEqual([
    { start_ms: 0, end_ms: 1000, text: 'B' },
  ]);
});

test('SubRip cards keep every word and speaker in order, within 32 characters a line, two lines a card, and the time of their cue', () => {
  const word = fc.stringMatching(/^[a-z<>&é😀]{1,40}$/u).filter((text) => !/<[bius]|<font|-->/.test(text));
  const spoken = fc.array(
    fc.record({
      startTime: fc.integer({ min: 0, max: 1000 }),
      body: fc.array(word, { minLength: 1, maxLength: 40 }).map((words) => words.join(' ')),
      speaker: fc.constantFrom('Adam Curry', 'Élodie', '田中', undefined),
    }),
    { minLength: 1, maxLength: 10 },
  );
  const saidBy = ({ cues }: Transcript) => {
    const runs: { speaker: string | undefined; said: string }[] = [];
    for (const { speaker, text } of cues) {
      const last = runs.at(-1);
      const said = text.replace(/\s/g, '');
      if (last && (speaker === undefined || speaker === last.speaker)) last.said += said;
      else runs.push({ speaker, said });
    }
    return runs;
  };
  fc.assert(
    fc.property(spoken, (found) => {
      const cues = found
        .toSorted((a, b) => a.startTime - b.startTime)
        .map((cue, index) => ({ ...cue, startTime: index * 10, endTime: index * 10 + 10 }));
      const document = parseTranscript('json', JSON.stringify({ segments: cues }));
      const srt = renderTranscript('srt', document);
      for (const card of srt.trimEnd().split('\n\n')) {
        const [, , ...lines] = card.split('\n');
        expect(lines.length).toBeLessThanOrEqual(2);
        for (const text of lines) expect([...text].length).toBeLessThanOrEqual(32);
      }
      const again = parseTranscript('srt', srt);
      expect(saidBy(again)).toEqual(saidBy(document));
      for (const { start_ms, end_ms } of again.cues) {
        expect(end_ms).toBeGreaterThan(start_ms);
        expect(Math.floor(start_ms / 10_000)).toBe(Math.floor((end_ms - 1) / 10_000));
      }
      // Rendered again, the cards stay as they are.
      expect(parseTranscript('srt', renderTranscript('srt', again)).cues.map((cue) => cue.start_ms)).toEqual(
        again.cues.map((cue) => cue.start_ms),
      );
    }),
    { numRuns: 200 },
  );
});

test('no text breaks a parser: it is a document or a named fault', () => {
  const pieces = fc.constantFrom(
    'WEBVTT', '\n', '\n\n', '00:00.000 --> 00:01.000', '00:00:01,000 --> 00:00:02,000', '<v A', '</v>', 'NOTE x',
    '{"segments":[', '{"startTime":0,"endTime":1,"body":"x"}', ']}', '1', '-->', '&#xffffffff;', '&#1114112;', '\r', '"', '\ufeff',
  ); // prettier-ignore
  const text = fc
    .array(fc.oneof(pieces, fc.string({ maxLength: 5 })), { maxLength: 12 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.constantFrom(...transcriptFormats), text, (format, file) => {
      try {
        expect(parseTranscript(format, file).cues.length).toBeGreaterThan(0);
      } catch (error) {
        expect(error).toBeInstanceOf(TranscriptError);
      }
    }),
    { numRuns: 2000 },
  );
});
