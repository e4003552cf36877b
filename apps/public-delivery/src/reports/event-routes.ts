import { Problem } from '@longwave/problems';
import type { Logger } from '@longwave/service-kit';
import { readReport, readReports, type TokenReport } from './read-report.ts';
import type { PlayerReports } from './player-reports.ts';
import { readBody } from '../http/read-body.ts';
import type { Exchange, Route } from '../http/route.ts';

const maxReportBytes = 1_024;
const maxReportsBytes = 32 * 1_024;

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

/** Reports of players about ads (docs/counting.md#what-players-report), and clicks on ads, each under a token of the serving. */
export function eventRoutes(reports: PlayerReports, logger: Logger): readonly Route[] {
  /** Keeps the reports whose tokens open: one stale token must not hold back the others of a player's queue. */
  async function keepAll({ request, startedAt }: Exchange, sent: readonly TokenReport[]): Promise<void> {
    const found = await reports.find('evt', sent, startedAt);
    if (found.length === 0) throw new Problem('not_found');
    await reports.keep(found, request, startedAt);
  }

  async function keepOne(exchange: Exchange, body: string): Promise<void> {
    const { wantsGif, ...report } = readReport(exchange.query, body);
    await keepAll(exchange, [{ token: String(exchange.params['token']), ...report }]);
    answer(exchange, wantsGif);
  }

  return [
    {
      name: 'delivery_event.receive',
      path: '/delivery/v1/ev/:token',
      get: (exchange) => keepOne(exchange, ''),
      post: async (exchange) => keepOne(exchange, await readBody(exchange, maxReportBytes)),
    },
    {
      name: 'delivery_events.receive',
      path: '/delivery/v1/ev',
      post: async (exchange) => {
        await keepAll(exchange, readReports(await readBody(exchange, maxReportsBytes)));
        answer(exchange, false);
      },
    },
    {
      name: 'click.follow',
      path: '/delivery/v1/k/:token',
      get: async ({ request, response, params, requestId, startedAt }) => {
        const token = String(params['token']);
        const click = { token, event: 'click', sequence: 0, reportedAt: undefined } as const;
        const [found] = await reports.find('clk', [click], startedAt);
        // Stored with the decision: no request chooses where it leads.
        const clickUrl = found?.serving.ad.click_url;
        if (!found || clickUrl === undefined) throw new Problem('not_found');
        // The redirect does not depend on the report: the disk may be full.
        await reports.keep([found], request, startedAt).catch((error: unknown) => {
          logger.error({ request_id: requestId, err: error }, 'click.not_kept');
        });
        // Encoded, because a header carries ASCII only.
        const location = new URL(clickUrl).href;
        response.writeHead(302, { location, 'cache-control': 'no-store', 'content-length': '0' }).end();
      },
    },
  ];
}
