import { openAsBlob } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import path from 'node:path';

/** A small client of REST API v1 with an account API key. Rejects with the service's own message. */
export function createRestClient(baseUrl: string, apiKey: string) {
  async function call<T>(method: string, route: string, body?: unknown): Promise<T> {
    const response = await fetch(`${baseUrl}/api/v1${route}`, {
      method,
      headers: { token: apiKey, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${route} answered ${response.status}: ${text.slice(0, 400)}`);
    return (text ? JSON.parse(text) : undefined) as T;
  }

  /** Server-sent progress of a production, 0 to 1; ends with the stream or the signal. */
  async function followProgress(
    productionId: string,
    onProgress: (fraction: number) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const response = await fetch(`${baseUrl}/api/v1/productions/${productionId}/events`, {
      headers: { token: apiKey },
      signal,
    });
    if (!response.ok || !response.body) return;
    let text = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const data = /^data: ?(.*)$/m.exec(text.slice(0, end))?.[1];
        text = text.slice(end + 2);
        const progress = data ? (JSON.parse(data) as { progress?: number }).progress : undefined;
        if (typeof progress === 'number') onProgress(progress);
      }
    }
  }

  return {
    get: <T>(route: string) => call<T>('GET', route),
    post: <T>(route: string, body: unknown = {}) => call<T>('POST', route, body),
    put: <T>(route: string, body: unknown) => call<T>('PUT', route, body),
    followProgress,
  };
}

export type RestClient = ReturnType<typeof createRestClient>;

interface UploadGrant {
  readonly upload_url: string;
  readonly content_type: string;
  readonly file_url: string;
  readonly multipart_upload: boolean;
  readonly upload_key?: string;
  readonly part_size?: number;
  readonly multipart_upload_id?: string;
}

async function put(url: string, body: Blob | Buffer, contentType?: string): Promise<string> {
  const response = await fetch(url, {
    method: 'PUT',
    body: body as NonNullable<RequestInit['body']>,
    headers: contentType ? { 'content-type': contentType } : {},
  });
  if (!response.ok) throw new Error(`the object store answered ${response.status} to PUT`);
  return response.headers.get('etag') ?? '';
}

async function putParts(
  rest: RestClient,
  file: string,
  size: number,
  grant: UploadGrant,
  onProgress: (fraction: number) => void,
): Promise<void> {
  const { upload_key, multipart_upload_id, part_size = 31_457_280 } = grant;
  await using handle = await open(file);
  const parts: { number: number; etag: string }[] = [];
  for (let from = 0; from < size; from += part_size) {
    const number = parts.length + 1;
    const { url } = await rest.post<{ url: string }>('/uploads/part_url', {
      upload_key,
      multipart_upload_id,
      part_number: number,
    });
    const bytes = Buffer.alloc(Math.min(part_size, size - from));
    await handle.read(bytes, 0, bytes.length, from);
    parts.push({ number, etag: await put(url, bytes) });
    onProgress((from + bytes.length) / size);
  }
  const { url } = await rest.post<{ url: string }>('/uploads/complete_multipart_url', {
    upload_key,
    multipart_upload_id,
  });
  const list = parts.map((p) => `<Part><PartNumber>${p.number}</PartNumber><ETag>${p.etag}</ETag></Part>`).join('');
  const response = await fetch(url, {
    method: 'POST',
    body: `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`,
  });
  const answer = await response.text();
  if (!response.ok || answer.includes('<Error>'))
    throw new Error(`the object store could not join the parts: ${response.status}`);
}

/** Uploads a local file as a client would: grant, PUT (in parts above 30 MB), and gives its stable address. */
export async function uploadFile(
  rest: RestClient,
  file: string,
  onProgress: (fraction: number) => void = () => undefined,
): Promise<{ readonly fileUrl: string; readonly bytes: number }> {
  const { size } = await stat(file);
  const grant = await rest.post<UploadGrant>('/uploads', { filename: path.basename(file), filesize: size });
  if (grant.multipart_upload) await putParts(rest, file, size, grant, onProgress);
  else await put(grant.upload_url, await openAsBlob(file), grant.content_type);
  return { fileUrl: grant.file_url, bytes: size };
}
