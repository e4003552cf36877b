import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
import { showPage, takeForm, type PageRoute } from '../http/page-route.ts';
import { listGrantsOf, type GivenGrant } from '../oauth/grant-table.ts';
import { scopeWords } from '../oauth/scope-words.ts';
import { formTokenField } from '../pages/form-fields.ts';
import { html } from '../pages/html.ts';

const path = '/settings/connectors';

const dayOf = (time: Date) => html`<time datetime="${time.toISOString()}">${time.toISOString().slice(0, 10)}</time>`;

const grantCard = (grant: GivenGrant, formToken: string) =>
  html`<section class="card">
    <h2>${grant.clientName}</h2>
    <dl class="pairs">
      <dt>Account</dt>
      <dd>${grant.accountName}</dd>
      <dt>Answers go to</dt>
      <dd>${grant.redirectHost}</dd>
      <dt>Allowed</dt>
      <dd>${dayOf(grant.createdAt)}</dd>
      <dt>Last used</dt>
      <dd>${grant.lastUsedAt ? dayOf(grant.lastUsedAt) : 'not used yet'}</dd>
      <dt>May</dt>
      <dd>
        <ul>
          ${grant.scopes.map((scope) => html`<li>${scopeWords[scope]}</li>`)}
        </ul>
      </dd>
    </dl>
    <form method="post" action="${path}">
      ${formTokenField(formToken)}<input type="hidden" name="grant" value="${grant.id}" />
      <button class="danger">End the access of ${grant.clientName}</button>
    </form>
  </section>`;

/** The clients that a person has given access, and its end. */
export const connectorRoutes = ({
  pool,
  endGrant,
}: {
  readonly pool: Pool;
  /** Ends a grant of this person; another person's is left alone. */
  readonly endGrant: (grantId: string, userId: string) => Promise<unknown>;
}): readonly PageRoute[] => [
  showPage(path, 'session', async ({ session, formToken, now }) => {
    const grants = await listGrantsOf(pool, session.user.id, now);
    return {
      title: 'Connectors',
      tab: 'connectors',
      body: html`<h1>Connectors</h1>
        <p>Programs that you gave access to an account. Their access ends at once when you end it here.</p>
        ${grants.length === 0 && html`<p>No program has access.</p>`}
        ${grants.map((grant) => grantCard(grant, formToken))}`,
    };
  }),

  takeForm(path, 'session', z.object({ grant: z.string() }), async ({ session }, { data }) => {
    if (data) await endGrant(data.grant, session.user.id);
    return { redirect: path };
  }),
];
