import { expect, test } from '@jest/globals';
import { parseMe } from './me.ts';

test('the person of a session has a name, workspaces with roles, and what the person chose', () => {
  const person = { id: 'usr_1', name: 'Ada', email: 'a@a.test', locale: 'de-AT', time_zone: 'Europe/Vienna' };
  const chosen = { name: 'Ada', locale: 'de-AT', timeZone: 'Europe/Vienna' };
  const row = { id: 'ws_1', name: 'Quay', currency: 'EUR', time_zone: 'Europe/Berlin', roles: ['sales', 7] };
  const me = parseMe({ account: { id: 'acc_1' }, person, own_workspace_id: 'ws_1', workspaces: [row] });
  const workspace = { id: 'ws_1', name: 'Quay', currency: 'EUR', timeZone: 'Europe/Berlin', roles: ['sales'] };
  const places = { personId: 'usr_1', ownWorkspaceId: 'ws_1', workspaces: [workspace] };
  expect(me).toEqual({ owner: 'acc_1 usr_1', ...chosen, ...places });
});

test.each([[undefined], [null], [{}], [{ person: { name: 7, locale: '' } }]])(
  '%j names nobody, and pages do without',
  (body) => {
    expect(parseMe(body)).toEqual({
      owner: ' ',
      name: '',
      locale: undefined,
      timeZone: undefined,
      personId: '',
      ownWorkspaceId: '',
      workspaces: [],
    });
  },
);
