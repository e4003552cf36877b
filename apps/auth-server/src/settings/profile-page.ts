import type { Pool } from '@longwave/postgres';
import { isProblem, Problem } from '@longwave/problems';
import { z } from 'zod';
import { showPage, takeForm, type PageAnswer, type PageRoute } from '../http/page-route.ts';
import { findMailToken, takeMailToken } from '../mail/mail-token-table.ts';
import { mails } from '../mail/mails.ts';
import type { PostOffice } from '../mail/post-office.ts';
import { formTokenField, nameField, textField } from '../pages/form-fields.ts';
import { html } from '../pages/html.ts';
import type { LimitMails } from '../mail/limit-mails.ts';
import { emailField } from '../passwords/password-fields.ts';
import { planName } from '../plans.ts';
import { recordSecurityEvent } from '../security-events/security-event-table.ts';
import type { SendCommand } from '../send-command.ts';
import type { Session } from '../sessions/session.ts';
import { linkIsOver } from '../sign-in/choose-password-page.ts';
import { findUserByEmail, listAccountsOf, listAccountsWithEmail } from '../users/user-table.ts';
import { dayText, notice, type SignedIn } from './settings-parts.ts';
import { timeZoneNames, timeZones } from './time-zones.ts';

export interface ProfilePageDeps {
  readonly pool: Pool;
  readonly send: SendCommand;
  readonly post: PostOffice;
  readonly limitMails: LimitMails;
}

/** How dates look in each. */
const locales = { en: '23 Nov 2026, 14:05', de: '23.11.2026, 14:05' } as const;

const subscriptionWords: Readonly<Record<Session['account']['subscription']['state'], string>> = {
  trialing: 'Trial',
  active: 'Active',
  past_due: 'A payment is due',
  canceled: 'Canceled',
  suspended: 'Suspended',
};

const option = (value: string, text: string, chosen: string | undefined) =>
  html`<option value="${value}" ${value === chosen && html`selected`}>${text}</option>`;

const personPart = ({ formToken, session: { user } }: SignedIn) =>
  html`<section class="card" aria-labelledby="person">
    <h2 id="person">You</h2>
    <form method="post" action="/settings/person">
      ${formTokenField(formToken)} ${textField({ name: 'name', label: 'Name', autocomplete: 'name', value: user.name })}
      <div class="field">
        <label for="locale">Format of dates</label>
        <select id="locale" name="locale">
          ${Object.entries(locales).map(([value, text]) => option(value, text, user.locale ?? 'en'))}
        </select>
      </div>
      <div class="field">
        <label for="time_zone">Time zone</label>
        <select id="time_zone" name="time_zone">
          ${timeZoneNames.map(([zone, name]) => option(zone, name, user.time_zone ?? 'UTC'))}
        </select>
      </div>
      <button class="primary">Save</button>
    </form>
  </section>`;

const emailPart = ({ formToken, session: { user } }: SignedIn, error: string | undefined) =>
  html`<section class="card" aria-labelledby="address">
    <h2 id="address">E-mail</h2>
    <p>You sign in with <b>${user.email}</b>. A new address counts when the link of a mail to it was followed.</p>
    <form method="post" action="/settings/email">
      ${formTokenField(formToken)}
      ${textField({ name: 'email', label: 'New address', type: 'email', autocomplete: 'email', error })}
      <button>Send a mail to the new address</button>
    </form>
  </section>`;

const subscriptionText = ({ session }: SignedIn) => {
  const { state, trial_ends_at: end } = session.account.subscription;
  const isTrial = state === 'trialing' && end !== undefined;
  return html`${subscriptionWords[state]}${isTrial && html` until ${dayText(session, new Date(end))}`}`;
};

const accountPart = (visit: SignedIn, hasOthers: boolean) => {
  const { account } = visit.session;
  return html`<section class="card" aria-labelledby="account">
    <h2 id="account">Account</h2>
    <dl class="pairs">
      <dt>Name</dt>
      <dd>${account.name}</dd>
      <dt>Plan</dt>
      <dd>${planName(account.plan)}</dd>
      <dt>Subscription</dt>
      <dd>${subscriptionText(visit)}</dd>
    </dl>
    ${hasOthers && html`<p><a href="/sign-in/account">Work in another account</a></p>`}
  </section>`;
};

const confirmPage = ({ formToken }: SignedIn, email: string, token: string): PageAnswer => ({
  title: 'Confirm your new address',
  body: html`<h1>Confirm your new address</h1>
    <p>From now on you sign in with <b>${email}</b>.</p>
    <form method="post" action="/settings/email/confirm">
      ${formTokenField(formToken)}<input type="hidden" name="token" value="${token}" />
      <button class="primary">Use this address</button>
    </form>`,
});

const over = () => linkIsOver('/settings');

/** Name, format of dates, time zone and address of a person. */
export function profileRoutes({ pool, send, post, limitMails }: ProfilePageDeps): readonly PageRoute[] {
  async function page(visit: SignedIn, said?: string, error?: string): Promise<PageAnswer> {
    const accounts = await listAccountsOf(pool, visit.session.user.id);
    return {
      title: 'Profile',
      tab: 'profile',
      status: error === undefined ? 200 : 422,
      body: html`<h1>Profile</h1>
        ${notice(said)}${personPart(visit)}${emailPart(visit, error)}${accountPart(visit, accounts.length > 1)}`,
    };
  }

  async function moveTo(session: Session, email: string, now: Date): Promise<void> {
    const { id, workspaceId, email: old } = session.user;
    const accounts = await listAccountsWithEmail(pool, id, old);
    await send('user.change_email', workspaceId, id, { email });
    for (const account of accounts) await send('account.revise', account.workspaceId, account.id, { email });
    await recordSecurityEvent(pool, id, 'email_changed', now);
    post.later(() => post.send(mails.emailChanged(old)));
  }

  return [
    showPage('/settings', 'session', (visit) => page(visit)),

    takeForm(
      '/settings/person',
      'session',
      z.object({
        name: nameField,
        locale: z.enum(['en', 'de']),
        time_zone: z.enum(timeZones),
      }),
      async (visit, { success, data }) => {
        if (!success) throw new Problem('validation_failed', 'Write your name in one line and choose from the lists.');
        const { session } = visit;
        await send('user.revise', session.user.workspaceId, session.user.id, data);
        return page({ ...visit, session: { ...session, user: { ...session.user, ...data } } }, 'Saved.');
      },
    ),

    takeForm('/settings/email', 'password', z.object({ email: emailField }), async (visit, { success, data }) => {
      if (!success) return page(visit, undefined, 'Write an e-mail address.');
      const { email } = data;
      await limitMails.countRequest(visit.sender);
      post.later(async () => {
        // Who has an account under this address already learns nothing of the attempt, and the page says the same.
        if ((await findUserByEmail(pool, email)) || !(await limitMails.mayGo('change_email', email))) return;
        const link = await post.linkFor('change_email', { email, userId: visit.session.user.id });
        await post.send(mails.changeEmail(email, link));
      }, visit.response);
      return page(visit, `A mail goes to ${email}. Follow its link within an hour.`);
    }),

    showPage('/settings/email/confirm', 'session', async (visit) => {
      const token = z.string().catch('').parse(visit.request.query['token']);
      const about = await findMailToken(pool, 'change_email', token, visit.now);
      return about?.userId === visit.session.user.id ? confirmPage(visit, about.email, token) : over();
    }),

    takeForm(
      '/settings/email/confirm',
      'session',
      z.object({ token: z.string() }),
      async (visit, { success, data }) => {
        const token = success ? data.token : '';
        const known = await findMailToken(pool, 'change_email', token, visit.now);
        if (known?.userId !== visit.session.user.id) return over();
        const about = await takeMailToken(pool, 'change_email', token, visit.now);
        if (!about) return over();
        try {
          await moveTo(visit.session, about.email, visit.now);
        } catch (problem) {
          if (isProblem(problem, 'value_taken'))
            return page(visit, undefined, 'This address belongs to another account.');
          throw problem;
        }
        return { redirect: '/settings' };
      },
    ),
  ];
}
