import type { PageAnswer, Visit } from '../http/page-route.ts';
import { formTokenField, textField } from '../pages/form-fields.ts';
import { html } from '../pages/html.ts';
import { returnField } from './local-path.ts';

/** The page behind the link of a mail that is no longer valid. */
export const linkIsOver = (again: string): PageAnswer => ({
  title: 'This link is over',
  status: 410,
  body: html`<h1>This link is over</h1>
    <p>A link works once, within an hour.</p>
    <p><a class="button" href="${again}">Ask for another mail</a></p>`,
});

/** The page after a mail was asked for: it says the same whether the address is known or not. */
export const mailIsSent = (email: string): PageAnswer => ({
  title: 'Check your mail',
  body: html`<h1>Check your mail</h1>
    <p>A mail goes to <b>${email}</b>. Follow its link within an hour.</p>
    <p class="small">Nothing there? Look in the spam folder, and check that the address is written correctly.</p>`,
});

/** A form that chooses a password, for the person whom the link of a mail brought. */
export const choosePasswordPage = (
  visit: Visit,
  form: {
    readonly title: string;
    readonly action: string;
    readonly token: string;
    readonly email: string;
    readonly button: string;
    /** What the person should know before. */
    readonly note?: string;
    readonly error?: string | undefined;
  },
): PageAnswer => ({
  title: form.title,
  status: form.error === undefined ? 200 : 422,
  body: html`<h1>${form.title}</h1>
    <p>for <b>${form.email}</b></p>
    ${form.note !== undefined && html`<p>${form.note}</p>`}
    <form method="post" action="${form.action}">
      ${formTokenField(visit.formToken)}${returnField(visit)}<input type="hidden" name="token" value="${form.token}" />
      <input type="hidden" name="email" value="${form.email}" autocomplete="username" />
      ${textField({
        name: 'password',
        label: 'New password',
        type: 'password',
        autocomplete: 'new-password',
        hint: 'At least 10 characters. Several words make a good password.',
        error: form.error,
      })}
      <button class="primary">${form.button}</button>
    </form>`,
});
