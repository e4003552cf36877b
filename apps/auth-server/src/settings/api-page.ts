import { randomBytes, randomUUID } from 'node:crypto';
import type { Pool } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { z } from 'zod';
import { listCredentials, type ListedCredential } from '../credentials/credential-list-table.ts';
import { showPage, takeForm, type PageAnswer, type PageRoute } from '../http/page-route.ts';
import { formTokenField, nameField, textField } from '../pages/form-fields.ts';
import { html, type Html } from '../pages/html.ts';
import { planName, type Plans } from '../plans.ts';
import { recordSecurityEvent } from '../security-events/security-event-table.ts';
import type { SendCommand } from '../send-command.ts';
import { askedButtonForm, isManager, notice, timeText, type SignedIn } from './settings-parts.ts';
import { secretDigest } from '../secret-digest.ts';

export interface ApiPageDeps {
  readonly pool: Pool;
  readonly plans: Plans;
  readonly baseUrl: string;
  readonly send: SendCommand;
}

const kinds = {
  api_key: { prefix: 'lw_key_', noun: 'API key' },
  legacy_token: { prefix: 'svc_pat_', noun: 'REST API token' },
  mcp_personal_token: { prefix: 'svc_mcp_', noun: 'agent token' },
} as const;
type Kind = keyof typeof kinds;

const hour = 3_600_000;
/** How long a replaced key works beside the new one. */
const overlaps = {
  none: { ms: 0, name: 'at once' },
  day: { ms: 24 * hour, name: 'in 24 hours' },
  week: { ms: 7 * 24 * hour, name: 'in 7 days' },
} as const;

/** A secret that was made for this answer and is shown in it alone. */
interface Made {
  readonly kind: Kind;
  readonly text: string;
}

const madePart = (made: Made | undefined) =>
  made &&
  html`<section class="card" role="status">
    <h2>Your new ${kinds[made.kind].noun}</h2>
    <p>Copy it now. It is stored nowhere and not shown again.</p>
    <code class="secret">${made.text}</code>
  </section>`;

/** The idempotency key of a form: a form that is sent twice makes one key. */
const onceField = () => html`<input type="hidden" name="once" value="${randomUUID()}" />`;

const line = (visit: SignedIn, credential: ListedCredential) => {
  const { id, name, kind, scope, expires_at: expiresAt, created_at: at, person } = credential;
  const maker = kind === 'mcp_personal_token' ? null : person;
  const permission = scope === 'read' ? 'Read' : 'Read/Write';
  return html`<li>
    <span class="what"
      ><b>${name}</b
      ><small
        ><code>${kinds[kind as Kind].prefix}••••••••</code>
        ${kind === 'legacy_token' && `${permission}, `}made${maker !== null && ` by ${maker},`}
        ${timeText(visit.session, at)}${expiresAt !== null && html`, ends ${timeText(visit.session, new Date(expiresAt))}`}</small
      ></span
    >
    ${askedButtonForm(visit, {
      ...{ action: '/settings/api/revoke', fields: { id }, label: 'Revoke', about: name },
      effect: 'Programs that use it are refused from then on.',
    })}
  </li>`;
};

const listOf = (visit: SignedIn, found: readonly ListedCredential[]): Html | false =>
  found.length > 0 &&
  html`<ul class="list">
    ${found.map((one) => line(visit, one))}
  </ul>`;

const keyPart = (visit: SignedIn, keys: readonly ListedCredential[]) =>
  html`<section class="card" aria-labelledby="key">
    <h2 id="key">API key</h2>
    <p>
      ${
        visit.session.roles.includes('owner')
          ? 'For your own programs at the REST API: everything that the account may do.'
          : 'For your own programs at the REST API: what you may do in this account, as long as you are a member.'
      }
    </p>
    ${listOf(visit, keys)}
    <form method="post" action="/settings/api/key">
      ${formTokenField(visit.formToken)}${onceField()}
      ${
        keys.length > 0 &&
        html`<fieldset>
          <legend>The current key ends</legend>
          ${Object.entries(overlaps).map(
            ([value, { name }]) =>
              html`<div class="choice">
                <input
                  type="radio"
                  id="overlap-${value}"
                  name="overlap"
                  value="${value}"
                  ${value === 'day' && html`checked`}
                />
                <label for="overlap-${value}">${name}</label>
              </div>`,
          )}
        </fieldset>`
      }
      <button class="primary">${keys.length > 0 ? 'Replace the API key' : 'Create an API key'}</button>
    </form>
  </section>`;

const includesTokens = ({ session }: SignedIn, plans: Plans) => plans.get(session.account.plan)?.includes_api ?? false;

/** The plans with legacy tokens that somebody may choose, as a sentence. */
const plansWithTokens = (plans: Plans) => {
  const names = [...plans].flatMap(([name, { open, includes_api: has }]) => (open && has ? [planName(name)] : []));
  return names.length > 0 && `These plans do: ${names.join(', ')}.`;
};

const tokenForm = (visit: SignedIn) =>
  html`<form method="post" action="/settings/api/token">
    ${formTokenField(visit.formToken)}${onceField()}
    ${textField({ name: 'name', label: 'Name of the token', autocomplete: 'off' })}
    <fieldset>
      <legend>It may</legend>
      <div class="choice">
        <input type="radio" id="read" name="scope" value="read" checked /><label for="read">Read</label>
      </div>
      <div class="choice">
        <input type="radio" id="write" name="scope" value="read_write" /><label for="write">Read and write</label>
      </div>
    </fieldset>
    <button>Create a token</button>
  </form>`;

/** The form is there only on a plan that accepts the tokens. */
const tokenPart = (visit: SignedIn, tokens: readonly ListedCredential[], plans: Plans) =>
  html`<section class="card" aria-labelledby="tokens">
    <h2 id="tokens">REST API tokens</h2>
    <p>
      Legacy tokens for programs that need one.
      ${
        !includesTokens(visit, plans) &&
        `Your plan does not include them: requests with them are refused. ${plansWithTokens(plans)}`
      }
    </p>
    ${listOf(visit, tokens)}${includesTokens(visit, plans) && tokenForm(visit)}
  </section>`;

const agentPart = (visit: SignedIn, tokens: readonly ListedCredential[]) =>
  html`<section class="card" aria-labelledby="agents">
    <h2 id="agents">Tokens for agents</h2>
    <p>For an agent that cannot sign in by itself. A token acts for you at the MCP server, in this account.</p>
    ${listOf(visit, tokens)}
    <form method="post" action="/settings/api/agent">
      ${formTokenField(visit.formToken)}${onceField()}
      ${textField({ name: 'agent', label: 'Name of the agent', autocomplete: 'off' })}
      <button>Create an agent token</button>
    </form>
  </section>`;

const once = z.uuid();

/** Keys and tokens: made and revoked, each text shown once. */
export function apiRoutes({ pool, plans, send, baseUrl }: ApiPageDeps): readonly PageRoute[] {
  async function page(visit: SignedIn, made?: Made, said?: string): Promise<PageAnswer> {
    const { session, now } = visit;
    const found = await listCredentials(pool, session.principal, now);
    const of = (kind: Kind) => found.filter((one) => one.kind === kind);
    return {
      title: 'API',
      tab: 'api',
      body: html`<h1>API</h1>
        ${notice(said)}${madePart(made)}
        <p>
          The address of the REST API is <code>${baseUrl}/api/v1</code>.
          <a href="/api-docs">Documentation of the REST API</a>
        </p>
        ${
          isManager(session)
            ? [keyPart(visit, of('api_key')), tokenPart(visit, of('legacy_token'), plans)]
            : html`<p class="note">
                The keys of ${session.account.name} are managed by its owner and by members who manage members.
              </p>`
        }
        ${agentPart(visit, of('mcp_personal_token'))}`,
    };
  }

  async function make(
    visit: SignedIn,
    kind: Kind,
    changes: { name: string; scope: 'read' | 'read_write'; once: string },
  ) {
    const { session, now } = visit;
    const text = kinds[kind].prefix + randomBytes(32).toString('base64url');
    const { once: key, ...given } = changes;
    await send(
      'credential.issue',
      session.account.workspaceId,
      undefined,
      {
        ...{ ...given, kind, account_id: session.account.id },
        ...(kind === 'mcp_personal_token' && { user_id: session.user.id }),
        secret_digest: secretDigest(text),
      },
      // Every person may have tokens for agents of their own; keys of the account need a role.
      { key, ...(kind !== 'mcp_personal_token' && { actor: { kind: 'principal', principal: session.principal } }) },
    );
    await recordSecurityEvent(pool, session.user.id, 'credential_made', now, { name: given.name });
    return page(visit, { kind, text });
  }

  async function replaceKeys(
    { session, now }: SignedIn,
    keys: readonly ListedCredential[],
    overlap: keyof typeof overlaps,
  ) {
    const actor = { kind: 'principal', principal: session.principal } as const;
    const { workspaceId } = session.account;
    const endsAt = new Date(now.getTime() + overlaps[overlap].ms);
    for (const { id, expires_at: expiresAt } of keys) {
      if (overlap === 'none') await send('credential.revoke', workspaceId, id, {}, { actor });
      else if (expiresAt === null || Date.parse(expiresAt) > endsAt.getTime())
        await send('credential.expire', workspaceId, id, { expires_at: endsAt.toISOString() }, { actor });
    }
  }

  const wrong = () => new Problem('validation_failed', 'Give it a name in one line, with at most 100 characters.');

  return [
    showPage('/settings/api', 'session', (visit) => page(visit)),

    takeForm(
      '/settings/api/key',
      'password',
      z.object({ once, overlap: z.enum(['none', 'day', 'week']).default('none') }),
      async (visit, { success, data }) => {
        if (!success) throw wrong();
        const earlier = (await listCredentials(pool, visit.session.principal, visit.now)).filter(
          ({ kind }) => kind === 'api_key',
        );
        const made = { name: 'API key', scope: 'read_write', once: data.once } as const;
        const answer = await make(visit, 'api_key', made);
        await replaceKeys(visit, earlier, data.overlap);
        return answer;
      },
    ),

    takeForm(
      '/settings/api/token',
      'password',
      z.object({ once, name: nameField, scope: z.enum(['read', 'read_write']) }),
      (visit, { success, data }) => {
        if (!success) throw wrong();
        return make(visit, 'legacy_token', data);
      },
    ),

    takeForm('/settings/api/agent', 'password', z.object({ once, agent: nameField }), (visit, { success, data }) => {
      if (!success) throw wrong();
      return make(visit, 'mcp_personal_token', { name: data.agent, scope: 'read_write', once: data.once });
    }),

    takeForm('/settings/api/revoke', 'session', z.object({ id: z.string() }), async (visit, { success, data }) => {
      const { session, now } = visit;
      const found = success && (await listCredentials(pool, session.principal, now)).find(({ id }) => id === data.id);
      if (!found) throw new Problem('not_found', 'There is no such key or token.');
      const isOwn = found.kind === 'mcp_personal_token';
      const actor = { kind: 'principal', principal: session.principal } as const;
      await send('credential.revoke', session.account.workspaceId, found.id, {}, isOwn ? {} : { actor });
      await recordSecurityEvent(pool, session.user.id, 'credential_revoked', now, { name: found.name });
      return page(visit, undefined, `“${found.name}” works no more.`);
    }),
  ];
}
