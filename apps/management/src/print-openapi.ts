/** Prints the OpenAPI document; `npm run contracts` keeps it in contracts/management-openapi.json. */
import { managementOpenApi } from './http/openapi.ts';
import { managementRoutes } from './http/routes.ts';

console.log(JSON.stringify(managementOpenApi(managementRoutes)));
