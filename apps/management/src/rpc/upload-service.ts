import { productCatalog } from '@longwave/command-catalog';
import { type ActorOfCall, permissionProblem } from '@longwave/command-pipeline';
import { rpcService, type RpcContext, type RpcService } from '@longwave/rpc';
import { UploadServiceService } from '@longwave/rpc/upload';
import type { createSignExport } from '../hosting/statistics-exports/sign-export.ts';
import { holdsRole, type Access } from '../workspace/access/access.ts';
import type { UploadSigner } from '../workspace/uploads/sign-upload.ts';
import { readers } from './request-fields.ts';

/** The roles that may change the recording of an episode, or set its breaks; nobody else hears it before it is published. */
const editors = [
  ...productCatalog.commands['production.revise'].roles,
  ...productCatalog.commands['episode.set_markers'].roles,
];

/** Signed addresses for sending and fetching files. */
export function uploadService({
  actorOf,
  access,
  uploads,
  signExport,
}: {
  readonly actorOf: ActorOfCall;
  readonly access: Access;
  readonly uploads: UploadSigner;
  readonly signExport: ReturnType<typeof createSignExport>;
}): RpcService {
  /** A signed address lets its holder write, so the actor needs the right to grant uploads in the workspace. */
  const checkWritable = async (context: RpcContext, workspaceId: string) => {
    const target = { workspaceId, subjectType: 'uploads', subjectId: null, changes: {} };
    const { actor } = await access.actorAt(await actorOf(context), target);
    const denial = permissionProblem(productCatalog.commands['upload.grant'], actor, workspaceId);
    if (denial) throw denial;
  };

  return rpcService(
    UploadServiceService,
    {
      signUpload: readers,
      signDownload: readers,
      signPart: readers,
      signCompletion: readers,
      signExport: readers,
      signWaveform: readers,
    },
    {
      signUpload: async ({ workspaceId, uploadId }, context) => {
        await checkWritable(context, workspaceId);
        return uploads.signUpload(workspaceId, uploadId);
      },
      signDownload: async ({ workspaceId, uploadId }, context) => {
        await access.getVisible(await actorOf(context), workspaceId, 'uploads', uploadId);
        return uploads.signDownload(workspaceId, uploadId);
      },
      signPart: async ({ workspaceId, uploadKey, multipartUploadId, partNumber }, context) => {
        await checkWritable(context, workspaceId);
        return uploads.signPart(workspaceId, uploadKey, multipartUploadId, partNumber);
      },
      signCompletion: async ({ workspaceId, uploadKey, multipartUploadId }, context) => {
        await checkWritable(context, workspaceId);
        return uploads.signCompletion(workspaceId, uploadKey, multipartUploadId);
      },
      signWaveform: async ({ workspaceId, productionId }, context) => {
        const actor = await actorOf(context);
        const { podcastId } = await access.getVisible(actor, workspaceId, 'productions', productionId);
        const { audioUrl, ...peaks } = await uploads.signWaveform(workspaceId, productionId);
        return holdsRole(actor, { workspaceId, podcastId }, editors) ? { ...peaks, audioUrl } : peaks;
      },
      signExport: async ({ workspaceId, exportId }, context) => {
        const actor = await actorOf(context);
        access.checkAnalytics(actor, await access.getVisible(actor, workspaceId, 'statistics_exports', exportId));
        return signExport(workspaceId, exportId);
      },
    },
  );
}
