import { expect, test } from '@jest/globals';
import { parseMe } from './me.ts';

test('the person of a session has a name, and what the person chose', () => {
  const person = { id: 'usr_1', name: 'Ada', email: 'a@a.test', locale: 'de-AT', time_zone: 'Europe/Vienna' };
  const chosen = { name: 'Ada', locale: 'de-AT', timeZone: 'Europe/Vienna' };
  expect(parseMe({ account: { id: 'acc_1' }, person })).toEqual({ owner: 'acc_1 usr_1', ...chosen });
});

test.each([[undefined], [null], [{}], [{ person: { name: 7, locale: '' } }]])(
  '%j names nobody, and pages do without',
  (body) => {
    expect(parseMe(body)).toEqual({ owner: ' ', name: '', locale: undefined, timeZone: undefined });
  },
);
