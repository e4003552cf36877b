import { createHash } from 'node:crypto';
import { serveText } from '@longwave/api-docs';
import type { RequestHandler } from 'express';

const style = `:root{color-scheme:light dark}
body{margin:0 auto;max-width:40rem;padding:2rem 1rem;font:1rem/1.5 system-ui,sans-serif;color:#1d2530;background:#fff;overflow-wrap:anywhere}
a{color:#0b57d0}
dt{font-weight:600;margin-top:1rem}
dd{margin:0}
@media (prefers-color-scheme:dark){body{color:#e3e6eb;background:#16181d}a{color:#8ab4f8}}
`;

/** Nothing but this one style; no script, no image, no request to anywhere. */
const policy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

const page = `<!doctype html>
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
<p>Podcast hosting with an audio ad server. This is the host of REST API v1: podcasts, episodes, uploads, encoding and numbers of downloads.</p>
<dl>
<dt><a href="/api-docs">Documentation</a></dt>
<dd>Every operation with its fields and errors, and a form to try it.</dd>
<dt><a href="/api/v1/docs">OpenAPI document</a></dt>
<dd>The same for programs, as JSON.</dd>
<dt><a href="/api/v1/podcasts">Your podcasts</a></dt>
<dd>The data, as JSON. It needs an API key: <code>Authorization: Bearer KEY</code>.</dd>
</dl>
</main>
</body>
</html>
`;

/** The page at the root of `{base_url}`: what this is, and where the documentation and the data are. Needs no credential. */
export const serveFrontPage = (): RequestHandler =>
  serveText(() => page, 'text/html; charset=utf-8', {
    'Content-Security-Policy': policy,
    'Referrer-Policy': 'no-referrer',
  });
