import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
import { showPage, takeForm, type PageAnswer, type PageRoute, type Visit } from '../http/page-route.ts';
import { deleteMailTokens, findMailToken, takeMailToken } from '../mail/mail-token-table.ts';
import { mails } from '../mail/mails.ts';
import type { PostOffice } from '../mail/post-office.ts';
import { formTokenField, textField } from '../pages/form-fields.ts';
import { html } from '../pages/html.ts';
import type { ChangePassword } from '../passwords/change-password.ts';
import type { LimitMails } from '../mail/limit-mails.ts';
import { emailField, newPasswordField } from '../passwords/password-fields.ts';
import type { SendCommand } from '../send-command.ts';
import { findUserByEmail } from '../users/user-table.ts';
import { choosePasswordPage, linkIsOver, mailIsSent } from './choose-password-page.ts';
import type { Enter } from './enter.ts';
import { returnField, returnToOf, withReturn } from './local-path.ts';

export interface ResetDeps {
  readonly pool: Pool;
  readonly post: PostOffice;
  readonly limitMails: LimitMails;
  readonly changePassword: ChangePassword;
  readonly enter: Enter;
  readonly send: SendCommand;
}

const askPage = (visit: Visit, email = '', error?: string): PageAnswer => ({
  title: 'Choose a new password',
  status: error === undefined ? 200 : 422,
  body: html`<h1>Choose a new password</h1>
    <p>You get a mail with a link to choose it.</p>
    <form method="post" action="/sign-in/reset">
      ${formTokenField(visit.formToken)}${returnField(visit)}
      ${textField({ name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username', value: email, error })}
      <button class="primary">Send the mail</button>
    </form>
    <p><a href="${withReturn('/sign-in', returnToOf(visit))}">Back to signing in</a></p>`,
});

const again = '/sign-in/reset';
const tokenOf = ({ request, texts }: Visit) =>
  z
    .string()
    .catch('')
    .parse(texts['token'] ?? request.query['token']);

/** A new password by mail: for who forgot it, who never had one, and who is kept out by strangers' attempts. */
export function resetRoutes(deps: ResetDeps): readonly PageRoute[] {
  const { pool, post, limitMails, changePassword, enter, send } = deps;

  const form = (visit: Visit, email: string, error?: string) =>
    choosePasswordPage(visit, {
      ...{ title: 'Choose a new password', action: '/sign-in/reset/finish', button: 'Save and sign in' },
      note: 'The access of all programs and your agent tokens ends with the old password. API keys go on: replace them in the settings.',
      ...{ token: tokenOf(visit), email, error },
    });

  return [
    showPage('/sign-in/reset', 'anyone', (visit) => askPage(visit)),

    takeForm(
      '/sign-in/reset',
      'anyone',
      z.object({ email: emailField, return_to: z.string().optional() }),
      async (visit, { success, data }) => {
        const sent = z.string().catch('').parse(visit.texts['email']);
        if (!success) return askPage(visit, sent, 'Write an e-mail address.');
        const { email } = data;
        const returnTo = returnToOf(visit);
        await limitMails.countRequest(visit.sender);
        post.later(async () => {
          const user = await findUserByEmail(pool, email);
          if (user && (await limitMails.mayGo('reset', email)))
            await post.send(mails.reset(email, await post.linkFor('reset', { email }, returnTo)));
        }, visit.response);
        return mailIsSent(email);
      },
    ),

    showPage('/sign-in/reset/finish', 'anyone', async (visit) => {
      const about = await findMailToken(pool, 'reset', tokenOf(visit), visit.now);
      return about ? form(visit, about.email) : linkIsOver(again);
    }),

    takeForm(
      '/sign-in/reset/finish',
      'anyone',
      z.object({ token: z.string(), email: z.string(), password: newPasswordField, return_to: z.string().optional() }),
      async (visit, { success, data, error }) => {
        const known = await findMailToken(pool, 'reset', tokenOf(visit), visit.now);
        if (!known) return linkIsOver(again);
        if (!success) return form(visit, known.email, error.issues[0]?.message);
        const about = await takeMailToken(pool, 'reset', data.token, visit.now);
        const user = about && (await findUserByEmail(pool, about.email));
        if (!user) return linkIsOver(again);
        // Whoever follows a link of a mail has its address.
        if (!user.attributes.email_verified) await send('user.verify_email', user.workspaceId, user.id, {});
        const passwordSetAt = await changePassword({ id: user.id, email: user.attributes.email }, data.password, true);
        await deleteMailTokens(pool, { email: user.attributes.email, userId: user.id });
        const options = { isKnownDevice: false, passwordSetAt, returnTo: returnToOf(visit) };
        return enter.afterPassword({ ...visit, session: undefined }, user.id, options);
      },
    ),
  ];
}
