import { operations } from '@longwave/command-catalog';
import { operationConsequenceSchema, type ResourceView } from '@longwave/events';
import type { Pool } from '@longwave/postgres';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  type ShownReview,
  operationView,
  type OperationState,
  type OperationView,
  type ProviderOutcome,
} from '../store/operation.ts';
import { PrismaClient } from '../generated/prisma/client.ts';
import { findIdempotencyRecords, type IdempotencyScope } from '../store/idempotency-table.ts';
import { definitionOf, notFoundProblem, resourceView } from '../store/resource-row.ts';
import {
  countResources,
  listResources,
  type ListOptions,
  type ListQuery,
  type ResourceCount,
  type ResourcePage,
} from './list-resources.ts';
import { listChanges, type ChangesPage, type ChangesQuery } from './list-changes.ts';
import { listVersions, readVersion, type HistoryOf, type VersionPage, type VersionView } from './list-versions.ts';
import { toRow } from './stored-resource.ts';

export interface ResourceReader extends AsyncDisposable {
  /** Throws `not_found` for an unknown id and for one of another workspace alike; without a workspace it searches all. */
  getResource(workspaceId: string | undefined, resourceType: string, id: string): Promise<ResourceView>;
  /** By the declared sort key, then by id: an order that is stable while nothing changes. */
  listResources(query: ListQuery): Promise<ResourcePage>;
  /** The number of resources in all pages of a list. */
  countResources(query: ListQuery): Promise<ResourceCount>;
  /** A page of the immutable history of a resource, newest first. */
  listVersions(of: HistoryOf, options?: Parameters<typeof listVersions>[3]): Promise<VersionPage>;
  /** Throws `not_found` when there is no such version. */
  readVersion(of: HistoryOf, version: number, options?: Parameters<typeof readVersion>[4]): Promise<VersionView>;
  /** A page of a workspace's changes in the order of commits. */
  listChanges(query: ChangesQuery): Promise<ChangesPage>;
  /**
   * An operation, with the present version of its subject and the version that it made in `result`. Without a workspace it searches all.
   * Throws `not_found`.
   */
  getOperation(workspaceId: string | undefined, id: string): Promise<OperationView>;
  /** The operation that a client's key named first; undefined when its key is free. */
  findOperationId(key: IdempotencyScope): Promise<string | undefined>;
  /** The signed statement as compact JWS. */
  getReceipt(
    workspaceId: string,
    id: string,
  ): Promise<{ readonly id: string; readonly operationId: string; readonly jws: string }>;
}

/** Reads of the versioned store, through Prisma on the owner's pool. */
export function createResourceReader(
  options: ListOptions & { readonly pool: Pool; readonly schema: string },
): ResourceReader {
  const { catalog } = options;
  const prisma = new PrismaClient({ adapter: new PrismaPg(options.pool, { schema: options.schema }) });

  return {
    async getResource(workspaceId, resourceType, id) {
      const definition = definitionOf(catalog, resourceType);
      const where = { id, resourceType, ...(workspaceId !== undefined && { workspaceId }) };
      const stored = await prisma.resource.findFirst({ where });
      if (!stored) throw notFoundProblem(definition, id);
      return resourceView(definition, toRow(stored));
    },

    listResources: (query) => listResources(options.pool, options, query),

    countResources: (query) => countResources(options.pool, options, query),

    listVersions: (of, versions) => listVersions(options.pool, options, of, versions),

    listChanges: (query) => listChanges(options.pool, options, query),

    readVersion: (of, version, versions) => readVersion(options.pool, catalog, of, version, versions),

    async getOperation(workspaceId, id) {
      const where = { id, ...(workspaceId !== undefined && { workspaceId }) };
      const stored = await prisma.operation.findFirst({ where });
      if (!stored) throw notFoundProblem({ noun: 'operation' }, id);
      const { subjectType: type, subjectId, subjectVersion: madeVersion } = stored;
      const made = { type, id: subjectId, version: madeVersion };
      const about = { where: { id: subjectId }, select: { version: true } };
      const now = await (type === operations.type
        ? prisma.operation.findUnique(about)
        : prisma.resource.findUnique(about));
      const facts = {
        id: stored.id,
        workspace_id: stored.workspaceId,
        command_type: stored.commandType,
        state: stored.state as OperationState,
        ...(stored.stateReason !== null && { state_reason: stored.stateReason }),
        // Two reads: what the operation made is never newer than the subject.
        subject: { ...made, version: Math.max(made.version, now?.version ?? 0) },
        ...(stored.consequences !== null && {
          consequences: operationConsequenceSchema.array().parse(stored.consequences),
        }),
        receipt_id: stored.receiptId,
        result: (stored.result as { type: string; id: string } | null) ?? made,
        ...(stored.review !== null && { review: stored.review as unknown as ShownReview }),
        ...(stored.problem !== null && { problem: stored.problem as { code: string; detail: string } }),
        ...(stored.reviewTaskId !== null && { review_task_id: stored.reviewTaskId }),
        ...(stored.provider !== null && { provider: stored.provider as unknown as ProviderOutcome }),
        created_at: stored.createdAt.toISOString(),
        updated_at: stored.updatedAt.toISOString(),
      };
      return operationView(
        facts,
        catalog.commands[facts.command_type],
        facts.subject.type === operations.type ? operations : catalog.resources[facts.subject.type],
      );
    },

    findOperationId: async (key) => (await findIdempotencyRecords(options.pool, key))[0]?.operation_id,

    async getReceipt(workspaceId, id) {
      const stored = await prisma.receipt.findFirst({ where: { id, workspaceId } });
      if (!stored) throw notFoundProblem({ noun: 'receipt' }, id);
      return { id: stored.id, operationId: stored.operationId, jws: stored.jws };
    },

    [Symbol.asyncDispose]: () => prisma.$disconnect(),
  };
}
