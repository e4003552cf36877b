import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
import { showPage, takeForm, type PageAnswer, type PageRoute } from '../http/page-route.ts';
import { listGrantsOf, type GivenGrant } from '../oauth/grant-table.ts';
import { purposeWords, scopeWords } from '../oauth/scope-words.ts';
import { html } from '../pages/html.ts';
import { askedButtonForm, dayText, notice, type SignedIn } from './settings-parts.ts';

const path = '/settings/connectors';

/** The configuration of an agent that sends a token. */
const configurationOf = (mcpAddress: string) =>
  JSON.stringify(
    {
      mcpServers: {
        longwave: { type: 'http', url: mcpAddress, headers: { Authorization: 'Bearer svc_mcp_…' } },
      },
    },
    undefined,
    2,
  );

const grantCard = (visit: SignedIn, grant: GivenGrant) =>
  html`<section class="card">
    <h2>${grant.clientName}</h2>
    <dl class="pairs">
      <dt>Account</dt>
      <dd>${grant.accountName}</dd>
      <dt>Answers go to</dt>
      <dd>${grant.redirectHost}</dd>
      <dt>Allowed</dt>
      <dd>${dayText(visit.session, grant.createdAt)}</dd>
      <dt>Last used</dt>
      <dd>${grant.lastUsedAt ? dayText(visit.session, grant.lastUsedAt) : 'not used yet'}</dd>
      <dt>May</dt>
      <dd>
        <ul class="bullets">
          ${grant.scopes.map((scope) => html`<li>${scopeWords[scope]}</li>`)}
        </ul>
      </dd>
      ${
        grant.purposes.length > 0 &&
        html`<dt>Sees traces in order to</dt>
          <dd>
            <ul class="bullets">
              ${grant.purposes.map((purpose) => html`<li>${purposeWords[purpose]}</li>`)}
            </ul>
          </dd>`
      }
    </dl>
    ${askedButtonForm(visit, {
      ...{ action: path, fields: { grant: grant.id }, label: 'End access', about: grant.clientName },
      effect: 'The program is refused from then on, and may ask you again.',
    })}
  </section>`;

/** How an agent gets access: the same as docs/agents.md says. */
const connectPart = (mcpAddress: string) =>
  html`<section class="card" aria-labelledby="connect">
    <h2 id="connect">Connect an agent</h2>
    <p>
      Give the agent the address of the MCP server: <code>${mcpAddress}</code>. An agent that the operator has
      registered opens a page on which you allow it.
    </p>
    <p>For another agent <a href="/settings/api">make a token on the page API</a>, and put it in its configuration:</p>
    <pre class="secret">${configurationOf(mcpAddress)}</pre>
  </section>`;

/** The clients that a person has given access, and its end. */
export function connectorRoutes({
  pool,
  mcpAddress,
  endGrant,
}: {
  readonly pool: Pool;
  readonly mcpAddress: string;
  /** Ends a grant of this person; another person's is left alone. */
  readonly endGrant: (grantId: string, userId: string) => Promise<boolean>;
}): readonly PageRoute[] {
  async function page(visit: SignedIn, said?: string): Promise<PageAnswer> {
    const grants = await listGrantsOf(pool, visit.session.user.id, visit.now);
    return {
      title: 'Connectors',
      tab: 'connectors',
      body: html`<h1>Connectors</h1>
        ${notice(said)}
        <p>Programs that you gave access to an account. Their access ends at once when you end it here.</p>
        ${grants.length === 0 && html`<p>No program has access.</p>`}
        ${grants.map((grant) => grantCard(visit, grant))}${connectPart(mcpAddress)}`,
    };
  }

  return [
    showPage(path, 'session', (visit) => page(visit)),

    takeForm(path, 'session', z.object({ grant: z.string() }), async (visit, { data }) => {
      const { session, now } = visit;
      const ended = (await listGrantsOf(pool, session.user.id, now)).find(({ id }) => id === data?.grant);
      if (ended) await endGrant(ended.id, session.user.id);
      return page(visit, ended && `The access of ${ended.clientName} has ended.`);
    }),
  ];
}
