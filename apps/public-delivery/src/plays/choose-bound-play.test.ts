import { expect, test } from '@jest/globals';
import { chooseBoundPlay } from './choose-bound-play.ts';

const play = (listenerKey: string, app?: string, system?: 'Apple' | 'Android' | 'Windows') => ({
  ...{ listenerKey, app, system, addressKey: 'home' },
  arrangementId: `of ${listenerKey}`,
});
const asker = { listenerKeys: ['me'], app: 'Overcast', system: 'Apple' } as const;
const [overcast, other, library] = [
  play('a', 'Overcast', 'Apple'),
  play('b', 'VLC', 'Apple'),
  play('c', undefined, 'Apple'),
];

test.each([
  ['without any play none is meant', [], undefined],
  ['the own play goes before every other', [overcast, play('me', 'VLC')], 'of me'],
  ['of two plays of the same app the newest is meant', [play('z', 'Overcast'), overcast], 'of z'],
  ['what an address of many shares goes before the same app', [overcast, play('home')], 'of home'],
  ['the same app goes before a library of the system', [library, overcast, other], 'of a'],
  ['a library of the same system goes before other apps', [other, library], 'of c'],
  ['a library of an unknown system may be of any app', [other, play('d')], 'of d'],
  ['a library of another system is of another app', [other, play('d', undefined, 'Android')], undefined],
  ['two libraries of the system are one too many', [library, play('d', undefined, 'Apple'), other], undefined],
  ['the only play is meant, whatever its app is', [other], 'of b'],
  ['two plays of the same file are one', [other, { ...play('d', 'VLC'), arrangementId: 'of b' }], 'of b'],
  ['of two plays of other apps nobody knows which', [other, play('d', 'AntennaPod', 'Android')], undefined],
])('%s', (_name, candidates, expected) => {
  expect(chooseBoundPlay(asker, candidates)).toBe(expected);
});
