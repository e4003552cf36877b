import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { noteTags, parseNotes, type NoteNode } from './notes-tree.ts';

const textOf = (nodes: readonly NoteNode[]): string =>
  nodes.map((node) => (typeof node === 'string' ? node : textOf(node.inside))).join('');
const linksOf = (nodes: readonly NoteNode[]): (string | undefined)[] =>
  nodes.flatMap((node) =>
    typeof node === 'string' ? [] : [...(node.tag === 'a' ? [node.href] : []), ...linksOf(node.inside)],
  );

test('notes become elements with what is inside', () => {
  expect(parseNotes('<p>A <b>bold</b> &amp; <i>calm</i><br/>day</p><ul><li>One</li></ul>')).toEqual([
    {
      tag: 'p',
      inside: [
        'A ',
        { tag: 'strong', inside: ['bold'] },
        ' & ',
        { tag: 'em', inside: ['calm'] },
        { tag: 'br', inside: [] },
        'day',
      ],
    },
    { tag: 'ul', inside: [{ tag: 'li', inside: ['One'] }] },
  ]);
});

test.each([
  ['https://a.test/?x=1&amp;y=2', 'https://a.test/?x=1&y=2'],
  ['mailto:a@a.test', 'mailto:a@a.test'],
  ['javascript:alert(1)', undefined],
  ['&#106;avascript:alert(1)', undefined],
  [' \tjava\nscript:alert(1)', undefined],
  ['data:text/html,x', undefined],
  ['//a.test', undefined],
])('a link to %j leads to %j', (href, address) => {
  expect(linksOf(parseNotes(`<a class="x" href="${href}">here</a>`))).toEqual([address]);
});

test('elements that notes may not have are dropped and their text is kept', () => {
  expect(parseNotes('<script>alert(1)</script><img src=x onerror="a>b">text<!-- no --> 1 < 2')).toEqual([
    'alert(1)',
    'text',
    ' 1 ',
    '<',
    ' 2',
  ]);
});

test('whatever comes in, nothing but known elements and safe links comes out', () => {
  const pieces = fc.constantFrom(
    '<p>',
    '</p>',
    '<a href="',
    'javascript:',
    '">',
    "'",
    '<',
    '>',
    '</ul>',
    '<LI x',
    '&#0;',
    '&lt;b&gt;',
    'x',
  );
  fc.assert(
    fc.property(fc.array(pieces), (parts) => {
      const check = (nodes: readonly NoteNode[]): void => {
        for (const node of nodes) {
          if (typeof node === 'string') continue;
          expect(noteTags).toContain(node.tag);
          expect(node.href ?? 'https://').toMatch(/^(https?:\/\/|mailto:)/i);
          check(node.inside);
        }
      };
      check(parseNotes(parts.join('')));
    }),
  );
});

test('a text without elements is itself', () => {
  fc.assert(
    fc.property(
      fc.string().filter((text) => !/[<&]/.test(text)),
      (text) => expect(textOf(parseNotes(text))).toBe(text),
    ),
  );
});
