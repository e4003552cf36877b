import {
  lineItemAlertSchema,
  operations,
  productCatalog,
  type LineItemAlert,
  type WebhookDelivery,
} from '@longwave/command-catalog';
import {
  accessOf,
  type Actor,
  type CommandOutcome,
  type PatchStep,
  type VersionView,
} from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import { z } from 'zod';
import { isClosedReview, isOfDecisions, withoutRequest } from '../reviews/closed-review.ts';
import { isUnreadable } from './access.ts';

type Attributes = ResourceView['attributes'];

const endpoints = productCatalog.resources.webhook_endpoints.type;
const { roles } = productCatalog.commands['webhook_endpoint.revise'];

const addressed = z.looseObject({ url: z.string() });
const reviewOfEndpoint = z.looseObject({
  subject: z.looseObject({ type: z.literal(endpoints) }),
  request: z.looseObject({ changes: z.unknown() }),
});

/** Scheme and host of an address, without its path and query. */
const originOf = (url: unknown): string => URL.parse(String(url))?.origin ?? '';

/** The same fields with the origin alone in place of an address. */
function withOrigin<T>(fields: T): T {
  const found = addressed.safeParse(fields);
  return found.success ? { ...fields, url: originOf(found.data.url) } : fields;
}

/** Attributes of an endpoint, or of the review of a command on one, without the address. */
function withoutAddress(type: string, attributes: Attributes): Attributes {
  if (type === endpoints) return withOrigin(attributes);
  const review = type === 'review_tasks' ? reviewOfEndpoint.safeParse(attributes) : undefined;
  if (!review?.success) return attributes;
  const { request } = review.data;
  return { ...attributes, request: { ...request, changes: withOrigin(request.changes) } };
}

const operationSubject = z.looseObject({ subject: z.looseObject({ type: z.string() }) });

/** The type whose readers read a resource: of an operation that of its subject. */
const typeRead = ({ resource_type: type, attributes }: ResourceView): string =>
  type === operations.type ? operationSubject.parse(attributes).subject.type : type;

type AlertFigures = LineItemAlert['raised'];

/** Figures of an alert without what was found in resources of types that the actor may not read, and without what slots are worth. */
function readableFigures(actor: Actor, workspaceId: string, figures: AlertFigures): AlertFigures {
  const { forecast, day, discrepancy, unfilled, ...rest } = figures;
  const seesForecasts = !isUnreadable(actor, workspaceId, productCatalog.resources.forecasts.type);
  const seesReconciliations = !isUnreadable(actor, workspaceId, productCatalog.resources.reconciliations.type);
  const { value_at_floor_micros: _value, ...slots } = unfilled ?? {};
  return {
    ...rest,
    ...(forecast && seesForecasts && { forecast }),
    ...(day && seesForecasts && { day }),
    ...(discrepancy && seesReconciliations && { discrepancy }),
    ...(unfilled && { unfilled: seesForecasts ? unfilled : (slots as typeof unfilled) }),
  };
}

function stepWithoutAddress(step: PatchStep): PatchStep {
  if (step.op === 'remove') return step;
  if (step.path === '/attributes/url') return { ...step, value: originOf(step.value) };
  return step.path === '/attributes' ? { ...step, value: withOrigin(step.value) } : step;
}

/**
 * What an actor is shown of what it sees. Addresses of webhook endpoints, and what hosts answered, may hold secrets: only who may change an
 * endpoint sees them, others see scheme and host. Of a review about what it may not read it is shown that there is one; of an alert that was
 * found there, that it was raised.
 */
export function shownTo(actor: Actor) {
  const seesAddresses = (workspaceId: string): boolean =>
    actor.kind === 'service' || accessOf(actor, workspaceId, { roles }).outcome === 'permitted';

  function shownAttributes(workspaceId: string, type: string, attributes: Attributes): Attributes {
    const shown = isClosedReview(actor, workspaceId, { type, attributes }) ? withoutRequest(attributes) : attributes;
    return seesAddresses(workspaceId) ? shown : withoutAddress(type, shown);
  }

  return {
    /** A resource; all but webhook endpoints, and some reviews, as it is. */
    resource: (view: ResourceView): ResourceView => ({
      ...view,
      attributes: shownAttributes(view.workspace_id, view.resource_type, view.attributes),
    }),

    /**
     * What a command answers with: without its subject where the actor may not read it. A repetition answers with the subject as it is now,
     * and who sent the command may read less by then.
     */
    outcome({ resource, ...answer }: CommandOutcome): CommandOutcome {
      const about = resource && typeRead(resource);
      const isReadable = about !== undefined && !isUnreadable(actor, resource!.workspace_id, about);
      return { ...answer, resource: isReadable ? this.resource(resource!) : undefined };
    },

    /** A version of a resource of this type. */
    version(workspaceId: string, type: string, view: VersionView): VersionView {
      const { attributes, difference } = view;
      const isClosed = isClosedReview(actor, workspaceId, { type, attributes });
      const steps = isClosed ? difference?.filter((step) => !isOfDecisions(step)) : difference;
      return {
        ...view,
        attributes: shownAttributes(workspaceId, type, attributes),
        ...(steps && { difference: this.difference(workspaceId, type, steps) }),
      };
    },

    /** The difference between two versions of a resource of this type. */
    difference: (workspaceId: string, type: string, steps: readonly PatchStep[]): readonly PatchStep[] =>
      type !== endpoints || seesAddresses(workspaceId) ? steps : steps.map(stepWithoutAddress),

    /** An alert: what it says beside its figures is for who may read where that was found. */
    alert: ({ raised, cleared, ...alert }: LineItemAlert, workspaceId: string): LineItemAlert => ({
      ...alert,
      raised: readableFigures(actor, workspaceId, raised),
      ...(cleared && { cleared: readableFigures(actor, workspaceId, cleared) }),
    }),

    /** A change: its revision, or what its notice says. */
    change<T extends { readonly resource?: ResourceView; readonly detail?: unknown }>(
      change: T,
      workspaceId: string,
    ): T {
      const alert = change.detail === undefined ? undefined : lineItemAlertSchema.safeParse(change.detail).data;
      return {
        ...change,
        ...(change.resource && { resource: this.resource(change.resource) }),
        ...(alert && { detail: this.alert(alert, workspaceId) }),
      };
    },

    /** A delivery to an endpoint of the workspace. */
    delivery: (workspaceId: string, delivery: WebhookDelivery): WebhookDelivery =>
      seesAddresses(workspaceId)
        ? delivery
        : { ...delivery, attempts: delivery.attempts.map(({ answer: _hidden, ...attempt }) => attempt) },
  };
}
