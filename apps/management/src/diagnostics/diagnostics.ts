import { toDecisionTrace, type DecisionTrace } from '@longwave/ad-decision';
import { isId } from '@longwave/ids';
import type { Pool } from '@longwave/postgres';
import {
  campaignRoles,
  decideAccess,
  diagnosticsPurposes,
  type DiagnosticsPurpose,
  type Principal,
} from '@longwave/principal';
import { isProblem, Problem } from '@longwave/problems';
import type { RpcClient } from '@longwave/rpc';
import type { FindResponse, ServingServiceService } from '@longwave/rpc/serving';
import { insertAccess, listAccesses, type DiagnosticsAccess } from './diagnostics-access-table.ts';

/** A person who reads decisions by a token. */
export interface DiagnosticsReader {
  readonly principal: Principal;
  readonly clientId: string;
  /** Empty when no grant gave the token. */
  readonly grantId: string;
  /** What the grant was given for. */
  readonly purposes: readonly string[];
}

/** Where decisions are searched: times of plays, half-open, and the wanted values by the names of the parameters. */
export interface DecisionSearch {
  readonly from: Date;
  readonly to: Date;
  readonly wanted: Readonly<Partial<Record<SearchField, string>>>;
  readonly limit: number;
  readonly after: { readonly at: Date; readonly decisionId: string } | undefined;
}

/** What a decision can be found by. */
export const searchFields = [
  'podcast_id',
  'episode_id',
  'line_item_id',
  'verdict',
  'campaign_id',
  'creative_id',
  'outcome',
  'no_ad_reason',
] as const;
type SearchField = (typeof searchFields)[number];

/** How long internal-serving may take: a replay may read a plan from the object store. */
const answerMs = 20_000;

const noDecision = () => new Problem('not_found', 'There is no such decision.');

/**
 * The purposes with which a reading is recorded: the one that the request names, else all of the grant. Throws `permission_denied` for one
 * that the grant does not have, and for a grant without any.
 */
function purposesOf(
  { purposes, grantId }: Pick<DiagnosticsReader, 'purposes' | 'grantId'>,
  named: DiagnosticsPurpose | undefined,
): readonly DiagnosticsPurpose[] {
  // Without a grant nobody was asked before; then every request says it.
  const allowed = grantId === '' && named ? [named] : diagnosticsPurposes.filter((one) => purposes.includes(one));
  const chosen = named === undefined ? allowed : allowed.filter((one) => one === named);
  if (chosen.length > 0) return chosen;
  throw new Problem(
    'permission_denied',
    allowed.length === 0
      ? 'This access was given without a purpose. Ask the person for access with a purpose.'
      : `This access was given for ${allowed.join(', ')}.`,
  );
}

/** Throws `permission_denied` unless the reader may see the campaigns of the workspace. */
function requireRole({ principal }: DiagnosticsReader, workspaceId: string): void {
  const target = { workspaceId, podcastId: undefined };
  if (decideAccess(principal, target, { roles: campaignRoles }).outcome !== 'permitted')
    throw new Problem('permission_denied', 'Your role does not see the decisions of this workspace.');
}

/** Reads decisions for people. Every reading is recorded before it is answered; one that cannot be recorded is not answered. */
export function createDiagnostics({
  pool,
  serving,
  clock,
}: {
  readonly pool: Pool;
  readonly serving: Pick<RpcClient<typeof ServingServiceService>, 'explain' | 'find'>;
  readonly clock: () => Date;
}) {
  const record = (
    { principal, clientId, grantId }: DiagnosticsReader,
    workspaceId: string,
    access: Pick<DiagnosticsAccess, 'action' | 'decision_id' | 'question' | 'purposes' | 'outcome'>,
  ) =>
    insertAccess(pool, {
      ...{ workspace_id: workspaceId, at: clock().toISOString(), account_id: principal.account_id },
      ...{ user_id: principal.user_id ?? null, client_id: clientId, credential_id: principal.credential_id },
      ...{ grant_id: grantId === '' ? null : grantId, ...access },
    });

  /** Undefined for an unknown decision, and for one of another workspace. */
  async function findTrace(workspaceId: string, decisionId: string): Promise<string | undefined> {
    if (!isId(decisionId, 'dec')) return undefined;
    try {
      return (await serving.explain({ workspaceId, decisionId }, { deadlineMs: answerMs })).traceJson;
    } catch (error) {
      if (isProblem(error, 'not_found')) return undefined;
      throw error;
    }
  }

  return {
    /**
     * The trace of a decision of a workspace that the reader sees. Throws `permission_denied` for a role or purpose that does not allow it,
     * and the same `not_found` for unknown decisions and those of other workspaces.
     */
    async readTrace(
      reader: DiagnosticsReader,
      workspaceId: string,
      decisionId: string,
      purpose: DiagnosticsPurpose | undefined,
    ): Promise<DecisionTrace> {
      requireRole(reader, workspaceId);
      const purposes = [...purposesOf(reader, purpose)];
      const found = await findTrace(workspaceId, decisionId);
      const trace = found === undefined ? undefined : toDecisionTrace(JSON.parse(found));
      await record(reader, workspaceId, {
        ...{ action: 'trace', question: null, purposes, outcome: trace ? 'answered' : 'not_found' },
        decision_id: isId(decisionId, 'dec') ? decisionId : null,
      });
      if (!trace) throw noDecision();
      return trace;
    },

    /** One page of the decisions of a workspace, the newest first. Throws like `readTrace`. */
    async search(
      reader: DiagnosticsReader,
      workspaceId: string,
      { from, to, wanted, limit, after }: DecisionSearch,
      purpose: DiagnosticsPurpose | undefined,
    ): Promise<FindResponse> {
      requireRole(reader, workspaceId);
      const purposes = [...purposesOf(reader, purpose)];
      const of = (field: SearchField) => wanted[field] ?? '';
      const page = await serving.find(
        {
          ...{ workspaceId, fromMs: BigInt(from.getTime()), toMs: BigInt(to.getTime()), limit },
          ...{ podcastId: of('podcast_id'), episodeId: of('episode_id'), lineItemId: of('line_item_id') },
          ...{ verdict: of('verdict'), campaignId: of('campaign_id'), creativeId: of('creative_id') },
          ...{ outcome: of('outcome'), noAdReason: of('no_ad_reason') },
          after: after && { atMs: BigInt(after.at.getTime()), decisionId: after.decisionId },
        },
        { deadlineMs: answerMs },
      );
      const question = { from: from.toISOString(), to: to.toISOString(), ...wanted };
      await record(reader, workspaceId, {
        ...{ action: 'search', decision_id: null, question, purposes, outcome: 'answered' },
      });
      return page;
    },

    /** Readings of a workspace, the newest first. Throws `permission_denied` unless the reader owns or administers it. */
    async listAccesses(
      principal: Principal,
      workspaceId: string,
      part: { readonly after: string | undefined; readonly limit: number },
    ): Promise<readonly DiagnosticsAccess[]> {
      const target = { workspaceId, podcastId: undefined };
      if (decideAccess(principal, target, { roles: ['owner', 'admin'] }).outcome !== 'permitted')
        throw new Problem('permission_denied', 'Only owners and administrators see who read decisions.');
      return listAccesses(pool, workspaceId, part);
    },
  };
}

export type Diagnostics = ReturnType<typeof createDiagnostics>;
