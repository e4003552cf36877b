import path from 'node:path';
import type { FleetAccess } from '@longwave/fleet';
import { newId } from '@longwave/ids';
import { createBrowser, type Browser } from './browser.ts';
import { mailTo } from './mails.ts';

interface Running {
  readonly fleet: Pick<FleetAccess, 'urls' | 'dataFolder'>;
}

/** A person with an account of its own, in a browser that is signed in. */
export interface Person {
  readonly email: string;
  readonly password: string;
  readonly accountId: string;
  readonly browser: Browser;
  /** The token in the link of the mail that ended the sign-up. */
  readonly mailToken: string;
}

/** The folder of an installation into which its mails go. */
export const mailFolderOf = ({ fleet }: Running): string => path.join(fleet.dataFolder, 'mail');

/** The token in the link of a mail. */
export const tokenIn = (link: string): string => new URLSearchParams(link.split('?')[1]).get('token')!;

/** Signs up as a person does: by the form, the link of the mail and a password. */
export async function signUp(world: Running, name: string): Promise<Person> {
  const [browser, email, password] = [
    createBrowser(world.fleet.urls.base),
    `${newId('usr')}@example.com`,
    newId('req') as string,
  ];
  await browser.post('/sign-up', { name, email }, {}, '/sign-up');
  const { link } = await mailTo(mailFolderOf(world), email);
  const mailToken = tokenIn(link);
  await browser.post('/sign-up/finish', { token: mailToken, email, password }, {}, link);
  const { id: accountId } = JSON.parse((await browser.get('/api/v1/account')).body) as { id: string };
  return { email, password, accountId, browser, mailToken };
}

/** Accepts the one invitation of an address whose account the operator made: its holder chooses a password by mail first. */
export async function acceptInvitation(world: Running, email: string): Promise<void> {
  const folder = mailFolderOf(world);
  const { link: invitation } = await mailTo(folder, email);
  const browser = createBrowser(world.fleet.urls.base);
  await browser.post('/sign-in/reset', { email }, {}, '/sign-in/reset');
  const { link } = await mailTo(folder, email, 2);
  await browser.post('/sign-in/reset/finish', { token: tokenIn(link), email, password: newId('req') }, {}, link);
  const { body } = await browser.get(invitation);
  const id = /action="\/settings\/members\/accept"[^]*?name="id" value="([^"]+)"/.exec(body)?.[1] ?? '';
  await browser.post('/settings/members/accept', { id }, {}, invitation);
}
