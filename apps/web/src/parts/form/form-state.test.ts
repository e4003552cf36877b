import { expect, test } from '@jest/globals';
import { changedNames, decided, edited, met, openForm, saved } from './form-state.ts';

const version = (etag: string, title: string, notes: string, tags: string[] = []) => ({
  etag,
  values: { title, notes, tags },
});
const first = version('1', 'Fog', 'old', ['a']);

test('a form that nobody touched follows what others save', () => {
  const state = met(openForm(first), version('2', 'Fog', 'new', ['a', 'b']));
  expect(state.values).toEqual({ title: 'Fog', notes: 'new', tags: ['a', 'b'] });
  expect([changedNames(state), state.conflicts, state.taken]).toEqual([[], [], ['notes', 'tags']]);
});

test('fields that only one side changed are taken from that side, and a save sends mine alone', () => {
  const state = met(edited(openForm(first), 'title', 'Fog, 1911'), version('2', 'Fog', 'theirs'));
  expect(state.values).toEqual({ title: 'Fog, 1911', notes: 'theirs', tags: [] });
  expect(state.base.etag).toBe('2');
  expect(changedNames(state)).toEqual(['title']);
  expect(state.conflicts).toEqual([]);
});

test('a field that both changed keeps mine and shows theirs, until one is chosen', () => {
  const state = met(edited(openForm(first), 'notes', 'mine'), version('2', 'Fog', 'theirs', ['a']));
  expect(state.values.notes).toBe('mine');
  expect(state.conflicts).toEqual([{ name: 'notes', theirs: 'theirs' }]);
  expect(decided(state, 'notes', 'theirs')).toMatchObject({ values: { notes: 'theirs' }, conflicts: [] });
  expect(changedNames(decided(state, 'notes', 'theirs'))).toEqual([]);
  const kept = decided(state, 'notes', 'mine');
  expect(kept).toMatchObject({ values: { notes: 'mine' }, conflicts: [] });
  expect(changedNames(kept)).toEqual(['notes']);
});

test('both sides wrote the same: there is nothing to decide', () => {
  const state = met(edited(openForm(first), 'notes', 'same'), version('2', 'Fog', 'same', ['a']));
  expect([state.conflicts, changedNames(state)]).toEqual([[], []]);
});

test('a third version while a conflict waits shows its newest text, and mine is still there', () => {
  const twice = met(
    met(edited(openForm(first), 'notes', 'mine'), version('2', 'Fog', 'theirs')),
    version('3', 'Fog', 'theirs again'),
  );
  expect(twice.values.notes).toBe('mine');
  expect(twice.conflicts).toEqual([{ name: 'notes', theirs: 'theirs again' }]);
  const unchanged = met(
    met(edited(openForm(first), 'notes', 'mine'), version('2', 'Fog', 'x')),
    version('3', 'B', 'x'),
  );
  expect(unchanged.conflicts).toEqual([{ name: 'notes', theirs: 'x' }]);
});

test('what is typed while a save is on its way is a change of the next version', () => {
  const sent = edited(openForm(first), 'title', 'Sent');
  const state = saved(edited(sent, 'notes', 'later'), sent.values, version('2', 'Sent', 'old', ['a']));
  expect(state.values).toEqual({ title: 'Sent', notes: 'later', tags: ['a'] });
  expect(changedNames(state)).toEqual(['notes']);
});
