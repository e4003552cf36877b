import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Router } from 'express';
import { escapeHtml } from './escape-html.ts';
import { serveText } from './serve-text.ts';

export interface ApiDocsOptions {
  /** Name of the API, shown as the page's title. */
  readonly title: string;
  /** Path of the page on its host, without a slash at the end; its script and style are below it. */
  readonly path: string;
  /** Path of the OpenAPI document on the same host. */
  readonly documentPath: string;
}

/** Nothing but this host's script and style runs, and the page talks to this host only. Icons of the style are `data:` images. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * Everything is shown folded, and what is entered as a credential is forgotten with the page. The filter, which compares names of groups
 * alone otherwise, finds operations by id, path and summary too.
 */
const script = `const findOperations = (groups, phrase) => {
  const wanted = phrase.toLowerCase();
  const words = (one) => [one.get('path'), one.getIn(['operation', 'operationId']), one.getIn(['operation', 'summary'])];
  const isWanted = (one) => words(one).some((text) => text && text.toLowerCase().includes(wanted));
  return groups
    .map((group, name) => (name.toLowerCase().includes(wanted) ? group : group.update('operations', (all) => all.filter(isWanted))))
    .filter((group) => group.get('operations').size > 0);
};
window.ui = SwaggerUIBundle({
  url: document.body.dataset.document,
  dom_id: '#api',
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  plugins: [() => ({ fn: { opsFilter: findOperations } })],
  persistAuthorization: false,
  requestSnippetsEnabled: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
});
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
`;

const style = `body{margin:0}
.swagger-ui .wrapper{max-width:72rem}
@media (max-width:40rem){
  .swagger-ui .wrapper{padding:0 .5rem}
  .swagger-ui .opblock .opblock-summary{flex-wrap:wrap}
  .swagger-ui .opblock .opblock-summary-description{flex-basis:100%;padding:.25rem .5rem}
  .swagger-ui .scheme-container .schemes{flex-direction:column;align-items:flex-start}
  .swagger-ui table.parameters,.swagger-ui table.parameters tbody,.swagger-ui table.parameters tr,.swagger-ui table.parameters td{display:block;width:100%}
  .swagger-ui table.parameters thead{display:none}
  .swagger-ui .parameters-col_description input,.swagger-ui .parameters-col_description select{max-width:100%;width:100%}
}
`;

const renderPage = ({ title, path, documentPath }: ApiDocsOptions) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${escapeHtml(path)}/swagger-ui.css">
<link rel="stylesheet" href="${escapeHtml(path)}/page.css">
</head>
<body data-document="${escapeHtml(documentPath)}">
<noscript>This page needs JavaScript. The OpenAPI document is at <a href="${escapeHtml(documentPath)}">${escapeHtml(documentPath)}</a>.</noscript>
<div id="api"></div>
<script src="${escapeHtml(path)}/swagger-ui-bundle.js"></script>
<script src="${escapeHtml(path)}/page.js"></script>
</body>
</html>
`;

const packaged = (file: string) => () => readFileSync(fileURLToPath(import.meta.resolve(`swagger-ui-dist/${file}`)));

/**
 * Routes of an interactive page for one OpenAPI document: operations in groups, deprecated ones marked, examples, a form to try
 * each and the matching curl command, by day and by night and on a phone. Everything comes from this host.
 */
export function serveApiDocs(options: ApiDocsOptions): Router {
  const { path } = options;
  const headers = { 'Content-Security-Policy': policy, 'X-Content-Type-Options': 'nosniff' };
  const javascript = 'text/javascript; charset=utf-8';
  const css = 'text/css; charset=utf-8';
  const router = Router();
  router.get(
    path,
    serveText(() => renderPage(options), 'text/html; charset=utf-8', headers),
  );
  router.get(
    `${path}/page.js`,
    serveText(() => script, javascript, headers),
  );
  router.get(
    `${path}/page.css`,
    serveText(() => style, css, headers),
  );
  router.get(`${path}/swagger-ui-bundle.js`, serveText(packaged('swagger-ui-bundle.js'), javascript, headers));
  router.get(`${path}/swagger-ui.css`, serveText(packaged('swagger-ui.css'), css, headers));
  return router;
}
