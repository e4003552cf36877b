import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { showPage, takeForm, type PageAnswer, type PageRoute } from '../http/page-route.ts';
import { formTokenField, textField } from '../pages/form-fields.ts';
import { html } from '../pages/html.ts';
import type { ChangePassword } from '../passwords/change-password.ts';
import { newPasswordField } from '../passwords/password-fields.ts';
import { findSecondFactor, type SecondFactor } from '../second-factor/second-factor-table.ts';
import { listSecurityEvents, recordSecurityEvent, securityEvents } from '../security-events/security-event-table.ts';
import { listSessions } from '../sessions/session-table.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { BeginSession } from '../sign-in/begin-session.ts';
import { buttonForm, notice, timeText, type SignedIn } from './settings-parts.ts';

export interface SecurityPageDeps {
  readonly pool: Pool;
  readonly sessions: Sessions;
  readonly changePassword: ChangePassword;
  readonly beginSession: BeginSession;
}

const namingKeys: ReadonlySet<string> = new Set(['name', 'browser', 'client', 'by']);

const passwordPart = ({ formToken, session }: SignedIn, error?: string) =>
  html`<section class="card" aria-labelledby="password-part">
    <h2 id="password-part">Password</h2>
    <p>A new password signs out every other browser.</p>
    <form method="post" action="/settings/security/password">
      ${formTokenField(formToken)}
      <input type="hidden" name="email" value="${session.user.email}" autocomplete="username" />
      ${textField({
        ...{ name: 'password', label: 'New password', type: 'password', autocomplete: 'new-password' },
        ...{ hint: 'At least 10 characters.', error },
      })}
      <div class="choice">
        <input type="checkbox" id="end-programs" name="end_programs" value="yes" checked />
        <label for="end-programs">Also end the access of all programs and my agent tokens</label>
      </div>
      <button>Change the password</button>
    </form>
  </section>`;

/** The names in what is recorded of an event; ids are for the operator. */
const namesOf = (detail: Readonly<Record<string, string>> | null): readonly string[] =>
  detail === null ? [] : Object.entries(detail).flatMap(([key, text]) => (namingKeys.has(key) ? [text] : []));

const secondFactorPart = (visit: SignedIn, factor: SecondFactor | undefined) =>
  html`<section class="card" aria-labelledby="second-factor">
    <h2 id="second-factor">Codes at sign-in</h2>
    ${
      factor
        ? html`<p>
            Signing in takes a code of your app besides the password, since ${timeText(visit.session, factor.since)}.
            Recovery codes left: ${factor.codesLeft}.
          </p>`
        : html`<p>Let signing in take a code of an app on your phone besides the password.</p>`
    }
    <p>
      <a class="button" href="/settings/security/second-factor">${factor ? 'Change' : 'Switch on codes'}</a>
    </p>
  </section>`;

/** Where a person is signed in, what happened, the password and the second factor. */
export function securityRoutes({
  pool,
  sessions,
  changePassword,
  beginSession,
}: SecurityPageDeps): readonly PageRoute[] {
  async function page(visit: SignedIn, said?: string, error?: string): Promise<PageAnswer> {
    const { session, now } = visit;
    const [found, events, factor] = await Promise.all([
      listSessions(pool, session.user.id, now),
      listSecurityEvents(pool, session.user.id),
      findSecondFactor(pool, session.user.id),
    ]);
    return {
      title: 'Security',
      tab: 'security',
      status: error === undefined ? 200 : 422,
      body: html`<h1>Security</h1>
        ${notice(said)}${passwordPart(visit, error)}${secondFactorPart(visit, factor)}
        <section class="card" aria-labelledby="browsers">
          <h2 id="browsers">Where you are signed in</h2>
          <ul class="list">
            ${found.map(
              ({ credentialId: id, name, account, lastUsedAt }) =>
                html`<li>
                  <span class="what"
                    ><b>${name}</b><small>${account.name}, last used ${timeText(session, lastUsedAt)}</small></span
                  >
                  ${
                    id === session.credentialId
                      ? html`<span class="tag good">This browser</span>`
                      : buttonForm(visit, {
                          ...{ action: '/settings/security/end', fields: { id }, label: 'Sign out', about: name },
                        })
                  }
                </li>`,
            )}
          </ul>
        </section>
        <section class="card" aria-labelledby="events">
          <h2 id="events">What happened</h2>
          <ul class="list">
            ${events.map(
              ({ kind, at, detail }) =>
                html`<li>
                  <span class="what"
                    >${securityEvents[kind]}${namesOf(detail).map((text) => html` <small>${text}</small>`)}</span
                  >
                  <small>${timeText(session, at)}</small>
                </li>`,
            )}
          </ul>
        </section>`,
    };
  }

  return [
    showPage('/settings/security', 'session', (visit) => page(visit)),

    takeForm(
      '/settings/security/password',
      'password',
      z.object({
        email: z.string().optional(),
        password: newPasswordField,
        end_programs: z.literal('yes').optional(),
      }),
      async (visit, { success, data, error }) => {
        if (!success) return page(visit, undefined, error.issues[0]?.message);
        const { id, email } = visit.session.user;
        const passwordSetAt = await changePassword({ id, email }, data.password, data.end_programs === 'yes');
        const options = { isKnownDevice: false, proof: { ...visit.session.proof, passwordSetAt } };
        const { setCookies } = await beginSession(visit, id, options);
        return { redirect: '/settings/security', setCookies };
      },
    ),

    takeForm('/settings/security/end', 'session', z.object({ id: z.string() }), async (visit, { success, data }) => {
      const { session, now } = visit;
      const found =
        success &&
        (await listSessions(pool, session.user.id, now)).find(({ credentialId }) => credentialId === data.id);
      if (!found) throw new Problem('not_found', 'There is no such browser.');
      await sessions.end(found);
      await recordSecurityEvent(pool, session.user.id, 'session_ended', now, { browser: found.name });
      return page(visit, `${found.name} is signed out.`);
    }),
  ];
}
