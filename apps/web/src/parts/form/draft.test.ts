import { expect, test } from '@jest/globals';
import { drafts } from './draft.ts';
import { edited, openForm } from './form-state.ts';

function memory() {
  const kept = new Map<string, string>();
  const store = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => void kept.set(key, text),
    removeItem: (key: string) => void kept.delete(key),
  };
  return { kept, ...drafts(store) };
}
const version = { etag: '"1"', values: { title: 'Fog', tags: ['a'] } };

test('unsaved text comes back with the version that it was typed on', () => {
  const { save, find, drop } = memory();
  save('ep_1', edited(openForm(version), 'title', 'Fog, 1911'));
  expect(find('ep_1', version.values)).toEqual({ base: version, values: { title: 'Fog, 1911', tags: ['a'] } });
  expect(find('ep_2', version.values)).toBeUndefined();
  drop('ep_1');
  expect(find('ep_1', version.values)).toBeUndefined();
});

test.each([
  '',
  'null',
  '{',
  '7',
  '{"base":{},"values":{"title":"x"}}',
  '{"base":{"values":{"title":1,"tags":[]}},"values":{"title":"x","tags":[]}}',
])('what is stored but is no draft of this form, %j, is none', (text) => {
  const { kept, find } = memory();
  kept.set('longwave-draft:ep_1', text);
  expect(find('ep_1', version.values)).toBeUndefined();
});

test('a browser that stores nothing does no harm', () => {
  const refuse = () => {
    throw new DOMException('no');
  };
  const { save, find, drop } = drafts({ getItem: refuse, setItem: refuse, removeItem: refuse });
  save('ep_1', openForm(version));
  drop('ep_1');
  expect(find('ep_1', version.values)).toBeUndefined();
});
