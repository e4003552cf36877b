/** Prints the OpenAPI document; `npm run contracts` keeps it in contracts/exchange-openapi.json. */
import { exchangeOpenApi } from './http/openapi.ts';

console.log(JSON.stringify(exchangeOpenApi()));
