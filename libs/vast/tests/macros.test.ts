import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fillMacros, parseTrackingTemplate, type MacroContext } from '../src/index.ts';
import { knownMacros, personalMacros } from '../src/macros.ts';

const context: MacroContext = {
  now: new Date('2016-01-17T08:15:07.127Z'),
  cacheBusting: 42,
  playheadMs: 321_123,
  breakPosition: 'mid',
  adType: 'audio',
  errorCode: 303,
};
const bare: MacroContext = { now: context.now, cacheBusting: 99_999_999 };

describe('fillMacros', () => {
  test.each([
    ['CACHEBUSTING', '00000042', '99999999'],
    ['TIMESTAMP', '2016-01-17T08%3A15%3A07.127Z', '2016-01-17T08%3A15%3A07.127Z'],
    ['VASTVERSIONS', '2,3,5,6,7,8,11,12,13,14', '2,3,5,6,7,8,11,12,13,14'],
    ['MEDIAPLAYHEAD', '00%3A05%3A21.123', '-1'],
    ['CONTENTPLAYHEAD', '00%3A05%3A21.123', '-1'],
    ['BREAKPOSITION', '2', '-1'],
    ['ADTYPE', 'audio', '-1'],
    ['ERRORCODE', '303', '-1'],
    ['DOMAIN', '-1', '-1'],
    ['DEVICEIP', '-2', '-2'],
  ])('%s is %s, and %s where nothing is known, in every form', (name, known, unknown) => {
    const url = `https://a.example/${name}?a=[${name}]&b=%%${name}%%&c=%5B${name}%5d#[${name}]`;
    const filled = (value: string) => `https://a.example/${name}?a=${value}&b=${value}&c=${value}#${value}`;
    expect(fillMacros(url, context)).toBe(filled(known));
    expect(fillMacros(url, bare)).toBe(filled(unknown));
  });

  test('the breaks have the numbers of the list', () => {
    const of = (breakPosition: 'pre' | 'mid' | 'post') => fillMacros('[BREAKPOSITION]', { ...bare, breakPosition });
    expect((['pre', 'mid', 'post'] as const).map(of)).toEqual(['1', '2', '3']);
  });

  test('other names, small letters and broken forms stay as they are', () => {
    const url =
      'https://a.example/?a=[FOO]&b=[timestamp]&c=[ADTYPE&d=%ADTYPE%&e=[__proto__]&f=[constructor]&g=[TOSTRING]';
    expect(fillMacros(url, context)).toBe(url);
  });

  test('a random number of more than eight digits, or of none, is refused', () => {
    for (const cacheBusting of [-1, 100_000_000, 0.5, Number.NaN])
      expect(() => fillMacros('', { ...bare, cacheBusting })).toThrow(RangeError);
  });

  test('no template and no context tells anything about a person: each macro of theirs becomes -2', () => {
    const part = fc.oneof(
      fc.constantFrom(...personalMacros).map((name) => ({ name })),
      fc.constantFrom(...knownMacros, 'FOO').map((name) => ({ name })),
      fc.webQueryParameters().map((text) => ({ text })),
    );
    const form = fc.constantFrom(['[', ']'], ['%%', '%%'], ['%5B', '%5D'], ['%5b', '%5d']);
    const someContext = fc.record({
      now: fc.date({ noInvalidDate: true }),
      cacheBusting: fc.nat(99_999_999),
      playheadMs: fc.nat(),
      errorCode: fc.nat(999),
    });
    fc.assert(
      fc.property(fc.array(part), form, someContext, (parts, [open = '', close = ''], some) => {
        const written = parts.map((piece) => ('name' in piece ? `${open}${piece.name}${close}` : piece.text));
        const filled = fillMacros(`https://a.example/?${written.join('|')}`, some)
          .slice('https://a.example/?'.length)
          .split('|');
        for (const [index, piece] of parts.entries())
          if ('name' in piece && personalMacros.includes(piece.name)) expect(filled[index]).toBe('-2');
          else if ('name' in piece && knownMacros.has(piece.name)) expect(filled[index]).toMatch(/^[\w.~,%-]+$/);
      }),
    );
  });

  test('each macro of the list of IAB Tech Lab is known once', () => {
    expect(knownMacros.size).toBe(56);
    expect(new Set(personalMacros).size).toBe(personalMacros.length);
  });
});

describe('parseTrackingTemplate', () => {
  test('an https address with macros of the list is taken as it stands, with their names', () => {
    const url = 'https://track.example/p/[ADTYPE]?cb=[CACHEBUSTING]&ip=%%DEVICEIP%%&again=%5BADTYPE%5D&x=%20';
    expect(parseTrackingTemplate(url)).toEqual({
      ...{ kind: 'template', url },
      macros: ['ADTYPE', 'CACHEBUSTING', 'DEVICEIP'],
    });
    expect(parseTrackingTemplate('https://[2001:db8::1]/p')).toMatchObject({ kind: 'template', macros: [] });
  });

  test.each([
    ['http://track.example/', 'is no https address'],
    ['track.example', 'is no https address'],
    ['', 'is no https address'],
    ['https://', 'is no address'],
    ['https://name:word@track.example/', 'has a user name or a password'],
    ['https://[DOMAIN]/p', 'has a macro in its host'],
    ['https://%%DOMAIN%%/p', 'has a macro in its host'],
    ['https://track.example\\@evil.example/', 'has a space, a backslash or a control character'],
    ['https://track.example/a b', 'has a space'],
    ['https://track.example/\n', 'has a space'],
    [`https://track.example/${'a'.repeat(4_096)}`, 'is longer than 4096 characters'],
    ['https://track.example/#a', 'has a fragment'],
    ['https://track.example/?a=[FOO]', 'has a macro that VAST 4.2 does not know: [FOO]'],
    ['https://track.example/?a=%%FOO%%', 'has a macro that VAST 4.2 does not know: [FOO]'],
    ['https://track.example/?a=[timestamp]', 'has brackets or percent signs that are no macro'],
    ['https://track.example/?a={ADTYPE}', 'has brackets or percent signs that are no macro'],
    ['https://track.example/?a=%%adtype%%', 'has brackets or percent signs that are no macro'],
    ['https://track.example/?a=50%', 'has a % that begins no percent-encoding'],
  ])('%j is refused in words', (url, words) => {
    expect(parseTrackingTemplate(url)).toEqual({ kind: 'refused', reason: expect.stringContaining(words) });
  });

  test('what is taken is an https address at the same host, whatever the context fills in', () => {
    const piece = fc.oneof(fc.string(), fc.constantFrom('[ADTYPE]', '%%IFA%%', '/', '?', '[', '%', '@', '#'));
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const template = parseTrackingTemplate(`https://track.example/${pieces.join('')}`);
        if (template.kind === 'refused') return;
        const { protocol, host } = new URL(fillMacros(template.url, context));
        expect([protocol, host]).toEqual(['https:', 'track.example']);
      }),
    );
  });
});
