import { createTokenKeys, openToken, type TokenPurpose } from '@longwave/delivery-token';
import { idBytes, isId } from '@longwave/ids';
import type { Answer, Ask } from './_ask.ts';

/** One answer as a client has it: status, headers and body. */
export interface Told {
  readonly asked: string;
  readonly status: number;
  readonly text: string;
}

/** What must not be told, by what it is. */
export type Secrets = Readonly<Record<string, readonly string[]>>;

export const purposes: readonly TokenPurpose[] = ['enc', 'arr', 'prs', 'asl', 'ada', 'opp', 'evt', 'clk', 'bnd', 'prv'];
export const tokenPattern = /t1\.[\w-]{100}/g;
const host = 'media.test';

/** Bytes as Base64 shows them, wherever they begin in what is encoded. */
const inBase64 = (bytes: Buffer): string[] =>
  [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return text.slice(before === 0 ? 0 : before + 1).replace(/.?=+$/, '');
  });

/** The bytes behind a text: of an id, or of hex digits. */
function bytesOf(secret: string): Buffer | undefined {
  if (isId(secret)) return idBytes(secret);
  return /^[0-9a-f]{32,}$/.test(secret) ? Buffer.from(secret, 'hex') : undefined;
}

/** A secret as it could be told: its text and the first 16 of its bytes, each as it is, in hex and in Base64; an id also without its prefix. */
function formsOf(secret: string): readonly string[] {
  const bytes = bytesOf(secret)?.subarray(0, 16);
  const all = [Buffer.from(secret), ...(bytes ? [bytes] : [])];
  const encoded = all.flatMap(inBase64);
  const inUrls = encoded.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  const plain = all.flatMap((each) => [each.toString('latin1'), each.toString('hex')]);
  return [...(isId(secret) ? [secret.slice(secret.indexOf('_') + 1)] : []), ...plain, ...encoded, ...inUrls];
}

/** What a token says to who has the keys, its bytes in hex; undefined for one that does not open. */
export function openAny(
  secret: string,
  token: string,
): { readonly purpose: TokenPurpose; readonly text: string } | undefined {
  const keys = createTokenKeys([Buffer.from(secret, 'hex')]);
  for (const purpose of purposes) {
    // Enclosures begin at no time, see their tokens.
    const { claims } = openToken(keys, purpose, host, token, purpose === 'enc' ? 0 : Math.floor(Date.now() / 1000));
    if (claims)
      return {
        purpose,
        text: `${claims.subject.toString('hex')} ${claims.binding.toString('hex')} ${JSON.stringify(claims)}`,
      };
  }
  return undefined;
}

/** Which secrets a text tells, by their kinds. */
export function createFindSecrets(secrets: Secrets): (text: string) => readonly string[] {
  const forms = Object.entries(secrets).map(([kind, values]) => [kind, values.flatMap(formsOf)] as const);
  const lower = forms.map(([kind, all]) => [kind, [...new Set(all.map((form) => form.toLowerCase()))]] as const);
  return (text) => {
    const folded = text.toLowerCase();
    return lower.filter(([, all]) => all.some((form) => folded.includes(form))).map(([kind]) => kind);
  };
}

/** The addresses of this host in an answer. */
function addressesIn(url: string, { headers, body }: Answer): readonly string[] {
  const type = String(headers['content-type'] ?? '');
  const text = /mpegurl|json|xml|html/.test(type) ? body.toString() : '';
  const lines = type.includes('mpegurl') ? text.split('\n').filter((line) => line && !line.startsWith('#')) : [];
  const found = [
    ...[headers.location ?? [], lines].flat(),
    ...[...text.matchAll(/(?:URI|ASSET-LIST|src|href|data-hls)="([^"]+)"/g)].map(([, link]) => link!),
    ...[...text.matchAll(/https?:\/\/media\.test[^\s"'<>\]]*/g)].map(([link]) => link),
  ];
  return found
    .map((link) => new URL(link.replaceAll('&amp;', '&'), url))
    .filter((link) => link.host === host)
    .map(({ href }) => href);
}

/** Addresses beside one that no answer names. */
function addressesBeside(url: string): readonly string[] {
  const beside = (...names: string[]) => names.map((name) => new URL(name, url).href);
  if (/\/e\/[^/]+\/[^/]+\.mp3$/.test(url)) return beside('player', 'chapters.json', 'transcript.vtt', '?direct=1');
  if (/\/p\/[^/]+\/[^/]+\.mp3$/.test(url)) return beside('chapters.json', 'transcript.vtt', 'timeline.json');
  if (/\/hp?\/[^/]+\/main\.m3u8$/.test(url)) return beside('chapters.json', 'timeline.json');
  if (/\/ad\/[^/]+\/main\.m3u8$/.test(url)) return beside('ad.mp3');
  if (/\/ev\/[^/?]+$/.test(url)) return beside('?e=start', '?e=start&f=gif', '?e=nothing');
  return [];
}

const mediaStart = { range: 'bytes=0-65535' };
const isMedia = (url: string) => /\.(?:mp3|mp4)$/.test(new URL(url).pathname);

/**
 * Asks for everything that can be reached from addresses, as one listener, and keeps what is answered. Of media it asks the beginning.
 * Answers all addresses.
 */
export async function crawl(ask: Ask, told: Told[], from: readonly string[], listener: Record<string, string>) {
  const found = new Set(from.map((url) => new URL(url, `http://${host}`).href));
  for (const url of found) {
    const answer = await keep(ask, told, url, { ...listener, ...(isMedia(url) && mediaStart) });
    for (const other of [...addressesIn(url, answer), ...addressesBeside(url)]) found.add(other);
  }
  return [...found];
}

/** Asks, and keeps what is answered. */
export async function keep(
  ask: Ask,
  told: Told[],
  url: string,
  headers: Record<string, string>,
  method = 'GET',
  body = '',
): Promise<Answer> {
  const answer = await ask(url, headers, method, body);
  const { status } = answer;
  told.push({
    ...{ asked: `${method} ${url}`, status },
    text: `${status}\n${JSON.stringify(answer.headers)}\n${answer.body.toString('latin1')}`,
  });
  return answer;
}
