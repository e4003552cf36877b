/** Prints the OpenAPI document; `npm run contracts` keeps it in contracts/audience-openapi.json. */
import { audienceOpenApi } from './http/openapi.ts';

console.log(JSON.stringify(audienceOpenApi()));
