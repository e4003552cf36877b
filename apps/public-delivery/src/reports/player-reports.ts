import type { IncomingMessage } from 'node:http';
import type { Pool } from '@longwave/postgres';
import type { FactSink } from '../facts/fact-sink.ts';
import type { IdentifyListener } from '../listeners/identify-listener.ts';
import { findServings, type Serving } from './serving-table.ts';
import { eventFact } from './event-fact.ts';
import type { TokenReport } from './read-report.ts';
import { createReportLimit } from './report-limit.ts';
import type { ServingTokens } from './serving-token.ts';

/** A report whose token opened, with its serving. */
interface FoundReport {
  readonly report: TokenReport;
  readonly serving: Serving;
  readonly late: boolean;
}

export interface PlayerReports {
  /** The reports whose tokens name a stored serving. */
  find(purpose: 'evt' | 'clk', reports: readonly TokenReport[], at: Date): Promise<readonly FoundReport[]>;
  /**
   * Keeps them as facts. Resolves when no end of this process loses them; rejects with `temporarily_unavailable` when the disk does
   * not take them. HEAD, announced prefetches and our own monitors report nothing, and reports beyond the `ReportLimit` of their serving
   * are dropped.
   */
  keep(found: readonly FoundReport[], request: IncomingMessage, at: Date): Promise<void>;
}

export interface PlayerReportsOptions {
  readonly pool: Pool;
  readonly identify: IdentifyListener;
  readonly tokens: ServingTokens;
  readonly facts: FactSink;
  readonly listsVersion: string;
}

/** Turns players' reports into facts. */
export function createPlayerReports({
  pool,
  identify,
  tokens,
  facts,
  listsVersion,
}: PlayerReportsOptions): PlayerReports {
  const limit = createReportLimit();
  const counted = ({ serving: { ad, adDurationMs }, report: { event } }: FoundReport) => ({
    ...{ servingId: ad.serving_id, event, adDurationMs },
  });
  return {
    find: async (purpose, reports, at) => {
      const opened = reports.flatMap((report) => {
        const address = tokens.open(purpose, report.token, at);
        return address ? [{ report, ...address }] : [];
      });
      const servings =
        opened.length > 0
          ? await findServings(
              pool,
              opened.map(({ decisionId }) => decisionId),
            )
          : [];
      return opened.flatMap(({ report, late, ...address }) => {
        const serving = servings.find(
          ({ decisionId, ad }) => decisionId === address.decisionId && ad.serving_id === address.servingId,
        );
        return serving ? [{ report, serving, late }] : [];
      });
    },
    keep: async (found, request, at) => {
      const reporter = identify(request, at);
      if (found.length === 0 || request.method === 'HEAD' || reporter.prefetch || reporter.internal) return;
      const kept = found.filter((one) => limit.tryKeep(counted(one)));
      if (kept.length === 0) return;
      facts.sawUserAgent(reporter.userAgentDigest, reporter.userAgent, at);
      try {
        await facts.keep(
          kept.map(({ serving, report, late }) => eventFact(serving, report, late, reporter, at, listsVersion)),
        );
      } catch (error) {
        for (const one of kept) limit.release(counted(one));
        throw error;
      }
    },
  };
}
