export { serveApiDocs, type ApiDocsOptions } from './serve-api-docs.ts';
export { serveText } from './serve-text.ts';
