import type { Pool } from '@longwave/postgres';
import { isProblem } from '@longwave/problems';
import { z } from 'zod';
import { showPage, takeForm, type PageAnswer, type PageRoute, type Visit } from '../http/page-route.ts';
import { deleteMailTokens, findMailToken, takeMailToken } from '../mail/mail-token-table.ts';
import { mails } from '../mail/mails.ts';
import type { PostOffice } from '../mail/post-office.ts';
import { formTokenField, nameField, textField } from '../pages/form-fields.ts';
import { html } from '../pages/html.ts';
import { hashPassword } from '../passwords/password-hash.ts';
import type { LimitMails } from '../mail/limit-mails.ts';
import { emailField, newPasswordField } from '../passwords/password-fields.ts';
import { savePassword } from '../passwords/password-table.ts';
import type { BeginSession } from '../sign-in/begin-session.ts';
import { choosePasswordPage, linkIsOver, mailIsSent } from '../sign-in/choose-password-page.ts';
import { returnField, returnToOf, withReturn } from '../sign-in/local-path.ts';
import { findUserByEmail } from '../users/user-table.ts';
import type { CreatePerson } from './create-person.ts';

export interface SignUpDeps {
  readonly pool: Pool;
  readonly post: PostOffice;
  readonly limitMails: LimitMails;
  readonly createPerson: CreatePerson;
  readonly beginSession: BeginSession;
}

const askPage = (
  visit: Visit,
  values: { readonly name?: string; readonly email?: string } = {},
  errors: { readonly name?: string | undefined; readonly email?: string | undefined } = {},
): PageAnswer => ({
  title: 'Sign up',
  status: Object.values(errors).some(Boolean) ? 422 : 200,
  body: html`<h1>Sign up</h1>
    <p>Host your podcasts and their advertising. You get a mail with a link to go on.</p>
    <form method="post" action="/sign-up">
      ${formTokenField(visit.formToken)}${returnField(visit)}
      ${textField({ name: 'name', label: 'Name', autocomplete: 'name', value: values.name, error: errors.name })}
      ${textField({
        ...{ name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username' },
        ...{ value: values.email, error: errors.email },
      })}
      <button class="primary">Send the mail</button>
    </form>
    <p>You have an account? <a href="${withReturn('/sign-in', returnToOf(visit))}">Sign in</a></p>`,
});

const textOf = ({ request, texts }: Visit, name: string) =>
  z
    .string()
    .catch('')
    .parse(texts[name] ?? request.query[name]);

/**
 * Signing up. Nothing exists before the link of the mail is followed, and the password is chosen behind it: nobody can prepare an account
 * for the address of somebody else.
 */
export function signUpRoutes({ pool, post, limitMails, createPerson, beginSession }: SignUpDeps): readonly PageRoute[] {
  const form = (visit: Visit, email: string, error?: string) =>
    choosePasswordPage(visit, {
      ...{ title: 'Choose a password', action: '/sign-up/finish', button: 'Finish' },
      ...{ token: textOf(visit, 'token'), email, error },
    });

  return [
    showPage('/sign-up', 'anyone', (visit) => askPage(visit)),

    takeForm(
      '/sign-up',
      'anyone',
      z.object({ name: nameField, email: emailField, return_to: z.string().optional() }),
      async (visit, sent) => {
        if (!sent.success) {
          const wrong = new Set(sent.error.issues.map(({ path }) => path[0]));
          return askPage(
            visit,
            { name: textOf(visit, 'name'), email: textOf(visit, 'email') },
            {
              name: wrong.has('name') ? 'Write your name in one line.' : undefined,
              email: wrong.has('email') ? 'Write an e-mail address.' : undefined,
            },
          );
        }
        const { name, email } = sent.data;
        const returnTo = returnToOf(visit);
        await limitMails.countRequest(visit.sender);
        post.later(async () => {
          const user = await findUserByEmail(pool, email);
          if (!(await limitMails.mayGo('sign_up', email))) return;
          if (user) await post.send(mails.alreadySignedUp(email, await post.linkFor('reset', { email }, returnTo)));
          else await post.send(mails.signUp(email, await post.linkFor('sign_up', { email, name }, returnTo)));
        }, visit.response);
        return mailIsSent(email);
      },
    ),

    showPage('/sign-up/finish', 'anyone', async (visit) => {
      const about = await findMailToken(pool, 'sign_up', textOf(visit, 'token'), visit.now);
      return about ? form(visit, about.email) : linkIsOver('/sign-up');
    }),

    takeForm(
      '/sign-up/finish',
      'anyone',
      z.object({ token: z.string(), email: z.string(), password: newPasswordField, return_to: z.string().optional() }),
      async (visit, { success, data, error }) => {
        const known = await findMailToken(pool, 'sign_up', textOf(visit, 'token'), visit.now);
        if (!known) return linkIsOver('/sign-up');
        if (!success) return form(visit, known.email, error.issues[0]?.message);
        const encoded = await hashPassword(data.password);
        const about = await takeMailToken(pool, 'sign_up', data.token, visit.now);
        if (!about) return linkIsOver('/sign-up');
        try {
          const userId = await createPerson(about.name ?? about.email, about.email, returnToOf(visit));
          const passwordSetAt = await savePassword(pool, userId, encoded, visit.now);
          await deleteMailTokens(pool, { email: about.email });
          const proof = { passwordSetAt, secondFactorSince: null };
          const begun = await beginSession({ ...visit, session: undefined }, userId, { isKnownDevice: false, proof });
          return { redirect: returnToOf(visit), setCookies: begun.setCookies };
        } catch (problem) {
          if (isProblem(problem, 'value_taken')) return { redirect: withReturn('/sign-in', returnToOf(visit)) };
          throw problem;
        }
      },
    ),
  ];
}
