import { randomInt } from 'node:crypto';

/** An answer with its body read. */
interface BrowserAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

type SentHeaders = Readonly<Record<string, string | undefined>>;

/** Every process begins somewhere else: tests share an installation. */
let browsers = randomInt(2 ** 24);
/** An address of a private network, so that browsers do not use up each other's limits where a service believes it. */
function nextAddress(): string {
  browsers = (browsers + 1) % 2 ** 24;
  return `10.${browsers >> 16}.${(browsers >> 8) & 255}.${browsers & 255}`;
}

const tokenIn = (body: string) => /name="form_token" value="([^"]+)"/.exec(body)?.[1];

/** A browser without scripts: it keeps cookies, and sends what a browser says about where a request comes from. */
export function createBrowser(url: string, from = nextAddress()) {
  const cookies = new Map<string, string>();

  async function fetchPage(path: string, init: { method?: string; body?: string; headers?: SentHeaders } = {}) {
    const sent = {
      'sec-fetch-site': 'same-origin',
      'x-forwarded-for': from,
      cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      ...init.headers,
    };
    const headers = Object.entries(sent).filter((entry): entry is [string, string] => Boolean(entry[1]));
    const response = await fetch(new URL(path, url), { ...init, headers, redirect: 'manual' });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return { status: response.status, headers: response.headers, body: await response.text() } satisfies BrowserAnswer;
  }

  return {
    cookies,
    fetch: fetchPage,
    get: (path: string) => fetchPage(path),
    /** Sends the fields with the token of a form that the browser has seen at `on`. */
    async post(
      path: string,
      fields: Readonly<Record<string, string | readonly string[]>>,
      headers: SentHeaders = {},
      on = '/settings',
    ): Promise<BrowserAnswer> {
      const { form_token = tokenIn((await fetchPage(on)).body) ?? '', ...others } = fields;
      const body = new URLSearchParams({ form_token: String(form_token) });
      for (const [name, value] of Object.entries(others)) for (const one of [value].flat()) body.append(name, one);
      return fetchPage(path, {
        method: 'POST',
        body: String(body),
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      });
    },
  };
}

export type Browser = ReturnType<typeof createBrowser>;
