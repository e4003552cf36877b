import http from 'node:http';

const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });

/** Reads an answer to its end; rejects unless it has the status. With a body the request is a POST. */
export function ask(
  url: string,
  status: number,
  options: { readonly headers?: Readonly<Record<string, string>> | undefined; readonly body?: string } = {},
): Promise<Buffer> {
  const { headers = {}, body } = options;
  return new Promise((resolve, reject) => {
    http
      .request(url, { agent, headers, method: body === undefined ? 'GET' : 'POST' }, (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () =>
          response.statusCode === status
            ? resolve(Buffer.concat(parts))
            : reject(new Error(`${url} answered ${response.statusCode}: ${Buffer.concat(parts).toString()}`)),
        );
      })
      .on('error', reject)
      .end(body);
  });
}
