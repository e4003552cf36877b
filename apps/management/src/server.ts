import { productCatalog } from '@longwave/command-catalog';
import { checkPermission, executeEnvelope, type ExecuteCommand, type ResourceReader } from '@longwave/command-pipeline';
import type { Pool } from '@longwave/postgres';
import { rpcService, type RpcContext, type RpcService } from '@longwave/rpc';
import { CommandServiceService } from '@longwave/rpc/command';
import { JobServiceService } from '@longwave/rpc/job';
import { OperationServiceService, ResourceServiceService } from '@longwave/rpc/resource';
import { UploadServiceService } from '@longwave/rpc/upload';
import type { JWK } from 'jose';
import { actorOf, checkWorkspace } from './actor.ts';
import { claimJob, renewLease } from './jobs/job-table.ts';
import type { UploadSigner } from './uploads/sign-upload.ts';

export interface ServerOptions {
  readonly pool: Pool;
  readonly execute: ExecuteCommand;
  readonly reader: ResourceReader;
  readonly uploads: UploadSigner;
  readonly principalKeys: readonly JWK[];
  readonly leaseMs: number;
  readonly clock: () => Date;
}

/** The table from RPC to function. */
export function managementServices(options: ServerOptions): RpcService[] {
  const { execute, reader, uploads, pool, leaseMs } = options;
  const readers = ['rest-gateway', 'operator'] as const;

  /** Signing is half of a write: it takes the right to write. */
  const writable = async (context: RpcContext, workspaceId: string) => {
    const actor = await actorOf(context, options.principalKeys, options.clock());
    checkWorkspace(actor, workspaceId);
    checkPermission(productCatalog.commands['upload.grant'], actor);
  };
  const visible = async (context: RpcContext, workspaceId: string) =>
    checkWorkspace(await actorOf(context, options.principalKeys, options.clock()), workspaceId);

  return [
    rpcService(
      CommandServiceService,
      { execute: ['rest-gateway', 'encoder', 'operator'] },
      {
        execute: async (request, context) =>
          executeEnvelope(
            execute,
            request,
            await actorOf(context, options.principalKeys, options.clock()),
            context.deadline,
          ),
      },
    ),
    rpcService(
      ResourceServiceService,
      { getResource: readers, listResources: readers, listVersions: readers },
      {
        getResource: async ({ workspaceId, resourceType, resourceId }, context) => {
          await visible(context, workspaceId);
          return { resourceJson: JSON.stringify(await reader.getResource(workspaceId, resourceType, resourceId)) };
        },
        listResources: async (request, context) => {
          await visible(context, request.workspaceId);
          const { resources, nextCursor } = await reader.listResources({
            workspaceId: request.workspaceId,
            resourceType: request.resourceType,
            links: request.links,
            lifecycleStates: request.lifecycleStates,
            ...(request.limit > 0 && { limit: request.limit }),
            ...(request.cursor && { cursor: request.cursor }),
          });
          return { resourcesJson: resources.map((resource) => JSON.stringify(resource)), nextCursor: nextCursor ?? '' };
        },
        listVersions: async ({ workspaceId, resourceType, resourceId }, context) => {
          await visible(context, workspaceId);
          const versions = await reader.listVersions(workspaceId, resourceType, resourceId);
          return { versionsJson: versions.map((version) => JSON.stringify(version)) };
        },
      },
    ),
    rpcService(
      OperationServiceService,
      { getOperation: readers, getReceipt: readers },
      {
        getOperation: async ({ workspaceId, operationId }, context) => {
          await visible(context, workspaceId);
          return { operationJson: JSON.stringify(await reader.getOperation(workspaceId, operationId)) };
        },
        getReceipt: async ({ workspaceId, receiptId }, context) => {
          await visible(context, workspaceId);
          return { receiptJson: JSON.stringify(await reader.getReceipt(workspaceId, receiptId)) };
        },
      },
    ),
    rpcService(
      UploadServiceService,
      { signUpload: readers, signPart: readers, signCompletion: readers },
      {
        signUpload: async ({ workspaceId, uploadId }, context) => {
          await writable(context, workspaceId);
          return uploads.signUpload(workspaceId, uploadId);
        },
        signPart: async ({ workspaceId, uploadKey, multipartUploadId, partNumber }, context) => {
          await writable(context, workspaceId);
          return uploads.signPart(workspaceId, uploadKey, multipartUploadId, partNumber);
        },
        signCompletion: async ({ workspaceId, uploadKey, multipartUploadId }, context) => {
          await writable(context, workspaceId);
          return uploads.signCompletion(workspaceId, uploadKey, multipartUploadId);
        },
      },
    ),
    rpcService(
      JobServiceService,
      { claimJob: ['encoder'], renewLease: ['encoder'] },
      {
        claimJob: async ({ workerId, kinds }) => {
          const job = await claimJob(pool, kinds, workerId, leaseMs);
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
