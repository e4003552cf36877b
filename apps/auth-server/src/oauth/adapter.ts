import { databaseOutage, type Pool } from '@longwave/postgres';
import { errors, type Adapter, type AdapterFactory, type AdapterPayload } from 'oidc-provider';
import { consumeArtifact, deleteArtifact, findArtifact, insertArtifact, saveArtifact } from './artifact-table.ts';
import { clientMetadata } from './client-metadata.ts';
import { findClient } from './client-table.ts';
import type { RevocationReason } from './grant-table.ts';

/** Artifacts that may be used once; a second use ends the whole family (RFC 9700 §4.14.2). */
const usedOnce: readonly string[] = ['AuthorizationCode', 'RefreshToken'];

export interface AdapterDeps {
  readonly pool: Pool;
  /** Ends a grant with all its codes and tokens. */
  readonly revoke: (grantId: string, reason: RevocationReason) => Promise<unknown>;
  /** Where an authorization goes on after the interaction with this id. */
  readonly resumeUrl: (interactionId: string) => string;
}

function unavailable(cause: unknown): Error {
  const error = new errors.TemporarilyUnavailable('Try again in a second.');
  return Object.assign(error, { cause, status: 503, statusCode: 503 });
}

/** Runs a statement; the absence of the database is no fault of the request. */
async function reachable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw databaseOutage(error) ? unavailable(error) : error;
  }
}

/** The sign-in of a person is the session of this service's pages and no other: the library's own is never stored. */
const noSession: Adapter = {
  upsert: async () => undefined,
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  consume: async () => undefined,
  destroy: async () => undefined,
  revokeByGrantId: async () => undefined,
};

/**
 * Keeps the library's models in PostgreSQL. Ids are hashed, so no row can be used as a token; the second use of a code or refresh token is
 * noticed at every look-up, whatever else is wrong with the request, and ends the family.
 */
export const createAdapter =
  ({ pool, revoke, resumeUrl }: AdapterDeps): AdapterFactory =>
  (model): Adapter => {
    if (model === 'Session') return noSession;
    if (model === 'Client')
      return {
        ...noSession,
        find: async (clientId) => {
          const client = await reachable(findClient(pool, clientId));
          return client?.isActive && !client.client_id.includes('/') ? clientMetadata(client) : undefined;
        },
      };

    async function find(id: string): Promise<AdapterPayload | undefined> {
      const row = await findArtifact(pool, model, id);
      if (!row) return undefined;
      if (row.consumed_at && usedOnce.includes(model)) {
        if (row.grant_id) await revoke(row.grant_id, 'reuse');
        return undefined;
      }
      const payload = JSON.parse(row.payload) as AdapterPayload;
      return { ...payload, jti: id, ...(model === 'Interaction' && { returnTo: resumeUrl(id) }) };
    }

    async function consume(id: string): Promise<void> {
      if (await consumeArtifact(pool, model, id)) return;
      const row = await findArtifact(pool, model, id);
      if (row?.grant_id) await revoke(row.grant_id, 'reuse');
      throw new errors.InvalidGrant('it was already used');
    }

    async function upsert(id: string, payload: AdapterPayload, expiresIn = 0): Promise<void> {
      const expiresAt = new Date(Date.now() + expiresIn * 1000);
      if (model === 'ReplayDetection') {
        if (!(await insertArtifact(pool, model, id, expiresAt)))
          throw new errors.InvalidClient('the assertion was already used');
        return;
      }
      const { jti: _id, returnTo: _returnTo, ...kept } = payload;
      const grantId = model === 'Grant' ? id : payload.grantId;
      await saveArtifact(pool, { model, id, payload: JSON.stringify(kept), grantId, expiresAt });
    }

    return {
      ...noSession,
      find: (id) => reachable(find(id)),
      consume: (id) => reachable(consume(id)),
      upsert: (id, payload, expiresIn) => reachable(upsert(id, payload, expiresIn)),
      destroy: async (id) => {
        await reachable(model === 'Grant' ? revoke(id, 'client') : deleteArtifact(pool, model, id));
      },
      revokeByGrantId: async (grantId) => void (await reachable(revoke(grantId, 'client'))),
    };
  };
