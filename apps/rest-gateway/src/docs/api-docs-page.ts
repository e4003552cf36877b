import { createHash } from 'node:crypto';
import type { OpenApiDocument } from './openapi-document.ts';

const escape = (text: string) =>
  text.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] ?? c);

interface Operation {
  readonly summary: string;
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: object } } };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a1a1a;background:#fff}
summary{cursor:pointer;padding:.4rem 0}summary b{display:inline-block;width:4rem}code,pre,textarea,input{font:14px/1.4 ui-monospace,monospace}
pre{background:#f4f4f4;padding:.8rem;overflow:auto}label{display:block;margin:.3rem 0}input,textarea{width:100%;box-sizing:border-box}
details{border-bottom:1px solid #ddd}dt{font-weight:600}`;

const script = `document.addEventListener('submit', async (event) => {
  event.preventDefault();
  const form = event.target, out = form.querySelector('pre'), data = new FormData(form), query = new URLSearchParams();
  let path = form.dataset.path;
  const headers = { Authorization: 'Bearer ' + document.getElementById('credential').value };
  for (const [key, value] of data) {
    const [where, name] = key.split(/:(.*)/s);
    if (value === '') continue;
    if (where === 'path') path = path.replace('{' + name + '}', encodeURIComponent(value));
    if (where === 'query') query.append(name, value);
    if (where === 'header') headers[name] = value;
  }
  const body = data.get('body') || undefined;
  if (body) headers['Content-Type'] = 'application/json';
  const url = '/api/v1' + path + (query.size ? '?' + query : '');
  try {
    const answer = await fetch(url, { method: form.dataset.method, headers, body });
    out.textContent = answer.status + ' ' + answer.statusText + '\\n';
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader?.read(); part && !part.done; part = await reader.read()) out.textContent += part.value;
  } catch (error) { out.textContent = String(error); }
});`;

const digest = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Nothing but the page's own style and script runs, and it talks to this host only. */
export const apiDocsPolicy = `default-src 'none'; style-src ${digest(style)}; script-src ${digest(script)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

function renderOperation(method: string, path: string, operation: Operation): string {
  const inputs = operation.parameters.map(
    (p) =>
      `<label>${escape(p.name)} <small>${escape(p.in)}${p.required ? ', required' : ''}</small><input name="${escape(`${p.in}:${p.name}`)}"></label>`,
  );
  const schema = operation.requestBody?.content['application/json'].schema;
  const body = schema
    ? `<label>body <textarea name="body" rows="4"></textarea></label><details><summary>body schema</summary><pre>${escape(JSON.stringify(schema, null, 1))}</pre></details>`
    : '';
  const answers = Object.entries(operation.responses).map(
    ([status, { description }]) => `<dt>${status}</dt><dd>${escape(description)}</dd>`,
  );
  return `<details><summary><b>${method.toUpperCase()}</b> <code>${escape(path)}</code> ${escape(operation.summary)}</summary>
<form data-method="${method.toUpperCase()}" data-path="${escape(path)}">${inputs.join('')}${body}<button>Send</button><pre></pre></form><dl>${answers.join('')}</dl></details>`;
}

/** `/api-docs`: every operation of the document with a form to try it; self-contained. */
export function renderApiDocs(document: OpenApiDocument): string {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => renderOperation(method, path, operation as Operation)),
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(document.info.title)}</title><style>${style}</style></head><body><h1>${escape(document.info.title)}</h1>
<p>The machine-readable document is at <a href="/api/v1/docs">/api/v1/docs</a>.</p>
<label>API key or token <input id="credential" type="password" autocomplete="off"></label>
${operations.join('\n')}
<script>${script}</script></body></html>`;
}
