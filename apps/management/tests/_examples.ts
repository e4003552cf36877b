import type { ProductCommand } from '@longwave/command-catalog';
import type { Example } from './_example.ts';
import { advertisingExamples } from './_examples-advertising.ts';
import { authorityExamples } from './_examples-authority.ts';
import { billingExamples } from './_examples-billing.ts';
import { contentExamples } from './_examples-content.ts';
import { demandExamples } from './_examples-demand.ts';
import { exchangeExamples } from './_examples-exchange.ts';
import { forecastExamples } from './_examples-forecasts.ts';
import { flightExamples } from './_examples-flights.ts';
import { inventoryExamples } from './_examples-inventory.ts';
import { mediaExamples } from './_examples-media.ts';
import { moveExamples } from './_examples-moves.ts';
import { platformExamples } from './_examples-platforms.ts';
import { policyExamples } from './_examples-policies.ts';
import { privacyExamples } from './_examples-privacy.ts';
import { productExamples } from './_examples-products.ts';
import { makegoodExamples } from './_examples-makegoods.ts';
import { reconciliationExamples } from './_examples-reconciliations.ts';
import { reportExamples } from './_examples-reports.ts';
import { reviewExamples } from './_examples-reviews.ts';
import { webhookExamples } from './_examples-webhooks.ts';
import type { World } from './_world.ts';

/** A valid request for every command; a command without an example does not compile. */
export const examples: { readonly [C in ProductCommand]: (world: World) => Promise<Example> } = {
  ...contentExamples,
  ...mediaExamples,
  ...reportExamples,
  ...reconciliationExamples,
  ...makegoodExamples,
  ...moveExamples,
  ...advertisingExamples,
  ...demandExamples,
  ...flightExamples,
  ...forecastExamples,
  ...inventoryExamples,
  ...platformExamples,
  ...policyExamples,
  ...privacyExamples,
  ...productExamples,
  ...billingExamples,
  ...reviewExamples,
  ...webhookExamples,
  ...authorityExamples,
  ...exchangeExamples,
};
