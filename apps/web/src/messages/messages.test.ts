import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { compileMessage } from '@lingui/message-utils/compileMessage';
import { expect, test } from '@jest/globals';
import { chooseLanguage, languages, t, activateTexts } from './messages.ts';

const source = path.resolve(import.meta.dirname, '..');
/** The folder of what every page needs, and that of each area. */
const folders = readdirSync(import.meta.dirname, { withFileTypes: true, encoding: 'utf8' })
  .flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
  .concat('.');
const textsIn = (folder: string, language: string) =>
  JSON.parse(readFileSync(path.join(import.meta.dirname, folder, `${language}.json`), 'utf8')) as Record<
    string,
    string
  >;
const textsOf = (language: string) =>
  Object.assign({}, ...folders.map((folder) => textsIn(folder, language))) as Record<string, string>;
const english = textsOf('en');
const german = textsOf('de');

/** Places of a text, and for plurals nothing of their branches: languages have different ones. */
const placesOf = (text: string) =>
  [...text.matchAll(/\{(\w+)(?:,|\})/g)].map(([, name]) => name).filter((name, at, all) => all.indexOf(name) === at);

test.each(folders)('English and German have the same texts in %s, in the order of their keys', (folder) => {
  const keys = Object.keys(textsIn(folder, 'en'));
  expect(Object.keys(textsIn(folder, 'de'))).toEqual(keys);
  expect(keys).toEqual(keys.toSorted());
});

test('no text stands in two areas', () => {
  const all = folders.flatMap((folder) => Object.keys(textsIn(folder, 'en')));
  expect(all.filter((key, at) => all.indexOf(key) !== at)).toEqual([]);
});

test('every text has the same places in both languages, and can be compiled', () => {
  for (const [key, text] of Object.entries(english)) {
    expect([key, placesOf(german[key] ?? '').toSorted()]).toEqual([key, placesOf(text).toSorted()]);
    for (const each of [text, german[key] ?? '']) expect(() => compileMessage(each)).not.toThrow();
  }
});

test('German texts say du, and an episode is an Episode everywhere', () => {
  // A capital inside a sentence is the formal address; at its beginning it may be a thing.
  const isFormal = (text: string) => /[^.:!?…“]\s(?:Sie|Ihr\w*|Ihnen)\b/.test(text);
  const found = Object.entries(german).filter(([, text]) => isFormal(text) || /\bFolgen?\b/.test(text));
  expect(found).toEqual([]);
});

test('every text is used', () => {
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' });
  const code = files
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.|generated/.test(file))
    .map((file) => readFileSync(path.join(source, file), 'utf8'))
    .join('\n');
  const literals = new Set([...code.matchAll(/['"]([\w.]+)['"]/g)].map(([, text]) => text));
  const beginnings = [...code.matchAll(/`([\w.]+)\$\{/g)].map(([, text]) => text ?? '');
  const isUsed = (key: string) => literals.has(key) || beginnings.some((beginning) => key.startsWith(beginning));
  expect(Object.keys(english).filter((key) => !isUsed(key))).toEqual([]);
});

test('a text is shown with its values, in the plural of its language', () => {
  const compiled = (texts: Record<string, string>) =>
    Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, compileMessage(text)]));
  activateTexts('en', compiled(english));
  expect(t('podcast.episodes', { episodes: 1, shown: '1' })).toBe('1 episode');
  activateTexts('de', compiled(german));
  expect(t('podcast.episodes', { episodes: 1200, shown: '1.200' })).toBe('1.200 Episoden');
});

test.each([
  [['de-AT', 'en'], 'de'],
  [['fr', 'de'], 'de'],
  [['EN-us'], 'en'],
  [['fr', 'pl'], 'en'],
  [[], 'en'],
])('who wishes for %j reads %s', (wished, language) => {
  expect(chooseLanguage(wished)).toBe(language);
  expect(languages).toContain(language);
});
