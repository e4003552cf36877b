import { expect, test } from '@jest/globals';
import { sanitizeNotes, withSafeNotes } from './show-notes.ts';

test.each([
  ['<script>alert(1)</script>hi <b onclick="x()">you</b>', 'hi <b>you</b>'],
  ['<a href="javascript:alert(1)">a</a><a href=" JaVaScript&#58;alert(1)">b</a>', '<a>a</a><a>b</a>'],
  ['<img src="data:image/png;base64,eA=="><img src="x.png" onerror="x()">', '<img src="x.png" />'],
  ['<svg><script>1</script></svg><style>p{}</style><iframe src="https://x.example"></iframe>', ''],
  ['<form action="https://x.example"><input name="q">say</form>', 'say'],
  ['<noscript><p title="</noscript><img src=x onerror=alert(1)>">', '<p></p>'],
  ['<a href="//x.example/a">p</a>', '<a>p</a>'],
])('%s is shown without what runs, embeds, sends or styles', (markup, safe) => {
  expect(sanitizeNotes(markup)).toEqual({ notes: safe, removed: true });
});

test.each([
  ['Boats & lights < sea', 'Boats & lights < sea'],
  ['1 < 2 and "quotes" &amp; more', '1 < 2 and "quotes" &amp; more'],
  ['<p>Boats & lights</p>', '<p>Boats &amp; lights</p>'],
  [
    '<h2>Links</h2><ul><li><a href="https://example.com/?a=1&amp;b=2" title="t">x</a></li></ul><table><tr><td colspan="2">1</td></tr></table>',
    '<h2>Links</h2><ul><li><a href="https://example.com/?a=1&amp;b=2" title="t">x</a></li></ul><table><tr><td colspan="2">1</td></tr></table>',
  ],
  [
    '<a href="mailto:a@example.com">m</a><br><img src="https://example.com/a.png" alt="A">',
    '<a href="mailto:a@example.com">m</a><br /><img src="https://example.com/a.png" alt="A" />',
  ],
  ['<p>open <b>bold', '<p>open <b>bold</b></p>'],
  ['a <!-- comment --> b', 'a  b'],
])('%s keeps everything that apps show', (markup, kept) => {
  expect(sanitizeNotes(markup)).toEqual({ notes: kept, removed: false });
});

test('sanitised notes do not change when they are sanitised again', () => {
  for (const markup of ['<p>a & b <i>c</p>', 'x<script>1</script>&lt;script&gt;', '<img src=a.png><br>']) {
    const { notes } = sanitizeNotes(markup);
    expect(sanitizeNotes(notes)).toEqual({ notes, removed: false });
  }
});

test('markup that no person wrote loses its tags instead of an HTML parser’s time', () => {
  for (const part of ['<p><ul><li>', '<b>', '<a href="', '<!--'])
    expect(sanitizeNotes(part.repeat(300_000)).notes).not.toMatch(/<[a-z/!?]/i);
  for (const part of ['< ', '&amp;', '&'])
    expect(/<[a-z/!?]/i.test(sanitizeNotes(`<b>a</b>${part.repeat(100_000)}`).notes)).toBe(false);
});

test('notes that are too long when written out safely are refused with their field', () => {
  expect(() => withSafeNotes({ description: `<p>${'&'.repeat(90)}</p>` }, 100)).toThrow(
    expect.objectContaining({ code: 'validation_failed', message: expect.stringContaining('100 bytes') }),
  );
});
