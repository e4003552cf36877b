import http from 'node:http';
import type { Fleet } from '@longwave/fleet';
import { createAccount, createRestClient, type Operator } from '@longwave/test-kit/clients';
import { residentMegabytes } from '@longwave/test-kit/resident-memory';
import type { Row } from './measure.ts';

const uploads = 200;
const sizeBytes = 8 << 20;
const piece = Buffer.alloc(64 << 10, 1);

/** A PUT that stays half done until `finish`. */
async function beginUpload(url: string, contentType: string): Promise<{ finish: () => Promise<void> }> {
  const request = http.request(url, {
    method: 'PUT',
    headers: { 'content-type': contentType, 'content-length': sizeBytes },
  });
  const answered = new Promise<void>((resolve, reject) => {
    request.on('response', (response) => {
      response.resume();
      response.on('end', () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`PUT answered ${response.statusCode}`)),
      );
    });
    request.on('error', reject);
  });
  const send = async (bytes: number) => {
    for (let sent = 0; sent < bytes; sent += piece.length)
      await new Promise<void>((resolve, reject) =>
        request.write(piece, (error) => (error ? reject(error) : resolve())),
      );
  };
  await send(sizeBytes / 2);
  return {
    finish: async () => {
      await send(sizeBytes / 2);
      request.end();
      await answered;
    },
  };
}

const total = () => residentMegabytes().reduce((sum, { megabytes }) => sum + megabytes, 0);

/** Resident memory of the whole fleet while 200 uploads of 8 MiB are half done, against the same fleet before them. */
export async function uploadMemory(fleet: Fleet, operator: Operator): Promise<Row> {
  const { apiKey } = await createAccount(operator, 'unlimited');
  const rest = createRestClient(fleet.urls.base, apiKey);
  const idle = total();
  const running = await Promise.all(
    Array.from({ length: uploads }, async (_, i) => {
      const grant = await rest.post<{ upload_url: string; content_type: string }>('/uploads', {
        filename: `${i}.mp3`,
        filesize: sizeBytes,
      });
      return beginUpload(grant.upload_url, grant.content_type);
    }),
  );
  const busy = total();
  await Promise.all(running.map(({ finish }) => finish()));
  return {
    name: `fleet memory under ${uploads} concurrent uploads (less is better)`,
    unit: 'MB',
    ours: busy,
    baseline: idle,
    baselineName: 'the same fleet before',
    ratio: busy / idle,
  };
}
