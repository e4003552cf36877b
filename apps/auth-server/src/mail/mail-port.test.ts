import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { createMailPort } from './mail-port.ts';
import { mails } from './mails.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'mail-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a mail in a folder is a text that a person reads as it is, with the link whole', async () => {
  const link = `https://podcasts.example.com/sign-in/reset/finish?token=lw_once_${'a'.repeat(43)}`;
  const mail = mails.invitation(
    {
      ...{
        id: 'mbr_1',
        workspaceId: 'ws_1',
        email: 'zoë@example.com',
        accountId: 'acc_1',
        organization: 'Zoës “Hörspiel” & Söhne',
      },
      offer: { permissions: [] },
    },
    link,
  );
  await createMailPort({ MAIL_FOLDER: folder, from: 'Longwave <no-reply@example.com>' }).send(mail);
  const [file = ''] = readdirSync(folder);
  const [head = '', ...rest] = readFileSync(path.join(folder, file), 'utf8').split('\n\n');
  expect(rest.join('\n\n')).toBe(mail.text);
  expect(head).toMatch(/^Content-Type: text\/plain; charset=utf-8$/m);
  expect(head).toMatch(/^Content-Transfer-Encoding: 8bit$/m);
});
