export { serveFrontPage, type FrontPage, type FrontPageLink } from './front-page.ts';
export { serveApiDocs, type ApiDocsOptions } from './serve-api-docs.ts';
export { serveText } from './serve-text.ts';
