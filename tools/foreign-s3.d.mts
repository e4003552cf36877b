/** The program of a real S3 server that is not ours; the answer says why when it cannot be had. */
export function fetchVersityGateway(options?: {
  readonly onProgress?: (text: string) => void;
}): Promise<{ readonly binary: string } | { readonly unavailable: string }>;

export interface ForeignS3 {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly stop: () => Promise<void>;
}

/** Starts one server with an empty folder; the answer says why when it cannot. */
export function startForeignS3(options?: {
  readonly accounts?: object;
  readonly onProgress?: (text: string) => void;
}): Promise<ForeignS3 | { readonly unavailable: string }>;
