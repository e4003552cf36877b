import type { Decision, RuleInput } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import type { ProbeDuration, ProbeSource } from '../../outside/probe-duration.ts';
import { insertJob } from '../../background/job-table.ts';
import { holdUpload } from '../../workspace/uploads/find-upload.ts';
import { encodeJob } from './encode-job.ts';
import { encodingMonth, lockBalance, moveBalance } from './encoding-balance-table.ts';
import { locateSource, type SourceOptions, type SourceLocation } from './production-source.ts';
import { reservedTime, startedProduction, type Production } from './production.ts';

export type EncodingOptions = SourceOptions & { readonly probeDuration: ProbeDuration };

/** Decides the start of a production inside the transaction. Throws `encoding_time_exhausted`. */
type StartEncoding = (
  input: Pick<RuleInput<unknown, unknown>, 'tx' | 'workspaceId' | 'subjectId' | 'now'>,
  production: Readonly<Production>,
  publish?: boolean,
) => Promise<Decision<Production>>;

const probeSource = (location: SourceLocation): ProbeSource =>
  location.kind === 'stored' ? { storageKey: location.found.upload.storage_key } : { sourceUrl: location.url };

/** The encoding time that a start reserves. Throws `encoding_time_exhausted`. */
async function reserve(tx: Transaction, workspaceId: string, location: SourceLocation, durationMs: number, now: Date) {
  const month = encodingMonth(now);
  const sizeBytes = location.kind === 'stored' ? location.found.sizeBytes : undefined;
  return { durationMs: reservedTime(await lockBalance(tx, workspaceId, month), { durationMs, sizeBytes }), month };
}

/**
 * Probes the audio of a production before its start. The start reserves the file's duration, or a guess when it cannot be probed; the end
 * of the encoding counts the real duration. Imported audio uses no encoding time. Throws `production_has_no_audio` or
 * `upload_not_received`.
 */
export async function prepareEncoding(
  options: EncodingOptions,
  workspaceId: string,
  before: Readonly<Production>,
  deadline: Date | undefined,
): Promise<StartEncoding> {
  const location = await locateSource(options, workspaceId, before);
  const durationMs = before.imported ? 0 : await options.probeDuration(probeSource(location), deadline);
  return async ({ tx, subjectId, now }, production, publish = false) => {
    if (production.file_url !== before.file_url)
      throw new Problem('temporarily_unavailable', 'The production changed at the same moment. Try again.', {
        retryAfterSeconds: 1,
      });
    if (location.kind === 'stored') await holdUpload(tx, location.found, '/subject');
    const reservation = production.imported ? undefined : await reserve(tx, workspaceId, location, durationMs, now);
    const attributes = startedProduction(production, { publish, ...(reservation && { reservation }) });
    const job = await encodeJob(tx, {
      workspaceId,
      productionId: subjectId,
      production: attributes,
      location,
      durationMs,
    });
    return {
      attributes,
      also: async (inner, { version }) => {
        if (reservation)
          await moveBalance(inner, workspaceId, reservation.month, { reservedMs: reservation.durationMs, usedMs: 0 });
        await insertJob(inner, {
          kind: 'encode_production',
          workspaceId,
          subjectType: 'productions',
          subjectId,
          subjectVersion: version,
          ...job,
          now,
        });
      },
    };
  };
}
