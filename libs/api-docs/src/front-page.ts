import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { escapeHtml } from './escape-html.ts';
import { serveText } from './serve-text.ts';

interface FrontPageLink {
  readonly href: string;
  readonly name: string;
  /** One or two sentences: what is there. */
  readonly about: string;
}

/** The page at the root of one of our hosts. Everything in it is plain text. */
export interface FrontPage {
  /** A description of this address. */
  readonly about: string;
  readonly links: readonly FrontPageLink[];
}

const style = `:root{color-scheme:light dark}
body{margin:0 auto;max-width:40rem;padding:2rem 1rem;font:1rem/1.5 system-ui,sans-serif;color:#1d2530;background:#fff;overflow-wrap:anywhere}
a{color:#0b57d0}
dt{font-weight:600;margin-top:1rem}
dd{margin:0}
@media (prefers-color-scheme:dark){body{color:#e3e6eb;background:#16181d}a{color:#8ab4f8}}
`;

/** Nothing but this one style; no script, no image, no request to anywhere. */
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const renderFrontPage = ({ about, links }: FrontPage) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Longwave</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main>
<h1>Longwave</h1>
<p>${escapeHtml(about)}</p>
<dl>
${links.map(({ href, name, about: there }) => `<dt><a href="${escapeHtml(href)}">${escapeHtml(name)}</a></dt>\n<dd>${escapeHtml(there)}</dd>`).join('\n')}
</dl>
</main>
</body>
</html>
`;

/** Serves a front page: what the host is, and where its documentation and data are. Needs no credential. */
export const serveFrontPage = (page: FrontPage): RequestHandler =>
  serveText(() => renderFrontPage(page), 'text/html; charset=utf-8', {
    'Content-Security-Policy': policy,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  });
