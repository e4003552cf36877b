/** Prints the OpenAPI document; `npm run contracts` keeps it in contracts/openapi.json. */
import { openApiDocument } from './docs/openapi-document.ts';

console.log(JSON.stringify(openApiDocument()));
