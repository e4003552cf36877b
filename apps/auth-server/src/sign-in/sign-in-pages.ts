import { interactionPath } from '../oauth/paths.ts';
import { emailField, passwordField } from '../passwords/password-fields.ts';
import { z } from 'zod';
import { showPage, takeForm, type PageAnswer, type PageRoute, type Visit } from '../http/page-route.ts';
import { formTokenField, textField } from '../pages/form-fields.ts';
import { html } from '../pages/html.ts';
import type { CheckPassword, PasswordVerdict } from '../passwords/check-password.ts';
import { deviceDigestOf, type BeginSession } from './begin-session.ts';
import type { Enter } from './enter.ts';
import { returnField, returnToOf, withReturn } from './local-path.ts';
import { refusalNote, refuseThrottled, type Refusal } from '../pages/refusal.ts';

export interface SignInDeps {
  readonly checkPassword: CheckPassword;
  readonly beginSession: BeginSession;
  readonly enter: Enter;
  readonly baseUrl: string;
}

/** Refusals are alike for addresses that are known and others. */
const wrong: Refusal = { status: 422, message: 'The address or the password is wrong.' };
const tooMany =
  'There were too many attempts. Try again later, sign in from a browser that you have used before, or choose a new password by mail.';

const refusalOf = (verdict: PasswordVerdict, visit: Visit): Refusal =>
  verdict.outcome === 'throttled' ? refuseThrottled(tooMany, verdict.waitSeconds, visit) : wrong;

const signInPage = (visit: Visit, email = '', refusal?: Refusal): PageAnswer => ({
  title: 'Sign in',
  status: refusal?.status ?? 200,
  body: html`<h1>Sign in</h1>
    ${refusalNote(refusal)}
    <form method="post" action="/sign-in">
      ${formTokenField(visit.formToken)}${returnField(visit)}
      ${textField({ name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username', value: email })}
      ${textField({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}
      <button class="primary">Sign in</button>
    </form>
    <p><a href="${withReturn('/sign-in/reset', returnToOf(visit))}">Forgot your password?</a></p>
    <p>New here? <a href="${withReturn('/sign-up', returnToOf(visit))}">Sign up</a></p>`,
});

const toChangeSettings =
  'Keys, tokens, members and your address are changed only a short time after you entered the password.';
const toAllowProgram = 'A program asks for access. You can allow it only a short time after you entered the password.';

/** Whether the person is on the way to the page on which a program asks for access. */
const isForProgram = (visit: Visit): boolean => returnToOf(visit).startsWith(`${interactionPath}/`);

/** A program has no address here, so a person who allows nothing leaves the page. */
const wayBack = (visit: Visit) =>
  isForProgram(visit)
    ? html`<p>To allow nothing, close this page and go back to the program.</p>`
    : html`<p><a href="/settings">Back to the settings</a></p>`;

const passwordPage = (visit: Visit, refusal?: Refusal): PageAnswer => ({
  title: 'Enter your password again',
  status: refusal?.status ?? 200,
  body: html`<h1>Enter your password again</h1>
    <p>${isForProgram(visit) ? toAllowProgram : toChangeSettings}</p>
    ${refusalNote(refusal)}
    <form method="post" action="/sign-in/password">
      ${formTokenField(visit.formToken)}${returnField(visit)}
      <input type="hidden" name="email" value="${visit.session?.user.email}" autocomplete="username" />
      ${textField({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}
      <button class="primary">Go on</button>
    </form>
    ${wayBack(visit)}`,
});

/** Signing in, and giving the password again: within a session, whose person gave the code when it began, the password is enough. */
export function signInRoutes({ checkPassword, beginSession, enter, baseUrl }: SignInDeps): readonly PageRoute[] {
  async function attempt(visit: Visit, email: string, password: string) {
    const { request, sender } = visit;
    return checkPassword({ email, password, sender, deviceDigest: deviceDigestOf(request, baseUrl) });
  }

  return [
    showPage('/sign-in', 'anyone', (visit) => signInPage(visit)),

    takeForm(
      '/sign-in',
      'anyone',
      z.object({ email: emailField, password: passwordField, return_to: z.string().optional() }),
      async (visit, form) => {
        const sentEmail = z.string().catch('').parse(visit.texts['email']);
        if (!form.success) return signInPage(visit, sentEmail, wrong);
        const verdict = await attempt(visit, form.data.email, form.data.password);
        if (verdict.outcome !== 'accepted') return signInPage(visit, sentEmail, refusalOf(verdict, visit));
        const { userId, isKnownDevice, passwordSetAt } = verdict;
        return enter.afterPassword(visit, userId, { isKnownDevice, passwordSetAt, returnTo: returnToOf(visit) });
      },
    ),

    showPage('/sign-in/password', 'session', (visit) => passwordPage(visit)),

    takeForm(
      '/sign-in/password',
      'session',
      z.object({ email: z.string().optional(), password: passwordField, return_to: z.string().optional() }),
      async (visit, form) => {
        if (!form.success) return passwordPage(visit, wrong);
        const { user, proof: earlier } = visit.session;
        const verdict = await attempt(visit, user.email, form.data.password);
        if (verdict.outcome !== 'accepted') return passwordPage(visit, refusalOf(verdict, visit));
        const { isKnownDevice, passwordSetAt } = verdict;
        const proof = { ...earlier, passwordSetAt };
        const { setCookies } = await beginSession(visit, user.id, { isKnownDevice, proof });
        return { redirect: returnToOf(visit), setCookies };
      },
    ),
  ];
}
