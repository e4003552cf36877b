import { diagnosticsPurposes, type DiagnosticsPurpose } from '@longwave/principal';
import type { Visit } from '../http/page-route.ts';
import { formTokenField } from '../pages/form-fields.ts';
import { html, type Html } from '../pages/html.ts';
import type { Page } from '../pages/layout.ts';
import type { Session } from '../sessions/session.ts';
import type { ReachableAccount } from '../users/user-table.ts';
import type { OAuthClient } from './client-table.ts';
import { interactionPath } from './paths.ts';
import { diagnosticsScope, type Resource } from './resources.ts';
import { purposeWords, scopeWords } from './scope-words.ts';

/** What a client asks a person for. */
export interface ConsentRequest {
  /** Of the interaction. */
  readonly uid: string;
  readonly client: OAuthClient;
  readonly resource: Resource;
  readonly redirect: URL;
  /** The accounts that the person may choose. */
  readonly accounts: readonly ReachableAccount[];
  readonly scopes: OAuthClient['scopes'];
  readonly hasOfflineAccess: boolean;
  /** The purposes for which the client asks to read traces of decisions; the person decides. */
  readonly purposes: readonly DiagnosticsPurpose[];
}

const accountChoice = (accounts: readonly ReachableAccount[], current: string): Html => {
  const [only, ...more] = accounts;
  if (only && more.length === 0)
    return html`<p>Account: <strong>${only.name}</strong></p>
      <input type="hidden" name="account" value="${only.id}" />`;
  return html`<fieldset>
    <legend>Account</legend>
    ${accounts.map(
      ({ id, name, isOwner }) =>
        html`<div class="choice">
          <input type="radio" id="${id}" name="account" value="${id}" required ${id === current && html`checked`} />
          <label for="${id}">${name}</label>${!isOwner && html`<span class="hint">as a member</span>`}
        </div>`,
    )}
  </fieldset>`;
};

/** The choice of purposes for which traces of decisions may be read; only for a request of that permission. */
const purposeChoice = ({ scopes, purposes }: ConsentRequest, error: string | undefined): Html | false =>
  scopes.some((scope) => scope === diagnosticsScope) &&
  html`<fieldset ${error !== undefined && html`aria-describedby="purpose-error"`}>
    <legend>It may see traces in order to</legend>
    ${diagnosticsPurposes.map(
      (purpose) =>
        html`<div class="choice">
          <input
            type="checkbox"
            id="${purpose}"
            name="purpose"
            value="${purpose}"
            ${purposes.includes(purpose) && html`checked`}
          />
          <label for="${purpose}">${purposeWords[purpose]}</label>
        </div>`,
    )}
    <p class="hint">Every trace that it reads is recorded with these purposes.</p>
    ${error !== undefined && html`<span class="error" id="purpose-error">${error}</span>`}
  </fieldset>`;

const isLoopback = (uri: string) => new URL(uri).hostname === '127.0.0.1';

/**
 * The page of consent: who asks, where the answer goes, for which account, and each permission in words. After it the browser goes to the
 * redirect address, which is the one other place to which its forms may lead.
 */
export function consentPage(
  request: ConsentRequest,
  { session, formToken }: Visit<Session>,
  purposeError?: string,
): Page {
  const { uid, client, redirect, accounts, scopes } = request;
  const path = `${interactionPath}/${uid}`;
  return {
    title: `Allow ${client.name}?`,
    status: purposeError === undefined ? 200 : 422,
    formAction: [redirect.origin],
    body: html`<h1>Allow ${client.name}?</h1>
      <p>
        <strong>${client.name}</strong> (<code>${client.client_id}</code>) asks for access. The answer goes to
        <strong>${redirect.host}</strong>.
      </p>
      ${
        client.redirect_uris.every(isLoopback) &&
        html`<p class="note warn">
          This program runs on your own computer, and any program there can call itself “${client.name}”. Go on only if
          you have just started it yourself.
        </p>`
      }
      <p>You are signed in as ${session.user.email}.</p>
      <form method="post" action="${path}/consent">
        ${formTokenField(formToken)} ${accountChoice(accounts, session.account.id)}
        <fieldset>
          <legend>It may</legend>
          ${scopes.map(
            (scope) =>
              html`<div class="choice">
                <input type="checkbox" id="${scope}" name="scope" value="${scope}" checked />
                <label for="${scope}">${scopeWords[scope]}</label>
              </div>`,
          )}
        </fieldset>
        ${purposeChoice(request, purposeError)}
        <p class="hint">Take away what you do not want to allow. You can end the access at any time in the settings.</p>
        <button class="primary">Allow</button>
      </form>
      <form method="post" action="${path}/abort">
        ${formTokenField(formToken)}<button class="quiet">Refuse</button>
      </form>`,
  };
}
