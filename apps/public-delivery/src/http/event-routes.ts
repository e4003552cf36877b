import { Problem } from '@longwave/problems';
import type { Pool } from '@longwave/postgres';
import { eventFact } from '../events/event-fact.ts';
import { readReport, readReports, type TokenReport } from '../events/read-report.ts';
import type { ServingTokens } from '../events/serving-token.ts';
import type { FactSink } from '../facts/fact-sink.ts';
import type { IdentifyListener } from '../listener/identify-listener.ts';
import { findServings } from '../play/play-table.ts';
import { readBody } from './read-body.ts';
import type { Exchange, Route } from './route.ts';

export interface EventRoutesOptions {
  readonly pool: Pool;
  readonly identify: IdentifyListener;
  readonly tokens: ServingTokens;
  readonly facts: FactSink;
  readonly listsVersion: string;
}

const reportBytesMax = 1_024;
const reportsBytesMax = 32 * 1_024;

/** One transparent pixel. */
const gif = Buffer.from(
  '47494638396101000100f0000000000000000021f90401000000002c00000000010001000002024401003b',
  'hex',
);

function answer({ response }: Exchange, wantsGif: boolean): void {
  if (!wantsGif) return void response.writeHead(204, { 'cache-control': 'no-store' }).end();
  response.writeHead(200, {
    'content-type': 'image/gif',
    'content-length': String(gif.length),
    'cache-control': 'no-store',
  });
  response.end(gif);
}

/** Players' own reports of ads (measurement.md D11), each signed for by its token. */
export function eventRoutes({ pool, identify, tokens, facts, listsVersion }: EventRoutesOptions): readonly Route[] {
  /** Keeps what opens; answers how many reports that were. Resolves when no crash of this process loses them. */
  async function keep({ request, startedAt }: Exchange, reports: readonly TokenReport[]): Promise<number> {
    const opened = reports.flatMap((report) => {
      const serving = tokens.open('evt', report.token, startedAt);
      return serving ? [{ report, ...serving }] : [];
    });
    const servings = opened.length > 0 ? await findServings(pool, opened) : [];
    const found = opened.flatMap((each) => {
      const serving = servings.find(
        ({ decisionId, ad }) => decisionId === each.decisionId && ad.serving_id === each.servingId,
      );
      return serving ? [{ ...each, serving }] : [];
    });
    const reporter = identify(request, startedAt);
    // A look at the address, an announced prefetch and our own monitors are answered alike, and report nothing.
    if (found.length === 0 || request.method === 'HEAD' || reporter.prefetch || reporter.internal) return found.length;
    facts.sawUserAgent(reporter.userAgentDigest, reporter.userAgent, startedAt);
    await facts.keep(
      found.map(({ serving, report, late }) => eventFact(serving, report, late, reporter, startedAt, listsVersion)),
    );
    return found.length;
  }

  async function one(exchange: Exchange, body: string): Promise<void> {
    const { wantsGif, ...report } = readReport(exchange.request.query, body);
    const token = String(exchange.request.params['token']);
    if ((await keep(exchange, [{ token, ...report }])) === 0) throw new Problem('not_found');
    answer(exchange, wantsGif);
  }

  return [
    {
      name: 'delivery_event.receive',
      path: '/delivery/v1/ev/:token',
      serve: (exchange) => one(exchange, ''),
      take: async (exchange) => one(exchange, await readBody(exchange, reportBytesMax)),
    },
    {
      name: 'delivery_events.receive',
      path: '/delivery/v1/ev',
      take: async (exchange) => {
        const reports = readReports(await readBody(exchange, reportsBytesMax));
        // One token that is gone must not hold back the others of a player's queue.
        if ((await keep(exchange, reports)) === 0) throw new Problem('not_found');
        answer(exchange, false);
      },
    },
  ];
}
