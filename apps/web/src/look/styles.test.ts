import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const source = path.resolve(import.meta.dirname, '..');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' });
const read = (file: string) => readFileSync(path.join(source, file), 'utf8');
const modules = files.filter((file) => file.endsWith('.module.css'));

/** Classes of a style sheet by its absolute path, without those of every page (`:global`). */
const classesOf = (file: string) =>
  new Set(
    [
      ...read(file)
        .replace(/:global\([^)]*\)/g, '')
        .matchAll(/\.([a-z][\w-]*)(?=[^{};]*\{)/gi),
    ].map(([, name]) => name),
  );

const used = new Map<string, Set<string>>(modules.map((file) => [file, new Set()]));
for (const file of files.filter((each) => each.endsWith('.tsx') && !each.includes('generated'))) {
  const code = read(file);
  for (const [, local, from] of code.matchAll(/import (\w+) from '(\.[^']+\.module\.css)'/g)) {
    const names = used.get(path.join(path.dirname(file), from ?? ''));
    for (const [, name] of code.matchAll(new RegExp(`\\b${local}\\.(\\w+)`, 'g'))) names?.add(name ?? '');
    // A class by the value of a variable: `styles[tone]` may be any of them.
    if (new RegExp(`\\b${local}\\[`).test(code)) names?.add('*');
  }
}

test.each(modules)('%s has every class that its components name, and no other', (file) => {
  const there = classesOf(file);
  const names = used.get(file) ?? new Set();
  expect([...names].filter((name) => name !== '*' && !there.has(name))).toEqual([]);
  if (!names.has('*')) expect([...there].filter((name) => !names.has(name ?? ''))).toEqual([]);
});

test('colours are tokens: no style sheet of a component names one', () => {
  const literal = /#[\da-f]{3,8}\b|\brgb\(|\bhsl\(/i;
  expect(modules.filter((file) => literal.test(read(file).replace(/light-dark\(#ffffff, #14163a\)/, '')))).toEqual([]);
});
