import type { RpcChannel } from '@longwave/rpc';
import { UploadServiceService } from '@longwave/rpc/upload';
import { callOptions, type Asker } from './asker.ts';

/** Short-lived addresses of the object store. */
export function urlSigning(channel: RpcChannel) {
  const uploads = channel.client(UploadServiceService);
  return {
    signUpload: (asker: Asker, uploadId: string) =>
      uploads.signUpload({ workspaceId: asker.workspaceId, uploadId }, callOptions(asker)),

    /** The address of an upload's file, and its size once it has arrived. */
    signDownload: (asker: Asker, uploadId: string) =>
      uploads.signDownload({ workspaceId: asker.workspaceId, uploadId }, callOptions(asker)),

    signPart: (asker: Asker, part: { uploadKey: string; multipartUploadId: string; partNumber: number }) =>
      uploads.signPart({ workspaceId: asker.workspaceId, ...part }, callOptions(asker)),

    signCompletion: (asker: Asker, upload: { uploadKey: string; multipartUploadId: string }) =>
      uploads.signCompletion({ workspaceId: asker.workspaceId, ...upload }, callOptions(asker)),

    /** The address of a finished statistics export. */
    signExport: (asker: Asker, { workspaceId, exportId }: { workspaceId: string; exportId: string }) =>
      uploads.signExport({ workspaceId, exportId }, callOptions(asker)),

    /** The addresses of the peaks and of the encoded audio of a production. */
    signWaveform: (asker: Asker, { workspaceId, productionId }: { workspaceId: string; productionId: string }) =>
      uploads.signWaveform({ workspaceId, productionId }, callOptions(asker)),
  };
}
