import type { Download } from './check-delivery.ts';
import type { HeardByHls } from './play-by-hls.ts';

/** One ad of a play. */
export interface HeardServing {
  readonly breakId: string;
  /** The address for reports of the ad, which names its serving: the same address is the same serving, on every surface. */
  readonly reportUrl: string;
}

/** The same, with the id by which the ad's owner knows it. */
interface NamedServing extends HeardServing {
  readonly servingId: string;
}

async function answerOf(url: string, init: RequestInit): Promise<string> {
  const answer = await fetch(url, init);
  if (!answer.ok) throw new Error(`${answer.status} of ${url.replace(/t1\.[^/]+/, '…')}`);
  return answer.text();
}

/** The ads of a downloaded file in their order, as its timeline names them. */
export async function listServingsOfDownload({ mediaUrl, agent }: Download): Promise<readonly HeardServing[]> {
  const url = mediaUrl.replace(/[^/]+$/, 'timeline.json');
  const { parts } = JSON.parse(await answerOf(url, { headers: { 'user-agent': agent } })) as {
    readonly parts: readonly { readonly key?: string; readonly slots?: readonly { readonly event_url: string }[] }[];
  };
  return parts.flatMap(({ key = '', slots = [] }) =>
    slots.map(({ event_url: reportUrl }) => ({ breakId: key, reportUrl })),
  );
}

/** The ads of a play by HLS in their order, as the VAST of its breaks names them. */
export async function listServingsByHls({ mainUrl }: HeardByHls, agent: string): Promise<readonly NamedServing[]> {
  const headers = { 'user-agent': agent, 'content-type': 'application/json' };
  const body = JSON.stringify({ presentation_token: /t1\.[\w-]+/.exec(mainUrl)![0] });
  const url = new URL('/delivery/v1/pb', mainUrl).href;
  const { breaks } = JSON.parse(await answerOf(url, { method: 'POST', headers, body })) as {
    readonly breaks: readonly { readonly key: string; readonly vast: string }[];
  };
  const servings: NamedServing[] = [];
  for (const { key, vast } of breaks)
    for (const ad of (await answerOf(vast, { headers })).split('<Ad ').slice(1)) {
      const find = (pattern: RegExp) => pattern.exec(ad)?.[1] ?? '';
      servings.push({
        breakId: key,
        reportUrl: find(/<Impression[^>]*><!\[CDATA\[([^?\]]+)/),
        servingId: find(/<AdServingId>([^<]+)/),
      });
    }
  return servings;
}
