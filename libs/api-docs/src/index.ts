export { escapeHtml } from './escape-html.ts';
export { serveFrontPage, type FrontPage } from './front-page.ts';
export { serveApiDocs } from './serve-api-docs.ts';
export { serveText } from './serve-text.ts';
