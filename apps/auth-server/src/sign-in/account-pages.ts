import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { showPage, takeForm, type PageRoute } from '../http/page-route.ts';
import { formTokenField } from '../pages/form-fields.ts';
import { html } from '../pages/html.ts';
import { planName } from '../plans.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { listAccountsOf, type ReachableAccount } from '../users/user-table.ts';
import { browserName } from './browser-name.ts';
import { localPath } from './local-path.ts';

export interface AccountChoiceDeps {
  readonly pool: Pool;
  readonly sessions: Sessions;
}

const choice = (account: ReachableAccount, currentId: string) =>
  html`<li>
    <span class="what"
      ><b>${account.name}</b
      ><small
        >${account.isOwner ? 'Yours' : 'You are a member'}, plan
        ${planName(account.plan)}${account.id === currentId && '. You work here now.'}</small
      ></span
    >
    <button name="account" value="${account.id}">
      ${account.id === currentId ? 'Stay here' : 'Work here'}<span class="hidden"> (${account.name})</span>
    </button>
  </li>`;

/** The account in which a person works, of those that the person owns or is a member of. */
export const accountChoiceRoutes = ({ pool, sessions }: AccountChoiceDeps): readonly PageRoute[] => [
  showPage('/sign-in/account', 'session', async ({ request, session, formToken }) => {
    const accounts = await listAccountsOf(pool, session.user.id);
    return {
      title: 'Choose an account',
      body: html`<h1>Choose an account</h1>
        <form method="post" action="/sign-in/account">
          ${formTokenField(formToken)}
          <input type="hidden" name="return_to" value="${localPath(request.query['return_to'])}" />
          <ul class="list">
            ${accounts.map((account) => choice(account, session.account.id))}
          </ul>
        </form>`,
    };
  }),

  takeForm(
    '/sign-in/account',
    'session',
    z.object({ account: z.string(), return_to: z.string().optional() }),
    async ({ request, session }, form) => {
      if (!form.success) throw new Problem('validation_failed', 'Choose one of the accounts.');
      const accounts = await listAccountsOf(pool, session.user.id);
      const account = accounts.find(({ id }) => id === form.data.account);
      if (!account) throw new Problem('not_found', 'There is no such account among yours.');
      const redirect = localPath(form.data.return_to);
      if (account.id === session.account.id) return { redirect };
      const name = browserName(request.get('user-agent'));
      const { user, signedInAt: passwordGivenAt, proof } = session;
      const cookie = await sessions.open({ userId: user.id, account, passwordGivenAt, proof, name });
      await sessions.end(session);
      return { redirect, setCookies: [cookie] };
    },
  ),
];
