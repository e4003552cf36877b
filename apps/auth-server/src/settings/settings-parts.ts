import { managerRoles } from '@longwave/principal';
import type { Visit } from '../http/page-route.ts';
import { formTokenField } from '../pages/form-fields.ts';
import { html, type Html } from '../pages/html.ts';
import type { Session } from '../sessions/session.ts';

/** A person who is signed in. */
export type SignedIn = Visit<Session>;

/** How a person writes dates. */
const dateFormat = ({ user }: Pick<Session, 'user'>, styles: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(user.locale === 'de' ? 'de-DE' : 'en-GB', { ...styles, timeZone: user.time_zone ?? 'UTC' });

/** A day as the person writes dates. */
export const dayText = (session: Pick<Session, 'user'>, at: Date): Html =>
  html`<time datetime="${at.toISOString()}">${dateFormat(session, { dateStyle: 'medium' }).format(at)}</time>`;

/** A time as the person reads clocks. */
export function timeText({ user }: Pick<Session, 'user'>, at: Date): Html {
  const text = dateFormat({ user }, { dateStyle: 'medium', timeStyle: 'short' }).format(at);
  return html`<time datetime="${at.toISOString()}">${text}${user.time_zone === undefined && ' UTC'}</time>`;
}

interface ButtonForm {
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly label: string;
  /** What it is about, for who does not see the line that it stands in. */
  readonly about: string;
  readonly look?: 'danger' | 'primary';
}

/** A button that sends one value. */
export const buttonForm = ({ formToken }: SignedIn, button: ButtonForm): Html =>
  html`<form class="inline" method="post" action="${button.action}">
    ${formTokenField(formToken)}
    ${Object.entries(button.fields).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
    )}
    <button class="${button.look ?? ''}">${button.label}<span class="hidden">: ${button.about}</span></button>
  </form>`;

/** A button that says what it does before it can be pressed. */
export const askedButtonForm = (visit: SignedIn, button: ButtonForm & { readonly effect: string }): Html =>
  html`<details class="ask">
    <summary class="button danger">${button.label}<span class="hidden">: ${button.about}</span></summary>
    <p>${button.effect}</p>
    ${buttonForm(visit, { ...button, label: `${button.label} now`, look: 'danger' })}
  </details>`;

/** Whether a person may manage keys and members of the account. */
export const isManager = ({ roles }: Pick<Session, 'roles'>): boolean =>
  managerRoles.some((role) => roles.includes(role));

/** The result of a form at the top of its page. */
export const notice = (text: string | undefined, kind: 'good' | 'bad' = 'good'): Html | undefined =>
  text === undefined
    ? undefined
    : html`<p class="note ${kind}" role="${kind === 'bad' ? 'alert' : 'status'}">${text}</p>`;
