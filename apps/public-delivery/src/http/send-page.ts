import { publicCacheControl } from './cache-control.ts';
import type { Exchange } from './route.ts';

/** Answers GET and HEAD with an HTML page of words of strangers: nothing in it runs or is sent, and it loads only what the policy names. */
export function sendPage({ request, response }: Exchange, html: string, policy: string): void {
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': publicCacheControl,
    'content-security-policy': `default-src 'none'; base-uri 'none'; form-action 'none'; ${policy}`,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'content-length': String(Buffer.byteLength(html)),
  });
  response.end(request.method === 'HEAD' ? undefined : html);
}
