import { parseEvidenceFile, type EvidenceRow, type MessageOf } from '@longwave/exchange-messages';
import { readAll, type GuardedFetch } from '@longwave/guarded-fetch';
import type { Pool } from '@longwave/postgres';
import { isProblem } from '@longwave/problems';
import type { RpcClient } from '@longwave/rpc';
import type { EvidenceServiceService } from '@longwave/rpc/audience';
import type { Logger } from '@longwave/service-kit';
import { pollLoop } from '@longwave/worker-kit';
import type { SendCommand } from '../messages/settle-stream.ts';
import {
  endImport,
  evidenceOf,
  findSentEpisodes,
  postponeImport,
  takeImport,
  type DueImport,
} from './evidence-table.ts';

/** Why the rows of a report cannot be imported, for its sender. */
interface Fault {
  readonly code: string;
  readonly detail: string;
}

/** Rows that analytics-sink takes in one call. */
const rowsPerCall = 1_000;
/** A file of 5,000 rows has fewer bytes. */
const maxFileBytes = 4 * 1024 * 1024;
const fetchMs = 30_000;
/** Imports that run at the same time, each of another authority. */
const concurrency = 4;
/** An import whose process was killed begins again after this time. */
const leaseMs = 120_000;
/** Attempts to fetch a file, from 5 s to 1 h apart. */
const maxAttempts = 12;
const backOffMs = (attempts: number) => Math.min(3_600_000, 5_000 * 2 ** Math.min(attempts, 10));
const callMs = 10_000;

const big = (value: number | string | undefined) => (value === undefined ? undefined : BigInt(value));

type Evidence = MessageOf<'platform-evidence/1'>;

/** Fetches the rows of a report. Throws when its host does not answer. */
async function fetchRows(fetch: GuardedFetch, body: Evidence['body']): Promise<readonly EvidenceRow[] | Fault> {
  using answer = await fetch(body.rows_url!, { maxBytes: maxFileBytes, timeoutMs: fetchMs });
  if (answer.status !== 200) throw new Error(`the address of the rows answers with ${answer.status}`);
  const bytes = await readAll(answer);
  const parsed = parseEvidenceFile(bytes, body);
  if (parsed.ok) return parsed.rows;
  return { code: parsed.code, detail: parsed.errors[0]!.detail };
}

/** The fault of rows that analytics-sink cannot keep. Any other error is thrown: the import is tried again. */
function faultOfSink(error: unknown): Fault {
  if (isProblem(error, 'validation_failed'))
    return { code: 'rows_not_acceptable', detail: error.message.slice(0, 500) };
  throw error;
}

/** Imports the rows of accepted evidence into analytics-sink, and tells management the outcome. */
export function startEvidenceImports(options: {
  readonly pool: Pool;
  readonly send: SendCommand;
  readonly sink: Pick<RpcClient<typeof EvidenceServiceService>, 'importEvidence'>;
  readonly fetch: GuardedFetch;
  readonly clock: () => Date;
  readonly logger: Logger;
  /** Milliseconds between two looks for evidence that is due; default 500. */
  readonly everyMs?: number;
}): AsyncDisposable {
  const { pool, send, sink, fetch, clock, logger } = options;

  async function rowsOf(due: DueImport, { body, authority_id: authorityId }: Evidence) {
    if (body.rows) return body.rows;
    const found = await fetchRows(fetch, body).catch((error: unknown): Fault => {
      if (due.attempts < maxAttempts) throw error;
      return {
        code: 'rows_not_fetchable',
        detail: `The rows cannot be fetched: ${(error as Error).message}`.slice(0, 500),
      };
    });
    if (!Array.isArray(found)) return found as Fault;
    const sources = [...new Set((found as readonly EvidenceRow[]).map((row) => row.source_id))];
    const known = await findSentEpisodes(pool, authorityId, sources);
    const unknown = sources.find((id) => !known.has(id));
    if (unknown === undefined) return found as readonly EvidenceRow[];
    return { code: 'unknown_source', detail: `No accepted snapshot has the source_id “${unknown}”.` };
  }

  async function importRows(due: DueImport, evidence: Evidence, rows: readonly EvidenceRow[]): Promise<undefined> {
    const { body, authority_id: authorityId } = evidence;
    const report = {
      workspaceId: due.workspaceId,
      evidenceId: due.evidenceId,
      authorityId,
      sourceLabel: body.source_label,
      platform: body.platform,
      kind: body.kind,
      granularity: body.granularity,
      revision: body.revision,
      finality: body.finality,
      periodStartMs: BigInt(Date.parse(body.period.start)),
      periodEndMs: BigInt(Date.parse(body.period.end)),
      currency: body.currency,
    };
    for (let first = 0; first === 0 || first < rows.length; first += rowsPerCall)
      await sink.importEvidence(
        {
          report,
          firstRow: first,
          rows: rows.slice(first, first + rowsPerCall).map((row) => ({
            sourceId: row.source_id,
            atMs: BigInt(Date.parse(row.at)),
            downloads: big(row.downloads),
            plays: big(row.plays),
            listeners: big(row.listeners),
            completes: big(row.completes),
            impressions: big(row.impressions),
            revenueMicros: big(row.revenue_micros),
          })),
        },
        { deadlineMs: callMs },
      );
  }

  async function tell(due: DueImport, outcome: { readonly rows: number } | { readonly fault: Fault }): Promise<void> {
    const [verb, changes] =
      'rows' in outcome ? ['record_ready', { row_count: outcome.rows }] : ['record_failed', { problem: outcome.fault }];
    try {
      await send(
        {
          workspaceId: due.workspaceId,
          commandType: `platform_evidence.${verb}`,
          idempotencyKey: `${due.evidenceId}:${verb}`,
          ifMatch: '',
          subjectType: 'platform_evidence',
          subjectId: due.evidenceId,
          changesJson: JSON.stringify(changes),
          reasonJson: '',
        },
        { deadlineMs: callMs },
      );
    } catch (error) {
      // A later revision has taken its place meanwhile.
      if (!isProblem(error, 'state_not_allowed')) throw error;
    }
    await endImport(pool, due.evidenceId, clock());
  }

  async function importNext(): Promise<boolean> {
    const due = await takeImport(pool, clock(), leaseMs);
    if (!due) return false;
    try {
      const evidence = evidenceOf(due.payload);
      const found = await rowsOf(due, evidence);
      if ('code' in found) await tell(due, { fault: found });
      else {
        const fault = await importRows(due, evidence, found).catch(faultOfSink);
        await tell(due, fault ? { fault } : { rows: found.length });
      }
    } catch (error) {
      logger.warn({ err: error, evidence_id: due.evidenceId, attempts: due.attempts }, 'evidence.import_failed');
      await postponeImport(pool, due.evidenceId, new Date(clock().getTime() + backOffMs(due.attempts)));
    }
    return true;
  }

  const stack = new AsyncDisposableStack();
  for (let slot = 0; slot < concurrency; slot++)
    stack.use(
      pollLoop({
        everyMs: options.everyMs ?? 500,
        run: importNext,
        onError: (error) => logger.warn({ err: error }, 'evidence.imports_failed'),
      }),
    );
  return stack;
}
