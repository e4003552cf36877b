import { productCatalog, typedResource } from '@longwave/command-catalog';
import {
  answerEnvelope,
  notFoundProblem,
  parseEnvelope,
  permissionProblem,
  type Actor,
  type ExecuteCommand,
  type ResourceReader,
} from '@longwave/command-pipeline';
import { listSorts } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { parseOrProblem, Problem } from '@longwave/problems';
import { rpcService, type RpcContext, type RpcService } from '@longwave/rpc';
import { CommandServiceService } from '@longwave/rpc/command';
import { FeedServiceService } from '@longwave/rpc/feed';
import { JobServiceService } from '@longwave/rpc/job';
import {
  EncodingQueueServiceService,
  EncodingTimeServiceService,
  OperationServiceService,
  ResourceServiceService,
} from '@longwave/rpc/resource';
import { UploadServiceService } from '@longwave/rpc/upload';
import { gateways } from '@longwave/services';
import type { JWK } from 'jose';
import { z } from 'zod';
import type { Access } from '../workspace/access/access.ts';
import { actorOf } from './actor.ts';
import { claimJob, renewLease } from '../work/job-table.ts';
import type { FindQueuePlace } from '../work/queue-forecast.ts';
import type { ImportReport } from '../hosting/imports/import-report.ts';
import type { createAwaitFeed, createCheckLiveFeed } from '../hosting/podcasts/check-live-feed.ts';
import { readEncodingTime } from '../hosting/productions/encoding-balance-table.ts';
import type { createSignExport } from '../hosting/statistics-exports/sign-export.ts';
import type { UploadSigner } from '../workspace/uploads/sign-upload.ts';

export interface ServerOptions {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
  readonly reader: ResourceReader;
  readonly access: Access;
  readonly uploads: UploadSigner;
  readonly signExport: ReturnType<typeof createSignExport>;
  readonly findQueuePlace: FindQueuePlace;
  readonly checkLiveFeed: ReturnType<typeof createCheckLiveFeed>;
  readonly awaitFeed: ReturnType<typeof createAwaitFeed>;
  readonly importReport: ImportReport;
  readonly principalKeys: readonly JWK[];
  readonly leaseMs: number;
  readonly clock: () => Date;
}

/** How long somebody waits for a feed that was published a moment ago. */
const feedPatienceMs = 10_000;

/** The table from RPC to function. */
export function managementServices(options: ServerOptions): RpcService[] {
  const { execute, reader, access, uploads, pool, leaseMs } = options;
  const readers = [...gateways, 'operator'] as const;
  const actorOfCall = (context: RpcContext) => actorOf(context, options.principalKeys, options.clock());
  /** Absent on the wire: everywhere. */
  const named = (workspaceId: string) => (workspaceId === '' ? undefined : workspaceId);

  /** Signing is half of a write: it takes the right to write in the upload's workspace. */
  const writable = async (context: RpcContext, workspaceId: string) => {
    const target = { workspaceId, subjectType: 'uploads', subjectId: null, changes: {} };
    const { actor } = await access.actorAt(await actorOfCall(context), target);
    const denial = permissionProblem(productCatalog.commands['upload.grant'], actor, workspaceId);
    if (denial) throw denial;
  };

  /** An operation and its receipt are as visible as what they changed; `notFound` is said of an invisible one. */
  const visibleOperation = async (actor: Actor, workspaceId: string, operationId: string, notFound: Problem) => {
    const operation = await reader.getOperation(named(workspaceId), operationId);
    const { type, id } = operation.subject;
    await access.getVisible(actor, operation.workspace_id, type, id).catch((cause: unknown) => {
      throw cause instanceof Problem && cause.code === 'not_found' ? notFound : cause;
    });
    return operation;
  };

  const visiblePodcast = async (
    { workspaceId, podcastId }: { readonly workspaceId: string; readonly podcastId: string },
    context: RpcContext,
  ) => {
    const { resource } = await access.getVisible(await actorOfCall(context), workspaceId, 'podcasts', podcastId);
    return typedResource(resource, 'podcasts');
  };

  return [
    rpcService(
      CommandServiceService,
      { execute: [...gateways, 'encoder', 'operator'] },
      {
        execute: async (request, context) => {
          const command = parseEnvelope(request, context.deadline);
          const { workspaceId, subject, changes } = command;
          const target = { workspaceId, subjectType: subject.type, subjectId: subject.id, changes };
          const { actor, subject: row } = await access.actorAt(await actorOfCall(context), target);
          return answerEnvelope(await execute(command, actor, row));
        },
      },
    ),
    rpcService(
      ResourceServiceService,
      { getResource: readers, listResources: readers, listVersions: readers },
      {
        getResource: async ({ workspaceId, resourceType, resourceId }, context) => {
          const actor = await actorOfCall(context);
          const { resource, podcastId = '' } = await access.getVisible(
            actor,
            named(workspaceId),
            resourceType,
            resourceId,
          );
          return { resourceJson: JSON.stringify(resource), podcastId };
        },
        listResources: async (request, context) => {
          const actor = await actorOfCall(context);
          const { resources, nextCursor } = await reader.listResources({
            scopes: await access.scopes(actor, named(request.workspaceId), request.links),
            resourceType: request.resourceType,
            links: request.links,
            lifecycleStates: request.lifecycleStates,
            ...(request.sort !== undefined && { sort: parseOrProblem(z.enum(listSorts), request.sort) }),
            ...(request.updatedSinceMs !== undefined && { updatedSince: new Date(Number(request.updatedSinceMs)) }),
            ...(request.titleContains !== undefined && { titleContains: request.titleContains }),
            ...(request.limit > 0 && { limit: request.limit }),
            ...(request.cursor && { cursor: request.cursor }),
          });
          return { resourcesJson: resources.map((resource) => JSON.stringify(resource)), nextCursor: nextCursor ?? '' };
        },
        listVersions: async ({ workspaceId, resourceType, resourceId }, context) => {
          const actor = await actorOfCall(context);
          const { resource } = await access.getVisible(actor, named(workspaceId), resourceType, resourceId);
          const versions = await reader.listVersions(resource.workspace_id, resourceType, resourceId);
          return { versionsJson: versions.map((version) => JSON.stringify(version)) };
        },
      },
    ),
    rpcService(
      EncodingTimeServiceService,
      { getEncodingTime: readers },
      {
        getEncodingTime: async ({ workspaceId }, context) => {
          access.checkWorkspace(await actorOfCall(context), workspaceId);
          const { month, usedMs, reservedMs, limitMs } = await readEncodingTime(pool, workspaceId, options.clock());
          return {
            month,
            usedMs: BigInt(usedMs),
            reservedMs: BigInt(reservedMs),
            limitMs: limitMs === null || limitMs === undefined ? undefined : BigInt(limitMs),
          };
        },
      },
    ),
    rpcService(
      EncodingQueueServiceService,
      { getQueuePlace: readers },
      {
        getQueuePlace: async ({ workspaceId, productionId }, context) => {
          await access.getVisible(await actorOfCall(context), named(workspaceId), 'productions', productionId);
          const place = await options.findQueuePlace(productionId);
          return {
            place: place && {
              position: place.position,
              startsInMs: BigInt(place.startsInMs),
              endsInMs: BigInt(place.endsInMs),
            },
          };
        },
      },
    ),
    rpcService(
      OperationServiceService,
      { getOperation: readers, getReceipt: readers },
      {
        getOperation: async ({ workspaceId, operationId }, context) => {
          const actor = await actorOfCall(context);
          const notFound = notFoundProblem({ noun: 'operation' }, operationId);
          return { operationJson: JSON.stringify(await visibleOperation(actor, workspaceId, operationId, notFound)) };
        },
        getReceipt: async ({ workspaceId, receiptId }, context) => {
          const actor = await actorOfCall(context);
          const { operationId, ...receipt } = await reader.getReceipt(workspaceId, receiptId);
          await visibleOperation(actor, workspaceId, operationId, notFoundProblem({ noun: 'receipt' }, receiptId));
          return { receiptJson: JSON.stringify(receipt) };
        },
      },
    ),
    rpcService(
      UploadServiceService,
      {
        signUpload: readers,
        signDownload: readers,
        signPart: readers,
        signCompletion: readers,
        signExport: readers,
      },
      {
        signUpload: async ({ workspaceId, uploadId }, context) => {
          await writable(context, workspaceId);
          return uploads.signUpload(workspaceId, uploadId);
        },
        signDownload: async ({ workspaceId, uploadId }, context) => {
          await access.getVisible(await actorOfCall(context), workspaceId, 'uploads', uploadId);
          return uploads.signDownload(workspaceId, uploadId);
        },
        signPart: async ({ workspaceId, uploadKey, multipartUploadId, partNumber }, context) => {
          await writable(context, workspaceId);
          return uploads.signPart(workspaceId, uploadKey, multipartUploadId, partNumber);
        },
        signCompletion: async ({ workspaceId, uploadKey, multipartUploadId }, context) => {
          await writable(context, workspaceId);
          return uploads.signCompletion(workspaceId, uploadKey, multipartUploadId);
        },
        signExport: async ({ workspaceId, exportId }, context) => {
          const actor = await actorOfCall(context);
          access.checkAnalytics(actor, await access.getVisible(actor, workspaceId, 'statistics_exports', exportId));
          return options.signExport(workspaceId, exportId);
        },
      },
    ),
    rpcService(
      FeedServiceService,
      {
        checkFeed: readers,
        awaitFeed: readers,
        getImport: readers,
        listImportItems: readers,
        exportImportItems: readers,
      },
      {
        checkFeed: async (request, context) => options.checkLiveFeed(await visiblePodcast(request, context)),
        awaitFeed: async (request, context) => {
          const until = Math.min(context.deadline.getTime() - 1000, Date.now() + feedPatienceMs);
          return { isLive: await options.awaitFeed(await visiblePodcast(request, context), new Date(until)) };
        },
        getImport: async (request, context) => options.importReport.get(await visiblePodcast(request, context)),
        listImportItems: async (request, context) =>
          options.importReport.list(await visiblePodcast(request, context), request),
        exportImportItems: async (request, context) =>
          options.importReport.exportLines(await visiblePodcast(request, context), request),
      },
    ),
    rpcService(
      JobServiceService,
      { claimJob: ['encoder'], renewLease: ['encoder'] },
      {
        claimJob: async ({ workerId, kinds, maxExpectedMs }) => {
          const job = await claimJob(pool, kinds, workerId, leaseMs, maxExpectedMs);
          if (!job) return { job: undefined };
          return {
            job: {
              jobId: job.id,
              leaseId: job.lease_id,
              leaseMs,
              kind: job.kind,
              workspaceId: job.workspace_id,
              subjectType: job.subject_type,
              subjectId: job.subject_id,
              subjectVersion: job.subject_version,
              attempt: job.attempt,
              inputJson: JSON.stringify(job.input),
            },
          };
        },
        renewLease: ({ jobId, leaseId }) => renewLease(pool, jobId, leaseId, leaseMs),
      },
    ),
  ];
}
